"""A real forge on this machine: Gitea, built once from its Go module and kept.

For what only a forge shows: a person's push over its Git, its webhooks as it signs them, its HTTPS
and its SSH. It listens on loopback alone, keeps all it has in one folder, and ends with its owner.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.commands import environment, run
from lab.errors import LabError, NotPossibleHere
from lab.layout import RUN, cache_folder
from lab.locks import held
from lab.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

MODULE = "code.gitea.io/gitea"
VERSION = "v1.23.8"
LOCK = RUN / ".locks" / ".forge"
# What the program reads at run time beside itself.
PARTS = ("options", "templates", "public")
BUILD_LIMIT = 3600.0
HOST = "127.0.0.1"

SETTINGS = """\
APP_NAME = Lab forge
RUN_MODE = prod
WORK_PATH = {folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true

[server]
PROTOCOL = https
HTTP_ADDR = {host}
HTTP_PORT = {http_port}
DOMAIN = {host}
ROOT_URL = https://{host}:{http_port}/
CERT_FILE = {folder}/cert.pem
KEY_FILE = {folder}/key.pem
STATIC_ROOT_PATH = {program}
OFFLINE_MODE = true
START_SSH_SERVER = true
SSH_LISTEN_HOST = {host}
SSH_DOMAIN = {host}
SSH_PORT = {ssh_port}
SSH_LISTEN_PORT = {ssh_port}
BUILTIN_SSH_SERVER_USER = git
SSH_SERVER_HOST_KEYS = {folder}/ssh_host_key

[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db

[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v2

[webhook]
ALLOWED_HOST_LIST = *

[indexer]
ISSUE_INDEXER_TYPE = db

[log]
MODE = file
LEVEL = Warn
ROOT_PATH = {folder}/log
"""


def program() -> Path | None:
    """The folder of the built forge, or None while it is not built."""
    folder = _folder()
    return folder if folder.is_dir() else None


def build(progress: Callable[[str], None] = lambda _: None) -> Path:
    """Build it if it is not there; a few minutes, once for each version."""
    folder = _folder()
    with held(LOCK):
        if not folder.is_dir():
            if shutil.which("go", path=environment()["PATH"]) is None:
                raise NotPossibleHere("Go is not installed", "install Go 1.23 or newer")
            progress(f"building Gitea {VERSION} (once; a few minutes)")
            told = run(["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"], timeout=600)
            source = Path(json.loads(told)["Dir"])
            draft = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            for part in PARTS:
                run(["cp", "-r", "--no-preserve=mode", source / part, draft / part])
            tags = "sqlite sqlite_unlock_notify"
            words = ["nice", "-n", "10", "go", "build", "-C", str(source), "-tags", tags]
            run([*words, "-o", draft / "gitea", "."], timeout=BUILD_LIMIT)
            draft.rename(folder)
    return folder


def _folder() -> Path:
    return cache_folder() / f"forge-{VERSION}"


class Forge:
    """One running forge with one person, who owns every repository."""

    USER = "ann"
    PASSWORD = "a forge of the lab"  # noqa: S105 - it guards nothing and listens on loopback

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._process: subprocess.Popen[bytes] | None = None
        self._http_port, self._ssh_port = _free_port(), _free_port()

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self._http_port}"

    @property
    def ca_file(self) -> Path:
        """Whom to trust for its HTTPS."""
        return self._folder / "cert.pem"

    @property
    def known_hosts(self) -> Path:
        """Its host key for SSH."""
        return self._folder / "known_hosts"

    @property
    def ssh_key(self) -> Path:
        """The person's key; the forge knows it."""
        return self._folder / "ann_key"

    def https_remote(self, repository: str) -> str:
        return f"{self.url}/{self.USER}/{repository}.git"

    def ssh_remote(self, repository: str) -> str:
        return f"ssh://git@{HOST}:{self._ssh_port}/{self.USER}/{repository}.git"

    def start(self) -> None:
        """Build it if need be, set it up, and return when it answers."""
        place = build()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._settings.write_text(
            SETTINGS.format(
                folder=self._folder,
                program=place,
                host=HOST,
                http_port=self._http_port,
                ssh_port=self._ssh_port,
            )
        )
        self._make_keys()
        self._gitea(place, "migrate")
        person = ["--username", self.USER, "--password", self.PASSWORD]
        more = ["--email", "ann@example.com", "--admin", "--must-change-password=false"]
        self._gitea(place, "admin", "user", "create", *person, *more)
        with (self._folder / "output").open("wb") as output:
            self._process = subprocess.Popen(
                [place / "gitea", "--config", self._settings, "web"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
        until(self._answers, "the forge to answer", timeout=60)
        public = self.ssh_key.with_suffix(".pub").read_text()
        self.call("POST", "/user/keys", {"title": "lab", "key": public})

    def stop(self) -> None:
        """End it; its folder stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def make_repository(self, name: str) -> None:
        """An empty repository with main as its branch."""
        asked = {"name": name, "default_branch": "main", "private": True}
        self.call("POST", "/user/repos", asked)

    def add_webhook(self, repository: str, url: str, secret: str) -> int:
        """Tell the address of each push; the webhook's number."""
        asked = {
            "type": "gitea",
            "active": True,
            "events": ["push"],
            "config": {"url": url, "content_type": "json", "secret": secret},
        }
        made = self.call("POST", f"/repos/{self.USER}/{repository}/hooks", asked)
        return int(made["id"])

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Its API, as the person."""
        login = base64.b64encode(f"{self.USER}:{self.PASSWORD}".encode()).decode()
        request = urllib.request.Request(  # noqa: S310 - its own https address
            f"{self.url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
        )
        try:
            with self._open(request) as answer:
                said = answer.read()
        except urllib.error.HTTPError as error:
            raise LabError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(said) if said else None

    def _open(self, request: Any) -> Any:
        # The handlers are named: a proxy of the environment is not asked for loopback.
        context = ssl.create_default_context(cafile=str(self.ca_file))
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        return urllib.request.build_opener(*handlers).open(request, timeout=30)

    @property
    def _settings(self) -> Path:
        return self._folder / "app.ini"

    @property
    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self._folder), "USER": "root"}

    def _gitea(self, place: Path, *words: str) -> None:
        done = subprocess.run(
            [place / "gitea", "--config", self._settings, *words],
            capture_output=True,
            text=True,
            timeout=120,
            env=self._environment,
            check=False,
        )
        if done.returncode:
            raise LabError(f"gitea {words[0]}: {done.stdout}{done.stderr}")

    def _make_keys(self) -> None:
        for name in ("ssh_host_key", "ann_key"):
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._folder / name])
        kind, key = (self._folder / "ssh_host_key.pub").read_text().split()[:2]
        self.known_hosts.write_text(f"[{HOST}]:{self._ssh_port} {kind} {key}\n")
        kinds = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        names = ["-subj", "/CN=lab forge", "-addext", f"subjectAltName=IP:{HOST}"]
        files = ["-keyout", str(self._folder / "key.pem"), "-out", str(self.ca_file)]
        run(["openssl", "req", "-x509", "-days", "2", *kinds, *names, *files])

    def _answers(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            raise LabError(f"the forge ended: {(self._folder / 'output').read_text()[-1000:]}")
        try:
            return bool(self.call("GET", "/version"))
        except (LabError, OSError):
            return False


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])
