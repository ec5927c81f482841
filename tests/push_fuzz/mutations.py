"""Mutated files and commits of one site, reproducible from a seed."""

from __future__ import annotations

import copy
import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from margrave import digest, yaml_text

# Bytes that break parsers: each is inserted, or takes the place of a part of a valid file.
BYTES: Final = [
    b"[", b"{", b"&a ", b"*a", b"<<: ", b"? ", b"- ", b": ", b"\n", b"  ", b"\t", b"\0", b"\xff",
    b"'", b'"', b"|\n", b">\n", b"!!python/object:os.system ", b"!!binary ", b"---\n", b"...\n",
    b"%YAML 9.9\n", b"9" * 5000, b"1e999", b".nan", b"0x", b"0o7", b"1:1:1", b"yes", b"~", b"${",
    b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xc2\xb2", b'"\\0"', b'"\\ud800"', b'"\\u2028"',
    b"[" * 300, b"{a: " * 300, b"- " * 300, b"x" * 70_000, b"x-a-extensions", b"../" * 20,
]  # fmt: skip
# Values that are valid YAML, and that code which uses them may not expect.
VALUES: Final[list[Any]] = [
    "²", "٣", "²:80", "80:²", "9" * 5000, "9" * 5000 + ":80", "1:" + "9" * 5000, "0-65535:0-65535",
    "65535-1:80", "-1:80", "[::1]:80:80", "1.2.3.4:80:80/udp", "80:80/\x00", "${GREETING:-²}:80",
    "$", "${", "${A:-${B:-${C}}}", "$$", "a\x00b", "\x00", "\x7f", "\u2028", "\ufffe", "\U0010ffff",
    "é" * 40_000, "", " ", "\n", "0", "-0", "1_000", "0x7f", "1e400", "nan", "null", "../../etc",
    "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "2026-02-30T00:00:00Z",
    "* * * * *", "99 99 99 99 99", "*/0 * * * *", "² * * * *", "999999999h", "0s", "²s",
    "1440m0s", "0m0s", "999999999m999999999s", "secret://", "secret://../x", "oci://", "oci://²/x",
    "Europe/Oslo", "../../../etc/passwd", "harbor/*", "harbor/" + "n" * 64, "depot/*",
    "1.0.0", "v1", "1" * 128, "sha256:" + "0" * 64, "components/" + "0" * 64,
    0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**64), 1e308, 5e-324, -0.0, True, False, None,
    [], {}, [[]], [None], {"": ""}, {"a": {"b": {"c": {}}}}, ["x"] * 3000,
    {str(number): number for number in range(1000)}, {"\x00": "\x00"}, {"key": ["²", None, 1e308]},
]  # fmt: skip
KEYS: Final = [
    "",
    "²",
    "a\x00b",
    "x-a-extensions",
    "x-margrave-extensions",
    "<<",
    "k" * 5000,
    "a.b",
]
NAMES: Final = [
    "harbor.yaml.yaml", "\\xff.yaml", "a b.yaml", "ä.yaml", "-.yaml", "..yaml", "x" * 240 + ".yaml",
    "new\nline.yaml", "tab\t.yaml", '"quoted".yaml', "*.yaml", "%s.yaml", "{0}.yaml",
]  # fmt: skip
AUTHORS: Final = ["Grace", "g" * 3000, "グレース", "\u202egrace", "grace\x07", "%s", "'; --"]
TRAILERS: Final = [
    "", "Margrave-Request: no-id", "Margrave-Actor: " + "a" * 5000, "Margrave-Actor: \u2028",
    "Margrave-Request: 11111111-2222-4333-8444-555555555555", "Margrave-Trace: \x02",
    "Margrave-App: a\nMargrave-App: b", "Margrave-Revision: sha256:" + "0" * 64,
]  # fmt: skip
DATES: Final = ["@0 +0000", "@4102444800 +1400", "@99999999999 +0000", "@1 -1200"]


@dataclass(frozen=True)
class Change:
    """A commit to push: files to write (None removes one), author, message and date."""

    kind: str
    files: Mapping[str, bytes | None]
    author: str = "Grace"
    message: str = "Change it"
    date: str = ""


