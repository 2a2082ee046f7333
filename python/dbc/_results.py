"""Shapes of results. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
from __future__ import annotations

import collections
import collections.abc
import functools
import keyword
from typing import Any, Iterator

import numpy as np


@functools.lru_cache(maxsize=None)
def _record_type(name, names):
    return collections.namedtuple(name, [n + "_" if keyword.iskeyword(n) else n for n in names], rename=True)


def record(name, names, values):
    """A record of the model, as a named tuple."""
    return _record_type(name, names)._make(values)


class SparseGradient:
    """The gradient of a table of which rows were looked up: that of row `rows[i]` is `values[i]`, others are 0."""

    __slots__ = ("rows", "values", "height")

    def __init__(self, rows, values, height):
        self.rows = rows
        self.values = values
        self.height = height

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.height, *self.values.shape[1:])

    def to_dense(self) -> np.ndarray[Any, Any]:
        """A new array of the table's shape."""
        dense = np.zeros(self.shape, self.values.dtype)
        dense[self.rows] = self.values
        return dense

    def __array__(self, dtype=None, copy=None):
        return self.to_dense().astype(dtype or self.values.dtype, copy=False)

    def __repr__(self):
        return f"SparseGradient({len(self.rows)} of {self.height} rows)"


class Gradients(collections.abc.Mapping[str, Any]):
    """Gradients by name: of parameters ("fwd.W"), of fields ("Tree.x") and arguments ("nll.y") that were asked for.

    The arrays show the memory that an optimizer's step reads: what is changed in them is what it goes by. `result` is what the
    loss gave for each input.
    """

    def __init__(self, named, kept, result):
        self._named = named
        self._kept = kept
        self.result = result

    def __getitem__(self, name: str) -> Any:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __repr__(self):
        return "Gradients(" + ", ".join(self._named) + ")"
