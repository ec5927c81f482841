# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every call of a workload module does: parameters, fence, lock, the work, the answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ansible_collections.margrave.edge.plugins.module_utils import (
    _fence,
    _masking,
    _release,
    _request,
    _rights,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    AuthError,
    DiskError,
    EdgeError,
    sentence,
    translated,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import is_full
from ansible_collections.margrave.edge.plugins.module_utils._journal import DONE
from ansible_collections.margrave.edge.plugins.module_utils._layout import STORES, Layout
from ansible_collections.margrave.edge.plugins.module_utils._lock import PATIENCE, Lock
from ansible_collections.margrave.edge.plugins.module_utils._result import Result
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

Work = Callable[[Call], None]
# What a diff tells of a release.
TOLD = ("version", "revision", "release", "next_revision")
# What an engine's trouble is called that may be another's.
VAGUE = ("engine-refused", "engine-unreachable", "up-failed", "down-failed")
# What the answer to a call that went well holds beside, by its kind.
BESIDE: Mapping[str, dict] = {"delete": {"deleted": True, "exit_code": 0}}


def answer(kind: str, params: dict[str, Any], check: bool, diff: bool, work: Work) -> dict:
    """What a call comes to, as a module answers it."""
    # Containers enter mounted folders as users of their own, however closed the node is otherwise;
    # what holds secrets is written with modes of its own.
    os.umask(0o022)
    try:
        _rights.require_root()
    except AuthError as error:
        found = _refused(error.as_dict())
    else:
        found = operate(kind, params, check, work, Layout(), diff)
    shown = found.pop("shown", [])
    if shown and found["changed"]:
        found["diff"] = shown
    if found["error"]:
        found.update(failed=True, msg=failure(_sentence(found), params))
    return {**found, "invocation": invocation(params)}


def log_entry(params: Mapping[str, Any]) -> str:
    """Which deployment and request it is about: all that the node's system log gets of a call."""
    request = params.get("request_id") or "-"
    # A deletion takes the journal with it: that somebody insisted stays known here.
    forced = " forced" if params.get("force") else ""
    trace = params.get("trace") or ""
    led = f" for {trace}" if _request.TRACE.fullmatch(trace) else ""
    return f"deployment {params.get('deployment')} request {request}{led}{forced}"


def failure(message: object, params: Mapping[str, Any]) -> str:
    """Words for a failure, without the secrets among the parameters."""
    return _masking.masked(str(message), _masking.secrets_of(params))


def invocation(params: Mapping[str, Any]) -> dict:
    """What an answer repeats of the parameters, where Ansible would repeat all."""
    return {"module_args": {"deployment": params.get("deployment")}}


def operate(
    kind: str,
    params: dict[str, Any],
    check: bool,
    work: Work,
    layout: Layout,
    diff: bool = False,
) -> dict:
    """The answer of one call; every error of ours is in it, not raised."""
    try:
        request = _request.read(params)
    except Exception as error:  # noqa: BLE001 - an answer has its `error`, whatever it is
        return _refused(translated(error).as_dict())
    call = Call(request, kind, layout, check, result=Result(trace=request.trace))
    shown = _Shown(call, list(_masking.texts_in(params.get("secrets")))) if diff else None
    if check:
        return _work(call, work, shown)
    lock = call.lock = Lock(layout.run, request.deployment, request.fence)
    try:
        return _under_lock(call, lock, work, shown)
    finally:
        lock.release()


class _Shown:
    """What `--diff` shows of a call, if its files can be read; imported only then."""

    def __init__(self, call: Call, secrets: list[str]) -> None:
        self._call = call
        self._secrets = secrets
        self._before: dict | None = None

    def begin(self) -> None:
        """Read what runs before anything is done."""
        from ansible_collections.margrave.edge.plugins.module_utils import _diff

        try:
            self._before = {**_standing(self._call), **_diff.before(self._call)}
        except OSError as error:  # check mode holds no lock: another call may tidy meanwhile
            self._call.result.warn(f"no diff: {error}")

    def entries(self, answer: dict) -> list[dict[str, str]]:
        """Return Ansible's diff for the answer."""
        from ansible_collections.margrave.edge.plugins.module_utils import _diff

        if self._before is None:
            return []
        before = {**self._before, "differs": self._call.differs}
        try:
            return _diff.entries(self._call, before, answer, self._secrets)
        except OSError as error:
            answer["warnings"].append(f"no diff: {error}")
            return []


