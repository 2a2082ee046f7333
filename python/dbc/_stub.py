"""Type stubs of a model. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import builtins
import keyword
from typing import TYPE_CHECKING

from . import _arguments, _files, _names
from ._model import Model

if TYPE_CHECKING:
    from ._files import AnyPath

_SCALARS = {"index": "int", "int": "int", "bool": "bool", "f32": "float"}
_IMPORTED = ("os", "Sequence", "Any", "dbc", "np", "ArrayLike", "NDArray")  # by a stub
_NUMPY = {"index": "np.int32", "int": "np.int32", "bool": "np.bool_"}


def _given(field, datas):
    """The type of what a field or argument is given as."""
    if field["form"] == "list":
        element = _given(field["elements"][0], datas)
        array = " | NDArray[Any]" if field["elements"][0]["form"] == "value" and field["elements"][0]["elem"] != "node" else ""
        return f"Sequence[{element}]{array}"
    if field["form"] == "tuple":
        return f"tuple[{', '.join(_given(each, datas) for each in field['elements'])}]"
    if field["form"] == "record":
        return "Any"
    if field["elem"] == "node":
        return datas[field["data"]]
    return "ArrayLike" if field["shape"] else _SCALARS[field["elem"]]


def _result(field, real, depth=0):
    """The type of a result."""
    if field["form"] == "list":
        return _result(field["elements"][0], real, depth + 1)
    if field["form"] in ("tuple", "record"):
        return f"tuple[{', '.join(_result(each, real, depth) for each in field['elements'])}]"
    value = "list[Any]" if field["elem"] == "node" else f"NDArray[{_NUMPY.get(field['elem'], real)}]"
    return "list[" * depth + value + "]" * depth


def _class_of(model):
    return "".join(part.capitalize() for part in model.split("_"))


def _node_lines(described, under):
    """The classes of nodes, called as in `under`."""
    datas = [under[data] for data, _ in described["datas"]]
    for data, constructors in described["datas"]:
        if all(name != data for name, _ in constructors):
            yield f"class {under[data]}: ..."
        for name, fields in constructors:
            base = "" if name == data else f"({under[data]})"
            yield f"class {under[name]}{base}:"
            attributes = _names.of_fields([field for field, _ in fields])
            given = [(field, _given(what, datas)) for field, (_, what) in zip(attributes, fields)]
            for field, what in given:
                if not keyword.iskeyword(field):
                    yield f"    {field}: {what}"
            names = _names.of_parameters([field for field, _ in fields])
            args = "".join(f", {name}: {what} = ..." for name, (_, what) in zip(names, given))
            yield f"    def __init__(self{args}) -> None: ..."


def _entry_lines(described, under):
    """A class for each entry and loss, for the types of its call."""
    datas = [under[data] for data, _ in described["datas"]]
    real = "np.float64" if described["f64"] else "np.float32"
    for entry in described["entries"]:
        args = [_given(each, datas) for _, each in entry["args"]]
        one = args[0] if len(args) == 1 else f"tuple[{', '.join(args) or '()'}] | dict[str, Any]"
        inputs = f"dbc.Batch | str | bytes | os.PathLike[str] | Sequence[{one}]"
        yield f"class _entry_{entry['name']}(dbc.Entry):"
        yield f"    def __call__(self, inputs: {inputs}) -> {_result(entry['result'], real)}: ...  # type: ignore[override]"


def write_stub(model: Model, path: AnyPath) -> None:
    """Writes types for editors and checkers: a module `path` (a .pyi file) with a class for the model, which has its name without
    `_`, each word with a capital: that of `model tree_rnn;` is `TreeRnn`. It has the constructors, data types and entries. For
    `if TYPE_CHECKING: from tree_rnn_types import TreeRnn`. A file that has them already is not touched. Raises FileError where it
    cannot be written, which leaves it as it was."""
    described = _arguments.of_kind("a stub is of", model, Model)._code.described
    lines = ["import os", "from collections.abc import Sequence", "from typing import Any", "", "import dbc",
             "import numpy as np", "from numpy.typing import ArrayLike, NDArray", ""]
    under = _names.of_model(described, type(model))
    # In the stub itself what it imports, names of Python, and the class of the model are taken too.
    made = _class_of(described["name"])
    classes = _names.attributes(under, {*_IMPORTED, *dir(builtins), made})
    lines += [*_node_lines(described, classes), "", *_entry_lines(described, classes), ""]
    attributes = {}
    for data, constructors in described["datas"]:
        names = [name for name, _ in constructors]
        for each in ([] if data in names else [data]) + names:
            lines.append(f"_type_{each} = {classes[each]}")  # in the class below the name is the attribute
            attributes[under[each]] = f"type[_type_{each}]"
    lines.append(f"class {made}(dbc.Model):")
    attributes.update((under[entry["name"]], "_entry_" + entry["name"]) for entry in described["entries"])
    lines += [f"    {name}: {what}" for name, what in attributes.items()] or ["    ..."]
    _files.write(path, "\n".join(lines) + "\n")
