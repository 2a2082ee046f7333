"""What goes wrong, as exceptions. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""


class Error(Exception):
    """Any failure of dbc. `code` is the runtime's name for its kind, as "bad_input"."""

    code = "internal"


class CompileError(Error):
    """A model that does not compile, or cannot be loaded. `diagnostics` is what the program `dbc` printed; the text is that,
    and a line that says how dbc.load has the program's options that it speaks of."""

    code = "bad_model"

    def __init__(self, message, diagnostics=""):
        super().__init__(message)
        self.diagnostics = diagnostics


class InputError(Error, ValueError):
    """An input that does not fit the model.

    input: its number in the batch, or None; node: the node's number in its input, or None; object: the node itself, where the
    batch was made of objects; field: the name of the field or argument, or "".
    Where a run raises it: errors: the errors of all inputs that failed, this one first; result: the results, with zeros, empty
    lists and None for nodes for those inputs. What is pickled, as by multiprocessing, has neither objects nor a result.
    """

    code = "bad_input"

    def __init__(self, message, input=None, node=None, field="", object=None):
        super().__init__(message)
        self.input = input
        self.node = node
        self.field = field
        self.object = object
        self.result = None
        self._others = ()

    def __reduce__(self):
        return type(self), (str(self), self.input, self.node, self.field), {"_others": self._others}

    @property
    def errors(self):
        return [self, *self._others]  # not kept: an exception that had itself would keep what its frames have


class WeightsError(Error, ValueError):
    """Weights that do not fit the model."""

    code = "bad_weights"


class CallError(Error, RuntimeError):
    """The package is used wrongly, as a model by two threads at once."""

    code = "bad_call"


class LimitError(Error, MemoryError):
    """There is not enough memory, or a batch is too large."""

    code = "limit"


class FileError(Error, OSError):
    """A file cannot be read or written."""

    code = "io"


class InternalError(Error):
    """A mistake in dbc."""


_BY_CODE = {each.code: each for each in (WeightsError, CallError, LimitError, FileError, InternalError)}


def from_status(code, message, input, node, field, object):
    """The exception of a status of the runtime, in which -1 stands for no number."""
    if code == "bad_input":
        return InputError(message, input if input >= 0 else None, node if node >= 0 else None, field, object)
    return _BY_CODE.get(code, InternalError)(message)


def first_of(errors, result):
    """The exception of a run in which inputs failed."""
    first = errors[0]
    first._others = tuple(errors[1:])
    first.result = result
    return first
