"""Models. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import operator
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments, _arrays, _batches, _compile, _dbc, _files, _names, _nodes, _report
from ._errors import CallError, WeightsError
from ._results import Gradients

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._files import AnyPath

_LOCK = threading.Lock()
_CODES: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # by path
_NODES: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # by name and data types: nodes of one load are
# nodes of others, as of one that trains

_SEEDS = (0, 2**64 - 1, "0 to 2**64 - 1")
_STEPS = (0, 2**63 - 1, "0 to 2**63 - 1")
_COUNTS = (0, 2**31 - 1, "0 to 2**31 - 1")


class Entry(_dbc.Entry):
    """An entry or loss of a model: call it with inputs.

    Inputs are a `Batch`, a sequence of objects (of an entry with one argument these are the argument, else tuples of the arguments,
    of any entry dicts of them by name), JSON lines in a string or bytes, or the path of a file of these (a `pathlib.Path`).
    """

    def __init__(self, code, loaded, number, mode):
        if not isinstance(loaded, _dbc.LoadedModel):
            raise CallError("entries are made by dbc.load")
        super().__init__(loaded, number)
        self._mode = mode
        self._code = code
        self._loaded = loaded
        self._number = number
        self._described = code.described["entries"][number]

    @property
    def name(self) -> str:
        return self._described["name"]

    @property
    def is_loss(self) -> bool:
        return self._described["is_loss"]

    def __call__(self, inputs: Any) -> Any:
        """Computes the inputs and gives NumPy arrays with a row for each; of lists a list of arrays. Raises InputError where inputs
        do not fit the model."""
        return self._call(inputs, None, None)

    def batch(self, inputs: Any) -> _batches.Batch:
        """Makes a batch of inputs, to be run more than once. What is wrong with one of them, its runs say."""
        return self._batch(inputs)

    def value_and_grad(self, inputs: Any, weights: ArrayLike | None = None) -> tuple[float, Gradients]:
        """(the sum over inputs of weight times loss, its `Gradients`), of a loss of a model with mode="train".

        weights: a number for each input; by default 1 (of JSON lines: their "weight") divided by the number of inputs: the mean.
        """
        if weights is not None:
            try:
                weights = _arrays.elements(weights, "float32").reshape(-1)
            except (TypeError, ValueError) as error:
                raise CallError(f"`weights`: {error}") from None
        value, result, named, kept = self._value_and_grad(inputs, weights, self._loaded.next_dropout(), None)
        return value, Gradients(named, kept, result)

    def _value_and_grad(self, inputs, weights, dropout, substitutes):
        if not self._described["is_differentiated"]:
            raise CallError(f"`{self.name}` has no gradients: {self._why_no_gradients()}")
        return super()._value_and_grad(inputs, weights, dropout, substitutes)

    def _why_no_gradients(self):
        if not self.is_loss:
            return "it is no loss"
        if self._mode != "train":
            return 'load the model with mode="train"'
        return "it depends on no param, and on no field or argument that `gradients` of dbc.load has named"

    def __repr__(self):
        args = ", ".join(name for name, _ in self._described["args"])
        return f"<{'loss' if self.is_loss else 'entry'} {self.name}({args})>"


class Model:
    """A compiled model with weights. Its entries, losses, constructors and data types are attributes; one whose name an attribute
    of this class has, or is a keyword of Python, gets `_` behind it, as in `model.report_`. By their own names they are in
    `entries`, `constructors` and `types`.

    For one thread at a time: a second one that uses it meanwhile gets CallError. While it computes, other threads of Python run.
    """

    name: str
    entries: dict[str, Entry]
    constructors: dict[str, type]
    types: dict[str, type]
    _code: Any
    _loaded: Any
    _path: str
    _options: list[str]

    def __init__(self, code, loaded, path, options, mode):
        self._code = code
        self._loaded = loaded
        self._path = path
        self._options = options
        described = code.described
        self.name = described["name"]
        self.entries = {e["name"]: Entry(code, loaded, i, mode) for i, e in enumerate(described["entries"])}
        self.constructors = {}
        self.types = {}
        for (data, constructors), classes, base in zip(described["datas"], code.nodes.classes, code.nodes.bases):
            self.types[data] = base
            for (name, _), made in zip(constructors, classes):
                self.constructors[name if name not in self.constructors else f"{data}.{name}"] = made
        under = _names.of_model(described, Model)
        for named in (self.types, self.constructors, self.entries):
            for name, value in named.items():
                if name in under:  # else a constructor of a second data type that has one of this name
                    setattr(self, under[name], value)

    def columns(self, inputs: int, data: Mapping[str, Mapping[str, Any]] | None = None,
                args: Mapping[str, Any] | None = None) -> _batches.Batch:
        """A batch of flat arrays.

        inputs: how many; data: for each data type a dict with "begin" (the first node of each input, then the number of nodes),
        "kind" (each node's constructor, in the order of the model; not for types that have one) and the fields, a value for each
        node; a list is a tuple of offsets, outermost first, and values. A node is its number among all of its type. args: the
        same for arguments, a value for each input; those of a record or tuple are `name.component`.
        Contiguous float32 is not copied and must stay as it is while the batch is used; all else is copied, once a column.
        """
        return _batches.columns(self._code, _arguments.whole("inputs", inputs, *_COUNTS), data, args)

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Copies of all parameters by name."""
        return self._loaded.weights()

    def set_weights(self, weights: AnyPath | Mapping[str, ArrayLike]) -> None:
        """Takes over weights: a safetensors file, or a dict that has an array for each parameter and nothing else. On an error,
        which lists all that does not fit, the model is as before."""
        if isinstance(weights, (str, bytes, os.PathLike)):
            self._loaded.load_weights(_files.path_of(weights))
            return
        if not isinstance(weights, Mapping):
            raise WeightsError(f"{self.name}: weights are a dict of arrays or the path of a file, not a `{type(weights).__name__}`")
        arrays, wrong = {}, []
        for name, shape, _ in self._code.described["params"]:
            if name not in weights:
                wrong.append(f"`{name}` is missing")
                continue
            try:
                arrays[name] = _arrays.elements(weights[name], "float32")
            except (TypeError, ValueError) as error:
                wrong.append(f"`{name}`: {error}")
                continue
            if arrays[name].shape != shape:
                wrong.append(f"`{name}` has the shape {list(arrays[name].shape)}, not {list(shape)}")
            elif np.isnan(arrays[name]).any():
                wrong.append(f"`{name}` has a NaN")
        known = {param[0] for param in self._code.described["params"]}
        wrong += [f"`{name}` is no parameter" for name in weights if name not in known]
        if wrong:
            raise WeightsError(f"{self.name}: " + "; ".join(wrong))
        self._loaded.set_weights(arrays)

    def save_weights(self, path: AnyPath) -> None:
        """Writes all parameters to a safetensors file, as a whole or not at all."""
        self._loaded.save_weights(_files.path_of(path))

    def set_dropout(self, seed: int, step: int = 0) -> None:
        """What the next run of a loss that drops follows from these, be it by `value_and_grad` or in a network of PyTorch; the step
        counts by itself."""
        self._loaded.set_dropout(_arguments.whole("seed", seed, *_SEEDS), _arguments.whole("step", step, *_STEPS))

    def share_subtrees(self, on: bool = True) -> None:
        """Whether cells compute what nodes of a batch have in common once, in runs from now on."""
        self._loaded.share_subtrees(_arguments.flag("on", on))

    def report(self) -> _report.Report:
        """How the model is computed: `dbc report` as a value, which a notebook shows as a table. It is made of the model's file
        when it is first looked at; then it may raise CompileError, as for a file that has changed."""
        return _report.Report(self._path, self._options)

    if TYPE_CHECKING:  # entries and constructors; `dbc.write_stub` says which

        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        return f"<dbc model {self.name}: {', '.join(map(repr, self.entries.values()))}>"


def _code_of(path):
    with _LOCK:
        return _locked_code_of(path)


def _locked_code_of(path):
    code = _CODES.get(path)
    if code is None:
        code = _dbc.LoadedCode(os.fsencode(path), os.path.basename(path)[: -len(".so")])
        code.described = code.describe()
        key = repr((code.described["name"], code.described["datas"]))
        code.nodes = _NODES.get(key) or _nodes.Nodes(code.described)
        _NODES[key] = code.nodes
        code.set_classes(code.nodes.classes)
        _CODES[path] = code
    return code


def _numbers_of(dims, more_dims):
    """All dims by name."""
    if not isinstance(dims, (Mapping, type(None))):
        raise CallError(f"`dims` is a dict of numbers by name, not a `{type(dims).__name__}`")
    numbers = {**(dims or {}), **more_dims}
    for name, value in numbers.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise CallError(f"`dims` has names of dims, not {name!r}")
        try:
            numbers[name] = operator.index(value)
        except TypeError:
            raise CallError(f"dim `{name}` is a number, not a `{type(value).__name__}`") from None
        if not -(2**63) <= numbers[name] < 2**63:
            raise CallError(f"dim `{name}` is outside the 64 bits that it has")
    return numbers


def load(path: AnyPath, *, weights: AnyPath | Mapping[str, ArrayLike] | None = None, seed: int = 0, threads: int = 1,
         mode: str = "infer", real: str = "f32", include: AnyPath | Iterable[AnyPath] = (), gradients: str | Iterable[str] = (),
         recompute: str = "none", dims: Mapping[str, int] | None = None, **more_dims: int) -> Model:
    """Compiles a model with the program `dbc` and a C++ compiler ($CXX, else c++), unless the cache has it, and loads it.

    path: the .dyn file; dims by name, as in `load("tree.dyn", vocab=20000)`, or in the dict `dims`.
    weights: a safetensors file or a dict of arrays; without it they are drawn by `seed`.
    threads: how many compute. mode: "train" gives losses gradients; gradients: of which fields and arguments too, as "Tree.x",
    or ("all",); recompute: what gradients find again, "none", "cheap" or "cells". real: "f64" computes in double precision.
    include: the folder of imported modules, or several. Raises CompileError with the diagnostics of what is wrong.
    """
    dims = _numbers_of(dims, more_dims)
    threads = _arguments.whole("threads", threads, 1, 1024, "1 to 1024")
    seed = _arguments.whole("seed", seed, *_SEEDS)
    path = os.fsdecode(_files.path_of(path))
    folders = [include] if isinstance(include, (str, bytes, os.PathLike)) else _arguments.several("include", include, "paths")
    include = [os.fsdecode(_files.path_of(folder)) for folder in folders]
    gradients = [gradients] if isinstance(gradients, str) else _arguments.several("gradients", gradients, "names")
    for name in gradients:
        if not isinstance(name, str):
            raise CallError(f"`gradients` has names, not a `{type(name).__name__}`")
    _arguments.one_of("mode", mode, ("infer", "train"))
    _arguments.one_of("real", real, ("f32", "f64"))
    _arguments.one_of("recompute", recompute, ("none", "cheap", "cells"))
    options = _compile.model_options(dims, include, mode, real, gradients, recompute)
    printed, words = _compile.ask("compile", path, [*options, "--shared"])
    if words:
        print(words, file=sys.stderr)
    code = _code_of(printed.rstrip("\n"))
    loaded = _dbc.LoadedModel(code, threads)
    model = Model(code, loaded, os.path.abspath(path), options, mode)
    if weights is None:
        loaded.draw(seed)
    else:
        model.set_weights(weights)
    return model
