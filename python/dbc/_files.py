"""Files that the user names. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import os

from . import _dbc
from ._errors import CallError, FileError

AnyPath = str | bytes | os.PathLike


def path_of(path: AnyPath) -> bytes:
    """A path (a str, bytes or an os.PathLike) as the bytes that the system has for it. Raises CallError where it has a zero byte,
    at which the name would end, and TypeError for what is no path."""
    made = os.fsencode(path)
    if b"\0" in made:
        raise CallError(f"the path {os.fspath(path)!r} has a zero byte")
    return made


def refuse_name(text: str | bytes) -> None:
    """Raises CallError where a text that is to be JSON lines is the name of a file: one that is there, or that ends in `.jsonl`."""
    start = text[:4096].lstrip()
    line, end, brace = ("\n", ".jsonl", "{") if isinstance(text, str) else (b"\n", b".jsonl", b"{")
    if not start or start.startswith(brace) or len(text) > 4096 or line in text:
        return
    try:
        is_name = text.endswith(end) or os.path.isfile(text)
    except ValueError:  # no name of a file at all
        is_name = False
    if is_name:
        raise CallError(f"{text!r} is no JSON lines, but the name of a file: `pathlib.Path({os.fsdecode(text)!r})` is what stands in it")


def _error(path, error):
    return FileError(f"{path.decode('utf-8', 'backslashreplace')}: {error.strerror}")


def read(path: AnyPath) -> bytes:
    """The bytes of a file. Raises FileError."""
    path = path_of(path)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _error(path, error) from None


def write(path: AnyPath, text: str) -> None:
    """Writes a text to a file, as a whole or not at all; one that has it is not touched. Raises FileError."""
    path, data = path_of(path), text.encode()
    if not _has(path, data):
        _dbc._write_file(path, data)


def _has(path, data):
    """Whether a file has these bytes; what is no regular file, as /dev/stdout, has none."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read() == data
    except OSError:
        return False  # may be written, not read
