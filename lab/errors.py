"""What can go wrong in a lab, as the operator is told it."""

from __future__ import annotations

from margrave.errors import MargraveError


class LabError(MargraveError):
    """A lab cannot do what was asked."""


class NotPossibleHere(LabError):
    """This machine cannot carry a lab; the message names everything that is missing."""


class CommandFailed(LabError):
    """A program that the lab needs ended with an error."""

    def __init__(self, program: str, status: int, output: str, cure: str = "") -> None:
        said = output.strip().splitlines()[-3:]
        super().__init__(f"{program} ended with {status}: {' / '.join(said) or 'no output'}", cure)
        self.status = status
