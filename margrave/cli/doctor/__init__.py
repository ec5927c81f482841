"""`margrave doctor`: what is looked at, one module for each place it looks.

Lives here: checks, each with a finding and a cure. May use: the API and the runner's socket like
any command. Never: changes anything, or stops at the first thing that is wrong.
"""

from margrave.cli.doctor.check import Check

__all__ = ["Check"]
