"""A way out for lab nodes, which have none: an HTTP proxy on one address of this machine.

    python way_out.py ADDRESS PORT

It is there while roles install packages of the distribution, and ends with the address: when the
lab is removed.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from urllib.parse import urlsplit

CHUNK = 64 * 1024
LOOK_AGAIN = 2.0  # seconds


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


def _is_ours(address: str) -> bool:
    """Whether this machine still has the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


async def _main(address: str, port: int) -> None:
    server = await asyncio.start_server(_serve, address, port, limit=CHUNK)
    async with server:
        while _is_ours(address):
            await asyncio.sleep(LOOK_AGAIN)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