def _under_lock(call: Call, lock: Lock, work: Work, shown: _Shown | None) -> dict:
    request, layout = call.request, call.layout
    try:
        entry = _judge(call)
        lock.acquire(entry is _fence.Entry.ENTER, min(PATIENCE, call.left()))
        # Others may have come and gone while this call waited.
        entry = _let_in(call)
        if entry is _fence.Entry.RECORDED:
            return _fence.recorded_result(layout, request.deployment)
    except Exception as error:  # noqa: BLE001 - an answer has its `error`, whatever it is
        return _not_let_in(call, translated(error))
    answer = _work(call, work, shown)
    if request.fence:
        _remember(call, request.fence, answer)
    return answer


def _judge(call: Call) -> _fence.Entry:
    one = call.request
    return _fence.judge_stored(call.layout, one.deployment, one.fence, one.force, one.request_id)


def _let_in(call: Call) -> _fence.Entry:
    one = call.request
    return _fence.let_in(
        call.layout, one.deployment, one.fence, one.force, call.kind, one.request_id
    )


def _remember(call: Call, fence: _fence.Fence, answer: dict) -> None:
    """Record the answer for the same call asked again."""
    result = {key: value for key, value in answer.items() if key != "shown"}
    try:
        one = call.request
        _fence.close(call.layout, one.deployment, fence, call.kind, result, one.request_id)
    except OSError:
        return  # a full disk: the same call again finds no result, and finishes instead


def _work(call: Call, work: Work, shown: _Shown | None) -> dict:
    try:
        if shown:
            shown.begin()
        work(call)
    except Exception as error:  # noqa: BLE001 - an answer has its `error`, whatever it is
        ours = _whose(translated(error))
        call.result.state = "FAILED"
        call.result.error = call.told(ours)
        _end_journal(call, ours)
    answer = call.result.as_dict()
    if answer["error"]:
        return answer
    answer.update(BESIDE.get(call.kind, {}))
    return {**answer, "shown": shown.entries(answer)} if shown else answer


def _whose(error: EdgeError) -> EdgeError:
    """The same, or the disk's where that is full: an engine that cannot write its own records says
    many things, and each is only what follows from it."""
    if error.code not in VAGUE or not any(map(is_full, STORES)):
        return error
    told = DiskError("disk-full", error.message, "make room on the node")
    told.ends = error.ends
    return told


def _standing(call: Call) -> dict:
    """What runs and what is ready, as a diff tells it."""
    current, following = (
        _release.load(call.folder, call.folder.linked(name)) for name in ("current", "next")
    )
    found = {name: getattr(current, name, None) for name in TOLD}
    return {**found, "next_revision": following.revision if following else None}


def _end_journal(call: Call, error: EdgeError) -> None:
    """Note that this call ended; one that was stopped is left for the next call to finish."""
    try:
        if error.ends and "phase" in call.journal.notes:
            call.journal.begin(DONE, error=call.told(error))
    except OSError:
        return  # a full disk: the journal says unfinished, and the next call finishes


def _refused(error: dict[str, str]) -> dict:
    """The answer of a call that cannot be read: it changed nothing and knows nothing."""
    return Result(error=error).as_dict()


def _not_let_in(call: Call, error: EdgeError) -> dict:
    """The answer of a call that the fence, the lock or a full disk stopped: what ran runs on."""
    answer = {**_refused(call.told(error)), "trace": call.request.trace}
    try:
        return {**answer, **_standing(call)}
    except OSError:
        return answer  # a disk that cannot be read either: nothing is known


def _sentence(answer: dict) -> str:
    again = (
        f"; {answer['version'] or answer['revision']} runs again" if answer["rolled_back"] else ""
    )
    return sentence(answer["error"], again)
