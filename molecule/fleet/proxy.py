"""A way out for lab nodes, which have none: an HTTP proxy on one address of this machine.

    python proxy.py ADDRESS PORT

It is there while the scenario prepares its node with packages of the distribution and of Python,
and ends by itself when nobody has come for five minutes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from urllib.parse import urlsplit

CHUNK = 64 * 1024
LONELY = 300.0

_came = [time.monotonic()]  # when somebody came last


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
    except ConnectionError:
        return  # one side is gone: the other one is closed below
    finally:
        target.close()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    _came[0] = time.monotonic()
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        writer.close()
        return
    line, _, fields = head.partition(b"\r\n")
    method, target, version = line.decode("latin-1").split(" ", 2)
    tunnel = method == "CONNECT"
    place = urlsplit(f"//{target}" if tunnel else target)
    try:
        up = await asyncio.open_connection(place.hostname, place.port or 80)
    except OSError as error:
        writer.write(f"HTTP/1.1 502 {error}\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
        writer.close()
        return
    if tunnel:
        writer.write(b"HTTP/1.1 200 connected\r\n\r\n")
    else:
        # One request per connection: what follows on it could be for another host.
        kept = [one for one in fields.split(b"\r\n") if not one.lower().startswith(b"proxy-")]
        kept = [one for one in kept if one and not one.lower().startswith(b"connection:")]
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        first = f"{method} {path} {version}".encode("latin-1")
        up[1].write(b"\r\n".join([first, *kept, b"Connection: close", b"", b""]))
    await asyncio.gather(_pass_on(reader, up[1]), _pass_on(up[0], writer))


async def _main(address: str, port: int) -> None:
    server = await asyncio.start_server(_serve, address, port, limit=CHUNK)
    async with server:
        while time.monotonic() - _came[0] < LONELY:
            await asyncio.sleep(LONELY / 10)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
