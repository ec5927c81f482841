# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument specifications that the workload modules share."""

from __future__ import annotations


def fence() -> dict:
    """Who calls, and whether a person insists."""
    return {
        "deployment": {"type": "str", "required": True},
        "fence": {
            "type": "dict",
            "options": {
                "runner": {"type": "str", "required": True},
                "epoch": {"type": "int", "required": True},
                "seq": {"type": "int", "required": True},
            },
        },
        "force": {"type": "bool", "default": False},
        "request_id": {"type": "str"},
        "trace": {"type": "str"},
        "deadline": {"type": "int"},
        # Read by the action, where Ansible runs: a module on its node never sees it.
        "arguments_from": {"type": "path"},
    }


def guard() -> dict:
    """What a release may do here, and how long it may take to be healthy."""
    return {
        "health": {
            "type": "dict",
            "apply_defaults": True,
            "options": {
                "timeout": {"type": "int", "default": 60},
                "grace": {"type": "int", "default": 5},
            },
        },
        "proven": {"type": "str"},
        "prove": {"type": "int", "default": 0},
        "policy": {
            "type": "dict",
            "apply_defaults": True,
            "options": {
                "privileged": _switch(),
                "host_paths": _list([]),
                "devices": _list([]),
                "host_namespaces": _switch(),
                "capabilities": _list([]),
                "registries": _list(["*"]),
            },
        },
        "registries": {
            "type": "list",
            "elements": "dict",
            "default": [],
            "options": {
                "host": {"type": "str", "required": True},
                "username": {"type": "str", "default": ""},
                "password": {"type": "str", "default": "", "no_log": True},
                "insecure": {"type": "bool", "default": False},
            },
        },
    }


def content() -> dict:
    """What is to run."""
    return {
        "name": {"type": "str", "required": True},
        "application": {"type": "str", "required": True},
        "version": {"type": "str"},
        "revision": {"type": "str"},
        "release": {"type": "str"},
        "profile": {"type": "str", "choices": ["compose", "helm"], "default": "compose"},
        "namespace": {"type": "str", "default": "default"},
        "adopt": {"type": "bool", "default": False},
        "secrets": {"type": "list", "elements": "str", "no_log": True},
        "components": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "name": {"type": "str", "required": True},
                "src": {"type": "path"},
                "archive": {"type": "str"},
                "digest": {"type": "str"},
                "repository": {"type": "str"},
                "revision": {"type": "str"},
                "variables": {"type": "dict", "default": {}},
                "values": {"type": "dict", "default": {}},
                "timeout": {"type": "int"},
            },
        },
    }


def apply() -> dict:
    """The parameters of workload_install and workload_update."""
    return {**fence(), **content(), **guard()}


def rollback() -> dict:
    """The parameters of workload_rollback."""
    limits = guard()
    # Those of the release that it goes back to hold, where none are given.
    limits["health"]["apply_defaults"] = False
    return {
        **fence(),
        **limits,
        "revision": {"type": "str"},
        "release": {"type": "str"},
        "to_release": {"type": "str", "default": "previous"},
    }


def delete() -> dict:
    """The parameters of workload_delete."""
    volumes = {"type": "str", "choices": ["keep", "remove"], "default": "keep"}
    return {**fence(), "volumes": volumes}


def info() -> dict:
    """The parameters of workload_info."""
    return {"deployment": {"type": "str"}}


def of(kind: str) -> dict:
    """The parameters of a kind of call."""
    return {
        "install": apply,
        "update": apply,
        "prefetch": apply,
        "rollback": rollback,
        "delete": delete,
        "info": info,
    }[kind]()


def _switch() -> dict:
    return {"type": "str", "choices": ["allow", "deny"], "default": "deny"}


def _list(default: list[str]) -> dict:
    return {"type": "list", "elements": "str", "default": default}
