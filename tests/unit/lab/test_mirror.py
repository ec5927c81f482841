"""The mirror in the machine's own package sources."""

from __future__ import annotations

from lab.mirror import candidates

ONE_LINE = """\
# deb http://old.example/debian stable main
deb [arch=amd64 signed-by=/k] https://packages.example/cloud sdk main
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64] http://mirror.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
"""
PARAGRAPHS = """\
Types: deb
# URIs: http://commented.example/debian
URIs: http://second.example/debian/ http://mirror.example/debian
Suites: bookworm

Types: deb
URIs: http://second.example/debian-security
"""


def test_mirrors_of_debian_proper_are_found_in_both_formats() -> None:
    """Comments, sources, security updates and foreign repositories do not count."""
    assert candidates([ONE_LINE, PARAGRAPHS]) == [
        "http://mirror.example/debian",
        "http://second.example/debian/",
    ]


def test_a_machine_without_debian_sources_has_no_candidate() -> None:
    """Nothing is guessed."""
    assert candidates(["deb http://archive.example/ubuntu noble main\n", ""]) == []
