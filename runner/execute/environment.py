"""The whole environment of a run: nothing of the runner's own is passed on but what stands here.

ansible-runner starts from a copy of the process environment, and tokens and database addresses
live there; so the list is of what may pass, not of what may not.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ansible_runner.utils import get_callback_dir

from runner.execute.folders import Folders

PASSED_ON: Final = ("TZ", "TMPDIR")
SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What ansible-runner sets for each run beside the environment that stands here.
OF_ANSIBLE_RUNNER: Final = (
    "AWX_ISOLATED_DATA_DIR",
    "RUNNER_OMIT_EVENTS",
    "RUNNER_ONLY_FAILED_EVENTS",
)

PERSIST: Final = 300  # seconds; outlives the pause between two drift checks many times over
ALIVE: Final = 5  # seconds; with three of them missed a dead node is noticed within 20 s

SETTINGS: Final = {
    "ANSIBLE_HOST_KEY_CHECKING": "True",
    "ANSIBLE_PIPELINING": "True",
    "ANSIBLE_GATHERING": "explicit",
    "ANSIBLE_INVENTORY_ENABLED": "ansible.builtin.yaml",
    "ANSIBLE_INJECT_FACT_VARS": "False",
    "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "False",
    "ANSIBLE_RETRY_FILES_ENABLED": "False",
    "ANSIBLE_NOCOWS": "True",
    "ANSIBLE_NOCOLOR": "True",
    "ANSIBLE_DEPRECATION_WARNINGS": "False",
    "ANSIBLE_SSH_RETRIES": "0",  # the planner retries, with a reason and a next time
    "ANSIBLE_STDOUT_CALLBACK": "awx_display",  # ansible-runner's event stream
}


def environment(
    folders: Folders,
    collections: Path,
    connect_timeout: int,
    own: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Every variable of a run."""
    own = os.environ if own is None else own
    scripts = Path(sys.executable).parent  # ansible-playbook of this Python, whatever PATH says
    return {
        "LC_ALL": "C.UTF-8",  # Ansible refuses to start without UTF-8
        **{name: own[name] for name in PASSED_ON if own.get(name)},
        "PATH": f"{scripts}:{SYSTEM_PATH}",
        "HOME": str(folders.home),
        "ANSIBLE_HOME": str(folders.home / ".ansible"),
        "ANSIBLE_CONFIG": str(folders.config),
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "ANSIBLE_TIMEOUT": str(connect_timeout),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folders.control),
        "ANSIBLE_SSH_ARGS": ssh_arguments(folders, connect_timeout),
        "ANSIBLE_CALLBACK_PLUGINS": get_callback_dir(),
        **SETTINGS,
    }


def ssh_arguments(folders: Folders, connect_timeout: int) -> str:
    """How every node is reached: our key, our host keys, nobody's ssh_config."""
    options = {
        "UserKnownHostsFile": f'"{folders.known_hosts}"',
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "IdentitiesOnly": "yes",
        "PreferredAuthentications": "publickey",
        "ConnectTimeout": str(connect_timeout),
        "ServerAliveInterval": str(ALIVE),
        "ServerAliveCountMax": "3",
        "ControlMaster": "auto",
        "ControlPersist": f"{PERSIST}s",
    }
    words = ["-F", "/dev/null"]
    for name, value in options.items():
        words += ["-o", f"{name}={value}"]
    return shlex.join(words)
