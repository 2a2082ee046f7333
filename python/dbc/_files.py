"""Files that the user names. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import itertools
import os
import stat

from ._errors import CallError, FileError

AnyPath = str | bytes | os.PathLike

_NUMBERS = itertools.count()  # of temporary files


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
    path = path_of(path)
    data = text.encode()
    try:
        place = os.path.realpath(path)  # a link stays one
        mode = os.stat(place).st_mode if os.path.exists(place) else None
        if mode is not None and not stat.S_ISREG(mode):  # as /dev/stdout
            with open(place, "wb") as file:
                file.write(data)
        elif mode is None or not _has(place, data):
            _replace(place, data, mode)
    except OSError as error:
        raise _error(path, error) from None


def _has(place, data):
    try:
        with open(place, "rb") as file:
            return file.read() == data
    except OSError:
        return False  # may be written, not read


def _replace(place, data, mode):
    temporary = place + b".tmp%d.%d" % (os.getpid(), next(_NUMBERS))
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, place)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
