"""Secrets that travel in Git: age files and SOPS files that only the site can open.

Lives here: what the files below `secrets/<site>/` hold, opened in this process with the site's key.
May use `margrave`, pyrage and cryptography. Never writes what it opened, never logs it, starts no
program: a tool's arguments and environment are read by others on the machine, our memory is not.
"""

from runner.sealed.files import Sealed

__all__ = ["Sealed"]