@dataclass
class Mutations:
    """Changes of one site; the same seed makes the same ones."""

    seed: int
    site: str
    document: Mapping[str, Any]  # a valid deployment of the site, parsed
    component: bytes  # the compose.yaml of its component
    foreign: str  # the id of a deployment of another site
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def next(self) -> Change:
        """The next change."""
        kinds: list[tuple[int, Callable[[], Change]]] = [
            (3, self._document_bytes),
            (6, self._document_values),
            (3, self._component_bytes),
            (6, self._component_values),
            (2, self._chart_values),
            (1, self._site_bytes),
            (4, self._site_values),
            (1, self._odd_path),
            (1, self._odd_commit),
        ]
        weights = [weight for weight, _ in kinds]
        return self._chance.choices([make for _, make in kinds], weights)[0]()

    def _document_bytes(self) -> Change:
        raw = self._new_document()
        return Change("document bytes", {self._path(raw): self._bent(_dumped(raw))})

    def _document_values(self) -> Change:
        raw = self._new_document()
        ours = raw["spec"].setdefault("x-margrave-extensions", {})
        self._extend(ours)
        if self._chance.random() < 0.3:
            self._make_older(raw)
        for _ in range(self._chance.randint(1, 2)):
            self._replace(raw)
        identifier = raw.get("id")
        name = identifier if isinstance(identifier, str) and len(identifier) == 36 else None
        path = f"deployments/{self.site}/{name or uuid.UUID(int=0)}.yaml"
        return Change("document values", {path: _dumped(raw)})

    def _component_bytes(self) -> Change:
        return self._with_component("component bytes", {"compose.yaml": self._bent(self.component)})

    def _component_values(self) -> Change:
        value = yaml_text.parse(self.component).value
        service = self._chance.choice(list(value["services"].values()))
        if self._chance.random() < 0.5:
            service["ports"] = [self._value() for _ in range(self._chance.randint(1, 4))]
            service["ports"].append({"published": self._value(), "target": self._value()})
        if self._chance.random() < 0.5:
            service["image"] = self._value()
        self._replace(value)
        return self._with_component("component values", {"compose.yaml": _dumped(value)})

    def _chart_values(self) -> Change:
        values = {"image": "a/b:1", "web": {"image": {"repository": "a", "tag": self._value()}}}
        self._replace(values)
        text = _dumped(values)
        if self._chance.random() < 0.3:
            text = self._bent(text)
        files = {"Chart.yaml": b"apiVersion: v2\nname: a\nversion: 1.0.0\n", "values.yaml": text}
        return self._with_component("chart values", files, "helm")

    def _site_bytes(self) -> Change:
        text = _dumped(self._site_document())
        return Change("site bytes", {f"sites/{self.site}.yaml": self._bent(text)})

    def _site_values(self) -> Change:
        raw = self._site_document()
        if self._chance.random() < 0.5:  # many stay valid, and have to be shown
            self._replace(raw)
        return Change("site values", {f"sites/{self.site}.yaml": _dumped(raw)})

    def _odd_path(self) -> Change:
        name = self._chance.choice(NAMES)
        folder = self._chance.choice(
            [
                f"deployments/{self.site}",
                f"deployments/{self.site}/below",
                f"secrets/{self.site}",
                f"components/{'0' * 64}",
                f"jobs/{self.site}",
                "elsewhere",
            ]
        )
        return Change("odd path", {f"{folder}/{name}": self._bent(_dumped(self._new_document()))})

    def _odd_commit(self) -> Change:
        raw = self._new_document()
        trailer = self._chance.choice(TRAILERS)
        return Change(
            "odd commit",
            {self._path(raw): _dumped(raw)},
            self._chance.choice(AUTHORS),
            f"Change it\n\n{trailer}\n",
            self._chance.choice(DATES),
        )

    def _with_component(
        self, kind: str, files: Mapping[str, bytes], profile: str = "compose"
    ) -> Change:
        """The component under its digest, and a document that names it."""
        address = digest.of_files({name: digest.File(data) for name, data in files.items()})
        source = f"components/{address.removeprefix('sha256:')}"
        raw = self._new_document()
        raw["spec"]["deploymentProfile"]["type"] = profile
        part = raw["spec"]["deploymentProfile"]["components"][0]
        part["x-margrave-extensions"] = {"source": source}
        if self._chance.random() < 0.5:
            for parameter in raw["spec"]["parameters"].values():
                parameter["value"] = self._value()
        written = {f"{source}/{name}": data for name, data in files.items()}
        return Change(kind, {**written, self._path(raw): _dumped(raw)})

    def _new_document(self) -> dict[str, Any]:
        """A valid document: of an application that the catalogue does not know, so that no schema
        of values stands before what is tried."""
        raw = copy.deepcopy(dict(self.document))
        own = [str(uuid.UUID(int=number, version=4)) for number in range(6)]
        raw["id"] = self._chance.choice([*own, self.foreign])
        raw["metadata"]["name"] = f"fuzz-{raw['id'][:8]}"
        raw["spec"]["applicationId"] = "nobody-knows"
        return raw

    def _site_document(self) -> dict[str, Any]:
        return {
            "labels": {"zone": self._value(text=True)},
            "timezone": "Europe/Oslo",
            "windows": [{"cron": "0 2 * * 1-5", "duration": "2h"}],
            "paused": {"reason": self._value(text=True), "by": "grace", "until": self._moment()},
            "drain": self._chance.random() < 0.3,
            "nodes": {"harbor-1": {"drain": True}},
            "policy": {"host_paths": [self._value(text=True)]},
            "defaults": {"drift": "report", "failure": {"backoff": "10s"}},
        }

    def _make_older(self, raw: dict[str, Any]) -> None:
        """Give it the head and the annotations of an earlier generation."""
        raw.update(apiVersion="deployment.margo/v1", kind="ApplicationDeployment")
        if self._chance.random() < 0.5:
            raw["metadata"]["annotations"] = {"id": raw["id"], "applicationId": self._value()}
        profile = raw["spec"]["deploymentProfile"]
        if self._chance.random() < 0.5:
            profile["type"] = self._chance.choice(["docker-compose", "compose.v1", "helm.v3"])
        raw["spec"]["parameters"][self._chance.choice(KEYS)] = self._value()

    def _extend(self, ours: dict[str, Any]) -> None:
        """Some of our additions, so that there is something in them to replace."""
        ours.update(
            placement={"nodes": self._chance.choice(["all", 1, ["harbor-1"]])},
            strategy={"batch": "canary"},
            failure={"retries": {"health": self._chance.choice([1, 2**31, 2**63])}},
            health={"timeout": "60s"},
            windows=[{"cron": "0 2 * * 1-5", "duration": "2h", "timezone": "Europe/Oslo"}],
            reason=self._value(text=True),
            requires=["other"],
        )

    def _moment(self) -> str:
        if self._chance.random() < 0.8:
            return "2026-12-01T12:00:00Z"
        times = [value for value in VALUES if isinstance(value, str) and "T" in value[:11]]
        return self._chance.choice(times)

    def _value(self, *, text: bool = False) -> Any:
        values = [value for value in VALUES if isinstance(value, str)] if text else VALUES
        return copy.deepcopy(self._chance.choice(values))

    def _replace(self, root: Any) -> None:
        """Put a value in place of a random part, or add a key or item beside it."""
        places: list[tuple[Any, Any]] = []
        found = [root]
        while found:
            here = found.pop()
            steps = here.items() if isinstance(here, dict) else enumerate(here)
            for key, below in list(steps):
                places.append((here, key))
                if isinstance(below, dict | list):
                    found.append(below)
        if not places:
            return
        above, key = self._chance.choice(places)
        action = self._chance.random()
        if action < 0.7:
            above[key] = self._value()
        elif action < 0.85 and isinstance(above, dict):
            above[self._chance.choice(KEYS)] = self._value()
        elif action < 0.93:
            del above[key]
        elif isinstance(above, list):
            above += [copy.deepcopy(above[key])] * self._chance.choice([1, 2000])

    def _bent(self, data: bytes) -> bytes:
        """The same bytes with some of them changed."""
        made = bytearray(data)
        for _ in range(self._chance.randint(1, 4)):
            at = self._chance.randrange(len(made) + 1)
            length = self._chance.choice([0, 0, 1, 5, 50])
            action = self._chance.random()
            if action < 0.7:
                made[at : at + length] = self._chance.choice(BYTES)
            elif action < 0.9:
                del made[at : at + length]
            else:
                made[at:at] = made[at : at + 200] * self._chance.choice([1, 20])
        return bytes(made)

    def _path(self, raw: Mapping[str, Any]) -> str:
        return f"deployments/{self.site}/{raw['id']}.yaml"


def _dumped(value: Any) -> bytes:
    """YAML; what the writer refuses is written as JSON text, which YAML readers take too."""
    return yaml_text.dump(value).encode("utf-8", "surrogatepass")
