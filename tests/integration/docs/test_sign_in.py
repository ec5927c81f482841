"""`docs/howto/sign-in.md`, with a provider that signs what it says, and its wrong turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.oidc import SECRET, FakeProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.docs.reader import Reader

PAGE = Page("sign-in")


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Return a provider with one account, who is of the group that makes an operator."""
    provider = FakeProvider()
    provider.claims = {"sub": "17", "preferred_username": "ann", "groups": ["shop-operations"]}
    provider.start()
    yield provider
    provider.stop()


def sign_in(reader: Reader) -> httpx.Response:
    """Sign in as a browser does: to the provider and back; return the last answer of ours."""
    with httpx.Client(timeout=30) as browser:
        begun = browser.get(f"{reader.url}/sign-in/oidc")
        if begun.status_code != 303:
            return begun
        provided = browser.get(begun.headers["Location"])
        return browser.get(provided.headers["Location"])


def test_sign_in(controller_reader: Reader, provider: FakeProvider) -> None:
    """An account of the provider gets the role of its group, limits, and is disabled."""
    reader = controller_reader
    secret = reader.folder / "oidc-secret"
    reader.words |= {
        "https://login.example/realms/shops": provider.issuer,
        "/etc/margrave/oidc-secret": str(secret),
    }
    [toml] = PAGE.texts("toml")
    reader.configure(reader.controller_file, toml)

    _refuse_a_wrong_configuration(reader, provider, secret)
    reader.restart("controller")

    assert sign_in(reader).status_code == 303
    show, limit, disable = PAGE.lines()
    assert "operator" in next(
        line for line in reader.type(show).splitlines() if line.startswith("ann ")
    )
    reader.type(limit)
    assert "zone=north" in reader.type(show)
    reader.type(disable)
    assert "disabled" in sign_in(reader).text
    reader.type(disable.replace("--disable ", "--enable "))
    assert sign_in(reader).status_code == 303

    _refuse_wrong_accounts(reader, provider)
    assert unexecuted("sign-in", reader.executed) == []


def _refuse_a_wrong_configuration(reader: Reader, provider: FakeProvider, secret: Path) -> None:
    """Each stops a start and names what to do; the controller that runs is not disturbed."""
    missing = reader.refused_start("controller")
    assert "oidc.client_secret_file" in missing and str(secret) in missing
    secret.write_text(f"{SECRET}\n")
    whole = reader.controller_file.read_text()
    for old, new, words in (
        (provider.issuer, "http://login.example/realms/shops", "http.insecure = true"),
        ("external_url", "external_ur", 'did you mean "external_url"?'),
        (f'external_url = "{reader.url}"', "", "/http/external_url: is missing"),
        ('client_id = "margrave"', "", "/oidc/client_id: is missing"),
    ):
        assert old in whole
        reader.controller_file.write_text(whole.replace(old, new))
        refused = reader.refused_start("controller")
        assert words in refused and "margrave.toml" in refused, refused
    reader.controller_file.write_text(whole)
    assert reader.is_ready("controller")


def _refuse_wrong_accounts(reader: Reader, provider: FakeProvider) -> None:
    """Without a role, under a name that is taken, or with a provider that is away: nobody."""
    provider.claims = {"sub": "18", "preferred_username": "bob", "groups": ["elsewhere"]}
    refused = sign_in(reader)
    assert refused.status_code == 403 and "gives bob a role" in refused.text
    provider.claims = {"sub": "18", "preferred_username": "ann", "groups": ["platform"]}
    taken = sign_in(reader)
    assert taken.status_code == 403 and "belongs to somebody else" in taken.text
    names = reader.type("margrave user list -o json")
    assert '"bob"' not in names
    assert "refused" in reader.type("margrave audit list")
    unknown = reader.type("margrave user change bob --disable", 3)
    assert "there is no user" in unknown, unknown
    provider.ill = True
    away = sign_in(reader)
    assert away.status_code == 503 and "does not answer" in away.text
    reader.type("margrave login http://127.0.0.1:8800 --user admin")
