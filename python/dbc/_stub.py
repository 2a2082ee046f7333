"""Type stubs of a model. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import keyword
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import Model

_SCALARS = {"index": "int", "int": "int", "bool": "bool", "f32": "float"}
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


def _node_lines(described):
    """The classes of nodes, indented: constructors are attributes of the model."""
    datas = [data if any(name != data for name, _ in constructors) else constructors[0][0]
             for data, constructors in described["datas"]]
    for data, constructors in described["datas"]:
        if all(name != data for name, _ in constructors):
            yield f"class {data}: ..."
        for name, fields in constructors:
            base = "" if name == data else f"({data})"
            yield f"class {name}{base}:"
            given = [(field, _given(what, datas)) for field, what in fields]
            for field, what in given:
                if not keyword.iskeyword(field):
                    yield f"    {field}: {what}"
            args = "".join(f", {field}_: {what} = ..." if keyword.iskeyword(field) or field == "self" else
                           f", {field}: {what} = ..." for field, what in given)
            yield f"    def __init__(self{args}) -> None: ..."


def _entry_lines(described):
    datas = [data for data, _ in described["datas"]]
    real = "np.float64" if described["f64"] else "np.float32"
    for entry in described["entries"]:
        args = [_given(each, datas) for _, each in entry["args"]]
        one = args[0] if len(args) == 1 else f"tuple[{', '.join(args) or '()'}] | dict[str, Any]"
        inputs = f"dbc.Batch | str | os.PathLike[str] | Sequence[{one}]"
        yield f"class _{entry['name']}(dbc.Entry):"
        yield f"    def __call__(self, inputs: {inputs}) -> {_result(entry['result'], real)}: ...  # type: ignore[override]"


def write_stub(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes types for editors and checkers: a module `path` (a .pyi file) with a class for the model, called as its file is in
    capitals, with its constructors and entries. For `if TYPE_CHECKING: from tree_rnn_types import TreeRnn`."""
    described = model._code.described
    lines = ["import os", "from collections.abc import Sequence", "from typing import Any", "", "import dbc",
             "import numpy as np", "from numpy.typing import ArrayLike, NDArray", ""]
    lines += [*_node_lines(described), "", *_entry_lines(described), ""]
    taken = set(dir(type(model)))
    attributes = []
    for data, constructors in described["datas"]:
        names = [name for name, _ in constructors]
        for each in ([] if data in names else [data]) + names:
            lines.append(f"_type_{each} = {each}")  # in the class below the name is the attribute
            attributes.append((each, f"type[_type_{each}]"))
    lines.append(f"class {_class_of(described['name'])}(dbc.Model):")
    attributes += [(entry["name"], "_" + entry["name"]) for entry in described["entries"]]
    lines += [f"    {name}{'_' if name in taken else ''}: {what}" for name, what in attributes] or ["    ..."]
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
