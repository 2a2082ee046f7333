"""What callers give, checked: what is wrong is a CallError with the name that they wrote. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import operator

from ._errors import CallError


def whole(name, value, least, most, words):
    """`value` as an integer of a range that `words` say."""
    try:
        number = operator.index(value)
    except TypeError:
        raise CallError(f"`{name}` is {words}, not a `{type(value).__name__}`") from None
    if not least <= number <= most:
        raise CallError(f"`{name}` is {words}, not {number}")
    return number


def number(name, value):
    """`value` as a float, be it of Python, NumPy or PyTorch."""
    if not isinstance(value, (bool, str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise CallError(f"`{name}` is a number, not a `{type(value).__name__}`")


def flag(name, value):
    """`value` as a bool."""
    if not type(value).__name__.startswith("bool"):  # NumPy has its own
        raise CallError(f"`{name}` is True or False, not a `{type(value).__name__}`")
    return bool(value)


def one_of(name, value, choices):
    """`value`, one of several texts."""
    if not isinstance(value, str) or value not in choices:
        *others, last = (f'"{each}"' for each in choices)
        raise CallError(f"`{name}` is {', '.join(others)} or {last}, not {value!r}")
    return value


def several(name, values, what):
    """`values`, an iterable of `what`, as a list."""
    try:
        return list(values)
    except TypeError:
        raise CallError(f"`{name}` is {what}, not a `{type(values).__name__}`") from None


def of_kind(what, value, kind):
    """`value`, an object of the class `kind`; `what` begins the message, as "an optimizer is of"."""
    if not isinstance(value, kind):
        raise CallError(f"{what} a `dbc.{kind.__name__}`, not a `{type(value).__name__}`")
    return value
