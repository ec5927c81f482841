# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Classes whose annotated names are their parts, as `dataclasses` makes them.

Those write and compile each class's methods anew whenever Python starts: of 27 classes that was a
fifth of a call's whole time. Here all classes share a few methods that go by the parts' names.
"""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.margrave.edge.plugins.module_utils._types import (
    Any,
    TypeVar,
    dataclass_transform,
)

One = TypeVar("One")


class _Fresh:
    """A default that is made anew for each value."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def field(*, factory: Callable[[], Any]) -> Any:
    """A part that is made anew where it is not given."""
    return _Fresh(factory)


@dataclass_transform(field_specifiers=(field,))
def changing(kind: type[One]) -> type[One]:
    """Its parts may be set later, too."""
    return _with_parts(kind)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[One]) -> type[One]:
    """Its parts stay what they were when it was made."""
    kind.__setattr__ = kind.__delattr__ = _refuse  # type: ignore[method-assign]
    return _with_parts(kind)


def replace(one: One, **changes: Any) -> One:
    """The same with other parts."""
    return type(one)(**{**parts(one), **changes})


def parts(one: object) -> dict[str, Any]:
    """What it is made of, by name; what was worked out from that is not among it."""
    values = vars(one)
    return {name: values[name] for name in type(one)._parts}  # type: ignore[attr-defined]


def as_dict(one: object) -> dict[str, Any]:
    """The same down to the last record in it, in containers of its own."""
    return {name: _plain(value) for name, value in parts(one).items()}


def _plain(value: Any) -> Any:
    if hasattr(type(value), "_parts"):
        return as_dict(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _with_parts(kind: Any) -> Any:
    names = kind._parts = tuple(kind.__annotations__)
    kind._defaults = {name: vars(kind)[name] for name in names if name in vars(kind)}
    kind.__init__ = _init
    kind.__eq__ = _eq
    kind.__hash__ = _hash if kind.__setattr__ is _refuse else None
    kind.__repr__ = _repr
    return kind


def _init(self: Any, *given: Any, **named: Any) -> None:
    kind, values = type(self), vars(self)
    names = kind._parts
    values.update(zip(names, given))  # noqa: B905 - not before Python 3.10
    for name in names[len(given) :]:
        if name in named:
            values[name] = named.pop(name)
        elif name in kind._defaults:
            default = kind._defaults[name]
            values[name] = default.factory() if isinstance(default, _Fresh) else default
        else:
            raise TypeError(f"{kind.__name__}: {name} is missing")
    if named or len(given) > len(names):
        raise TypeError(f"{kind.__name__}: {', '.join(named) or len(given)}: more than its parts")


def _eq(self: Any, other: object) -> Any:
    return parts(self) == parts(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(parts(self).values()))


def _repr(self: Any) -> str:
    told = ", ".join(f"{name}={value!r}" for name, value in parts(self).items())
    return f"{type(self).__name__}({told})"


def _refuse(self: object, name: str, _value: object = None) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} stays as it is")
