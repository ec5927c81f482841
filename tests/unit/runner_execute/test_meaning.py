"""What Ansible's events mean for an operation."""

from __future__ import annotations

import pytest

from runner.execute import meaning
from runner.ports import Status


def test_a_good_end_is_the_modules_own_return_value() -> None:
    """Ansible's additions are taken out, the invocation with its arguments above all."""
    res = {
        "changed": True,
        "state": "INSTALLED",
        "invocation": {"module_args": {"registries": ["secret"]}},
        "_ansible_no_log": False,
    }
    assert meaning.read("runner_on_ok", res) == (
        Status.OK,
        {"changed": True, "state": "INSTALLED"},
    )


def test_the_modules_own_error_is_kept() -> None:
    """A module that failed and said why is quoted as it stands."""
    error = {"class": "health", "code": "exited", "message": "web exited", "cure": "look at it"}
    status, data = meaning.read("runner_on_failed", {"failed": True, "msg": "no", "error": error})
    assert status is Status.FAILED
    assert data == {"msg": "no", "error": error}


@pytest.mark.parametrize(
    ("event", "res", "status", "code"),
    [
        (
            "runner_on_unreachable",
            {"msg": "ssh: connect to host 10.0.0.9 port 22: No route to host"},
            Status.UNREACHABLE,
            ("link", "unreachable"),
        ),
        (
            "runner_on_unreachable",
            {"msg": "@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@"},
            Status.UNREACHABLE,
            ("auth", "host-key-changed"),
        ),
        (
            "runner_on_unreachable",
            {"msg": "margrave@10.0.0.9: Permission denied (publickey)."},
            Status.UNREACHABLE,
            ("auth", "login-refused"),
        ),
        (
            "runner_on_failed",
            {"msg": "Task failed: Missing sudo password"},
            Status.FAILED,
            ("auth", "no-sudo"),
        ),
        (
            "runner_on_failed",
            {
                "msg": "MODULE FAILURE",
                "module_stderr": "OSError: [Errno 28] No space left on device",
            },
            Status.FAILED,
            ("disk", "disk-full"),
        ),
        (
            "runner_on_failed",
            {"msg": "", "module_stdout": "/bin/sh: 1: /usr/bin/python3: not found"},
            Status.FAILED,
            ("internal", "no-python"),
        ),
        (
            "runner_on_failed",
            {"msg": "MODULE FAILURE", "module_stderr": "Traceback …"},
            Status.FAILED,
            ("internal", "module-crashed"),
        ),
        (
            "runner_on_failed",
            {"msg": "No start of json char found", "module_stderr": "Killed\n", "rc": 137},
            Status.LOST,
            ("link", "module-killed"),
        ),
        (
            "runner_on_failed",
            {"msg": "Timed out after 2 second(s).", "timedout": {"period": 2}},
            Status.LOST,
            ("link", "deadline"),
        ),
    ],
)
def test_what_the_module_did_not_say_is_named_for_it(event, res, status, code) -> None:
    """Unreachable is not failed; every end but a good one has class, code, message and cure."""
    found, data = meaning.read(event, res)
    assert found is status
    assert (data["error"]["class"], data["error"]["code"]) == code
    assert data["error"]["message"]
    assert data["error"]["cure"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Failed to connect to the host via ssh: ssh: connect to host a port 22: No route to host",
         "the node does not answer: no route leads to it"),
        ("ssh: connect to host 10.0.0.9 port 22: Connection refused",
         "the node does not answer: nothing listens at its SSH port"),
        ("Connection timed out during banner exchange",
         "the node does not answer: nothing came back in time"),
        ("mux_client_request_session: read from master failed: Broken pipe",
         "the node does not answer: the connection was cut"),
        ("kex_exchange_identification: Connection closed by UNKNOWN port 65535",
         "the node does not answer: the jump host in front is away, or refuses us, or is another"),
        ("something that nobody has seen yet", "the node does not answer"),
        ("margrave@10.0.0.9: Permission denied (publickey).", "the node refuses the runner's key"),
    ],
)  # fmt: skip
def test_a_node_that_does_not_answer_is_told_in_plain_words(said: str, words: str) -> None:
    """What ssh and Ansible say goes to the operation's log, not before an operator's eyes."""
    res = {"msg": said, "unreachable": True}
    _, data = meaning.read("runner_on_unreachable", res)
    assert data["error"]["message"] == words
    assert meaning.raw(res) == said


def test_a_long_complaint_becomes_one_line() -> None:
    """Banners and tracebacks are shortened to what fits a table."""
    _, data = meaning.read("runner_on_unreachable", {"msg": "banner\n\n" * 400})
    message = data["error"]["message"]
    assert "\n" not in message
    assert len(message) < 600


def test_the_end_of_an_operation_is_a_line_of_its_log() -> None:
    """What it came to and how long each part took; or what went wrong."""
    good = {"state": "INSTALLED", "changed": True, "durations": {"prefetch": 0.4, "switch": 2.1}}
    assert meaning.told(Status.OK, good) == "INSTALLED, prefetch 0.4 s, switch 2.1 s"
    assert meaning.told(Status.OK, {"changed": False}) == "ok, unchanged"
    bad = {"error": {"class": "health", "code": "exited", "message": "web exited", "cure": ""}}
    assert meaning.told(Status.FAILED, bad) == "failed: health/exited: web exited"
