# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which class a failed pull belongs to: one table over the engines' words."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    AuthError,
    DiskError,
    EdgeError,
    EngineError,
    ImageError,
    RegistryError,
)

# Read from the top: a full disk and a dead line hide in sentences that also say "not found".
TABLE = (
    (
        DiskError,
        "disk-full",
        "make room on the node: remove images that nothing uses, or give it a larger disk",
        ("no space left", "disk is full", "disk quota exceeded"),
    ),
    (
        RegistryError,
        "registry-unreachable",
        "bring the registry or the way to it back; what runs stays as it is",
        (
            "connection refused",
            "connection reset",
            "connection timed out",
            "no route to host",
            "network is unreachable",
            "no such host",
            "server misbehaving",
            "i/o timeout",
            "timeout",
            "deadline exceeded",
            "unexpected eof",
            "tls",
            "x509",
            "http response to https client",
            "toomanyrequests",
            "too many requests",
            "500 internal",
            "502 bad",
            "503 service",
            "504 gateway",
            "received unexpected http status: 5",
        ),
    ),
    (
        AuthError,
        "registry-login",
        "give a login that may pull, in the runner's registries",
        (
            "unauthorized",
            "authentication required",
            "no basic auth credentials",
            "denied",
            "forbidden",
        ),
    ),
    (
        ImageError,
        "image-not-found",
        "push the image, or publish the application with one that exists",
        (
            "manifest unknown",
            "name unknown",
            "not found",
            "no such image",
            "repository does not exist",
            "invalid reference",
        ),
    ),
    (
        ImageError,
        "image-mismatch",
        "publish the application again from the image that is meant",
        ("digest", "no image found in", "no matching manifest", "manifest list"),
    ),
)


def pull_error(reference: str, words: str) -> EdgeError:
    """The error for an engine's words about a pull."""
    lower = words.lower()
    for error, code, cure, signs in TABLE:
        if any(sign in lower for sign in signs):
            return error(code, f"image {reference}: {words}", cure)
    return EngineError(
        "pull-failed",
        f"image {reference}: {words}",
        "try the pull on the node by hand to see more",
    )


def pull_mismatch(reference: str) -> ImageError:
    """The error for a pull that ended well and did not bring what was named."""
    return ImageError(
        "image-mismatch",
        f"image {reference}: what the registry gave is not what the name says",
        "publish the application again from the image that is meant",
    )


def pull_denied(reference: str) -> ImageError:
    """The error for an image that is not here and that its service forbids to pull."""
    return ImageError(
        "image-not-here",
        f"image {reference}: is not on this node, and pull_policy: never forbids to pull it",
        "load the image on the node, or use pull_policy: missing",
    )


def pull_silent(reference: str, seconds: float) -> RegistryError:
    """The error for a pull that tells nothing any more."""
    return RegistryError(
        "registry-silent",
        f"image {reference}: nothing came from the registry for {seconds:.0f} s",
        "bring the registry or the way to it back; what runs stays as it is",
    )
