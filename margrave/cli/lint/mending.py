"""`margrave lint --fix`: the documents below a path, mended where that needs no decision."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from margrave.cli.lint.documents import kind_for
from margrave.cli.lint.files import DOCUMENT_FOLDERS, is_file, listed, load, shown, walk
from margrave.errors import DocumentError, MargraveError
from margrave.linting.mending import mend
from margrave.linting.reading import DESCRIPTION_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.findings import Finding


def mend_below(path: Path) -> list[dict[str, object]]:
    """Each file that was changed, with what was done to it: `{file, changes: [..]}`."""
    changed: list[dict[str, object]] = []
    for file in _documents(path):
        try:
            data = load(file)
        except DocumentError:
            continue  # whoever lints the file says why it cannot be read
        mended = mend(kind_for(file, data), data, shown(file))
        if mended is not None:
            _write(file, mended.data)
            changed.append({"file": shown(file), "changes": list(mended.notes)})
    return changed


def _documents(path: Path) -> Iterator[Path]:
    """The files that lint reads as documents; components are addressed by content, so none."""
    if is_file(path):
        yield path
        return
    unheard: list[Finding] = []  # what cannot be listed is told by lint itself
    base = path.resolve()
    inside = [name for name in DOCUMENT_FOLDERS if name in base.parts[-2:]]
    roots = [path] if inside else [path / name for name in DOCUMENT_FOLDERS]
    for root in roots:
        for file in walk(root, unheard, frozenset()) if listed(root, unheard) else ():
            if file.suffix == ".yaml":
                yield file
    if not inside:
        skip = frozenset(path / name for name in (*DOCUMENT_FOLDERS, "components"))
        for file in walk(path, unheard, skip):
            if file.name == DESCRIPTION_FILE:
                yield file


def _write(path: Path, data: bytes) -> None:
    """In one step: whoever reads the file meanwhile sees the old text or the new one."""
    try:
        status = path.stat()
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            shutil.copymode(path, draft)
            with suppress(PermissionError):  # then it belongs to who mends it, as with any editor
                os.chown(draft, status.st_uid, status.st_gid)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        cure = "make the folder writable, or lint without --fix"
        raise MargraveError(f"{shown(path)}: cannot be written: {error.strerror}", cure) from error
