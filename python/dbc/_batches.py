"""Batches, and their columns as arrays. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from . import _arrays, _dbc
from ._errors import CallError


class Batch(_dbc.Batch):
    """The inputs of a run, made by `entry.batch(..)` or `model.columns(..)`; may be run more than once, also by other entries
    that have the same arguments. For one thread at a time. `len(batch)` is the number of its inputs."""

    def __init__(self, code):
        if not isinstance(code, _dbc.LoadedCode):
            raise CallError("a batch is made by the `batch` of an entry, or by the `columns` of a model")
        super().__init__(code)
        self._code = code
        self._is_flat = False  # of arrays, which it borrows: their owners may change them
        self._floats = {}  # arrays of numbers that were put into it, by (table, column)

    def nodes(self, data: str) -> list[Any]:
        """The objects that became nodes of a data type, in the order of gradients and of `columns`."""
        return self._objects(_number_of(self._code.described["datas"], data))

    def _put(self, where, elements):
        """Numbers for a column, in place of those that it has."""
        (self._add_floats if self._is_flat else self._replace_floats)(*where, elements)
        self._floats[where] = elements

    def _others(self, given):
        """What _as_before() needs of the columns that are not in `given`."""
        return {where: elements.copy() if self._is_flat else elements
                for where, elements in self._floats.items() if where not in given}

    @contextlib.contextmanager
    def _as_before(self, name, others, given, read):
        """For as long as this is open the batch has the numbers that it had in the run of `name`: `others`, which _others() gave
        then, and those that are `given`. read: the names of the columns that it reads. Raises CallError where another run has put
        numbers in place of those of objects or lines, which are not kept."""
        now = dict(self._floats)
        for where in () if self._is_flat else now:
            if where in read and where not in given and now[where] is not others.get(where):
                raise CallError(f"the batch has been given another `{read[where]}` since `{name}` ran, whose gradients are wanted of "
                                "it as it was: make a batch for each")
        try:
            for where, elements in {**(others if self._is_flat else {}), **given}.items():
                if now.get(where) is not elements:
                    self._put(where, elements)
            yield
        finally:
            for where, elements in now.items():
                if self._floats[where] is not elements:
                    self._put(where, elements)


def _number_of(named, name):
    for number, each in enumerate(named):
        if each[0] == name:
            return number
    raise CallError(f"the model has no data type `{name}`; it has " + ", ".join(f"`{each[0]}`" for each in named))


def _column(batch, table, owner, name):
    """(number, description) of a column."""
    columns = batch._columns_of(table)
    found = [number for number, column in enumerate(columns) if column[0] == name]
    if not found:
        known = ", ".join(f"`{column[0]}`" for column in columns)
        raise CallError(f"{owner} has no column `{name}`; it has {known}")
    if len(found) > 1:
        raise CallError(f"{owner} has several columns `{name}` of different types: fill the batch with objects")
    return found[0], columns[found[0]]


def _fill_column(batch, table, owner, name, values):
    number, (_, elem, extent, depth, _) = _column(batch, table, owner, name)
    if depth > 0:
        if not isinstance(values, tuple) or len(values) != depth + 1:
            raise CallError(f"{owner}: `{name}` is a list: a tuple of {depth} array(s) of offsets and one of values")
        *offsets, values = values
        for level, each in enumerate(offsets):
            batch._add_offsets(table, number, level, _elements(owner, name, each, "int32"))
    kind = {"f32": "float32", "bool": "bool"}.get(elem, "int32")
    array = _elements(owner, name, values, kind)
    if kind == "float32":
        batch._put((table, number), array)
    elif kind == "bool":
        batch._add_bools(table, number, array.view("uint8"))
    else:
        batch._add_ints(table, number, array)


def _elements(owner, name, values, kind):
    try:
        return _arrays.elements(values, kind).reshape(-1)
    except (TypeError, ValueError) as error:
        raise CallError(f"{owner}: `{name}`: {error}") from None


def _dict_of(name, value):
    """A copy of what may be a dict or None."""
    if not isinstance(value, (Mapping, type(None))):
        raise CallError(f"`{name}` is a dict of arrays by name, not a `{type(value).__name__}`")
    return dict(value or {})


def columns(code, inputs, data, args):
    """A batch of flat arrays, see Model.columns."""
    batch = Batch(code)
    batch._begin_columns(inputs)
    batch._is_flat = True
    for name, given in _dict_of("data", data).items():
        table = _number_of(code.described["datas"], name)
        given = _dict_of(name, given)
        begin = _elements(name, "begin", given.pop("begin"), "int32") if "begin" in given else None
        if begin is None:
            raise CallError(f"{name}: `begin` is missing: the first node of each input, then the number of nodes")
        kind = given.pop("kind", None)
        try:
            batch._add_nodes(table, None if kind is None else _arrays.bytes_of(kind).reshape(-1), begin)
        except (TypeError, ValueError) as error:
            raise CallError(f"{name}: `kind`: {error}") from None
        for field, values in given.items():
            _fill_column(batch, table, name, field, values)
    for name, values in _dict_of("args", args).items():
        _fill_column(batch, batch._args, "arguments", name, values)
    return batch
