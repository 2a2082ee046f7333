"""Asking the program `dbc`. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import keyword
import os
import re
import shutil
import subprocess

from ._errors import CompileError, InternalError


def program():
    """The path of `dbc`: $DBC_EXECUTABLE, else what is on the PATH, else that of the build tree that this package is in."""
    named = os.environ.get("DBC_EXECUTABLE")
    beside = os.path.join(os.path.dirname(__file__), "..", "..", "bin", "dbc")
    found = named or shutil.which("dbc") or beside
    if shutil.which(found) is None:
        raise CompileError(
            f"DBC_EXECUTABLE is `{named}`, which is no program" if named
            else "the program `dbc` was not found: put it on the PATH, or its path into DBC_EXECUTABLE")
    return found


_OPTION = re.compile(r"(?<![\w-])(?:-D(?P<dim>\w+)(?:=(?P<value>\d+))?|--(?P<option>mode|real|recompute)(?: (?P<choice>\w+))?|"
                     r"(?P<include>-I)|--gradient)(?=[`:])")
# What dbc.load has itself: dims of these names are given in a dict.
ARGUMENTS = {"path", "weights", "seed", "threads", "mode", "real", "include", "gradients", "recompute", "dims"}


def _argument(option):
    """The argument of dbc.load that stands for what matches _OPTION."""
    if option["dim"]:
        name, value = option["dim"], option["value"] or ".."
        is_plain = name not in ARGUMENTS and not keyword.iskeyword(name)
        return f"{name}={value}" if is_plain else f'dims={{"{name}": {value}}}'
    if option["option"]:
        return f'{option["option"]}="{option["choice"] or ".."}"'
    return "include=.." if option["include"] else "gradients=.."


def _in_python(words):
    """A further line for diagnostics that speak of the program's options; none where they do not."""
    said = dict.fromkeys(f"`{option[0]}` is `dbc.load(.., {_argument(option)})`" for option in _OPTION.finditer(words))
    return "\nin Python: " + ", ".join(said) if said else ""


def ask(command, path, options):
    """(what `dbc COMMAND FILE OPTIONS` prints to stdout, the warnings that it gives). Raises CompileError with what it says where
    it refuses the model or the options, and with how dbc.load has options that it speaks of; InternalError where it ends
    otherwise."""
    called = [program(), command, os.path.join(".", path) if path.startswith("-") else path, *options]
    try:
        done = subprocess.run(called, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise CompileError(f"{called[0]}: {error.strerror}") from None
    words = done.stderr.decode("utf-8", "backslashreplace").strip()  # a source's bytes may be any
    if done.returncode in (1, 2):
        raise CompileError(words + _in_python(words), words)
    if done.returncode != 0:
        raise InternalError(f"dbc ended with {done.returncode}: {words}")
    return done.stdout.decode("utf-8", "surrogateescape"), words


def model_options(dims, include, mode, real, gradients, recompute):
    """Which model, and how it is computed: what `compile` and `report` both take."""
    options = [f"-D{name}={value}" for name, value in dims.items()]
    for folder in include:
        options += ["-I", os.path.abspath(folder)]  # a report is made later
    options += ["--mode", mode, "--real", real]
    for name in gradients:
        options += ["--gradient", name]
    return options + (["--recompute", recompute] if recompute != "none" else [])
