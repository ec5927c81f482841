"""Secrets that travel in Git, opened as age and SOPS closed them.

`recorded/` was made by the real tools: shop.yaml, mac-only.yaml, shop.json, licence.json and
foreign.yaml by sops 3.9.4, token.age and the keys by age. site.key opens nothing but these.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyrage
import pytest

from margrave.errors import MargraveError, Refused
from runner.sealed import Sealed

HERE = Path(__file__).parent / "recorded"
KEY = HERE / "site.key"
SHOP = {
    "database.user": "shop",
    "database.password": "p:ä'ss #1",
    "database.port": "5432",
    "database.tls": "true",
    "database.ratio": "0.25",
    "database.empty": "",
    "database.hosts.0": "db-1.example",
    "database.hosts.1": "db-2.example",
    "api_unencrypted": "public",
}


def opened(**files: bytes) -> dict[str, str]:
    """Files of the site harbor, opened with its key."""
    named = {f"secrets/harbor/{name.replace('__', '.')}": text for name, text in files.items()}
    return dict(Sealed(KEY).secrets(named))


def recorded(name: str) -> bytes:
    return (HERE / name).read_bytes()


def test_a_sops_file_gives_each_value_by_its_dotted_path() -> None:
    """Text, numbers, truth, lists, the empty and the clear; one of two recipients is enough."""
    assert opened(shop__yaml=recorded("shop.yaml")) == SHOP


def test_a_file_whose_mac_covers_only_what_is_encrypted() -> None:
    """One encrypted value among clear ones, as `encrypted_regex` and `mac_only_encrypted` make."""
    assert opened(shop__yaml=recorded("mac-only.yaml")) == SHOP


def test_sops_json_and_its_wrapping_of_a_binary_file() -> None:
    """Numbers as SOPS tells them; a whole file is its one value `data`."""
    assert opened(a__json=recorded("shop.json"), b__json=recorded("licence.json")) == {
        "token": "t0ken",
        "limits.0": "1",
        "limits.1": "2.5",
        "limits.2": "1000000000000000000000",
        "limits.3": "true",
        "data": "binary text\nof two lines\n",
    }


@pytest.mark.parametrize("armoured", [False, True])
def test_an_age_file_is_one_secret_named_after_it(armoured: bool) -> None:
    """Binary or as text; the final newline is the editor's."""
    identity = pyrage.x25519.Identity.from_str(KEY.read_text().split()[-1])
    fresh = pyrage.encrypt(b"s3cret\n", [identity.to_public()], armored=armoured)
    assert opened(api_key__age=fresh, token__age=recorded("token.age")) == {
        "api_key": "s3cret",
        "token": "from age",
    }


def changed(name: str, old: str, new: str) -> bytes:
    text = recorded(name).decode()
    assert re.search(old, text)
    return re.sub(old, new, text, count=1).encode()


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (recorded("foreign.yaml"), "cannot be opened with"),
        (b"a: b\n", "is no SOPS file"),
        (b"- a\n", "is no SOPS file"),
        (b"sops: {}\n", "has no age recipient"),
        (b"sops: {key_groups: [{age: []}, {age: []}]}\n", "split over groups"),
        (b"a: 'ENC[", "shop.yaml"),
        (changed("shop.yaml", r"    port: ENC.*\n", ""), "not those that its MAC was made of"),
        (changed("shop.yaml", "public", "open"), "not those that its MAC was made of"),
        (changed("shop.yaml", r"empty: \"\"", "empty: x"), "not those that its MAC was made of"),
        (changed("shop.yaml", r"data:TzC3eA==", "data:AzC3eA=="), "database.user: was changed"),
        (changed("shop.yaml", r"data:TzC3eA==", "data:?"), "database.user: was changed"),
        (changed("shop.yaml", r"    user:", "    name:"), "database.name: was changed"),
        (changed("shop.yaml", r"    mac: .*\n", ""), "not those that its MAC was made of"),
        (changed("shop.yaml", r'lastmodified: "20\d\d', 'lastmodified: "2001'), "sops.mac"),
    ],
)
def test_a_file_that_is_not_as_sops_left_it_is_refused_whole(file: bytes, says: str) -> None:
    """Left out, added, moved, put back, cut off: each is noticed, and no value gets out."""
    with pytest.raises(MargraveError, match=says):
        opened(shop__yaml=file)


def test_values_of_two_names_are_a_mistake_and_no_precedence() -> None:
    """Whoever reads the repository should not have to know an order of files."""
    with pytest.raises(Refused, match=r"token is in secrets/harbor/shop.json already"):
        opened(shop__json=recorded("shop.json"), token__age=recorded("token.age"))


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "holds no age key"), ("AGE-SECRET-KEY-1QQQQ", "age-keygen"), ("\xe9", "cannot be read")],
)
def test_a_key_file_that_is_none_is_named(tmp_path: Path, text: str, says: str) -> None:
    """The cure is the command that makes one."""
    (tmp_path / "key").write_text(text, encoding="latin-1")
    with pytest.raises(Refused, match=says) as caught:
        Sealed(tmp_path / "key").secrets({"secrets/harbor/token.age": recorded("token.age")})
    assert "age-keygen" in str(caught.value)


def test_without_a_key_nothing_is_opened_and_nothing_is_wrong() -> None:
    """Files for another tool may lie there."""
    assert Sealed(None).secrets({"secrets/harbor/token.age": b"whatever"}) == {}


def test_unchanged_files_are_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tick asks for all secrets: what is open stays open until a file changes."""
    sealed, files = Sealed(KEY), {"secrets/harbor/token.age": recorded("token.age")}
    assert sealed.secrets(files) == {"token": "from age"}
    monkeypatch.setattr("pyrage.decrypt", lambda *_: pytest.fail("opened again"))
    assert sealed.secrets(dict(files)) == {"token": "from age"}
