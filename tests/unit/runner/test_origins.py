"""Who answers for content: the graph's rules, without Git."""

from __future__ import annotations

from runner.source.origins import Step, answer, steps_of


def step(commit: str, **parents: str) -> Step:
    """A step; per parent the paths that differ, as letters."""
    return Step(commit, tuple(parents), tuple(frozenset(one) for one in parents.values()))


def root(commit: str, paths: str) -> Step:
    """A step without parents."""
    return Step(commit, (), (frozenset(paths),))


def test_the_last_to_change_a_path_answers_for_it() -> None:
    """Also who took it away; who came before and after has no say."""
    steps = [step("d", c=""), step("c", b="x"), step("b", a="xy"), root("a", "xyz")]
    assert answer(steps).for_paths == {"x": {"c"}, "y": {"b"}, "z": {"a"}}


def test_a_merge_answers_for_its_choice_and_so_does_the_side_it_took() -> None:
    """x comes from the other side: both the merge and that side's commit answer."""
    steps = [step("m", a="x", u=""), step("u", a="x"), root("a", "x")]
    assert answer(steps).for_paths == {"x": {"m", "u"}}
    swapped = [step("m", u="", a="x"), step("u", a="x"), root("a", "x")]
    assert answer(swapped).for_paths == {"x": {"m", "u"}}


def test_a_merge_that_made_its_own_content_answers_alone() -> None:
    """It differs from both sides: neither's content is left."""
    steps = [step("m", t="x", u="x"), step("u", a="x"), step("t", a="x"), root("a", "x")]
    assert answer(steps).for_paths == {"x": {"m"}}


def test_where_both_sides_agree_both_answer() -> None:
    """Otherwise a change could hide behind an older commit with the same content."""
    steps = [step("m", u="", t=""), step("u", b="x"), step("b", t="x"), root("t", "x")]
    assert answer(steps).for_paths == {"x": {"u", "t"}}


def test_what_leads_out_of_the_steps_is_told() -> None:
    """By the commit where it leaves."""
    steps = [step("c", b="x"), step("b", a="y")]
    found = answer(steps)
    assert (found.for_paths, found.left) == ({"x": {"c"}, "y": {"b"}}, {})
    steps = [step("m", c="x", old=""), step("c", b="y")]
    assert answer(steps).left == {"old": {"x", "y"}}


def test_no_steps_no_answer() -> None:
    """Nothing new since the last check."""
    assert answer([]).for_paths == {}


def test_steps_are_read_from_git_s_words() -> None:
    """One block per commit and parent, in order; a root has one too."""
    graph = {"m": ("b", "c"), "b": ("a",), "c": ("a",), "a": ()}
    words = ["m", "d/x", "m", "b", "d/x", "d/y", "c", "a", "d/y"]
    assert steps_of(graph, words) == [
        Step("m", ("b", "c"), (frozenset({"d/x"}), frozenset())),
        Step("b", ("a",), (frozenset({"d/x", "d/y"}),)),
        Step("c", ("a",), (frozenset(),)),
        Step("a", (), (frozenset({"d/y"}),)),
    ]
