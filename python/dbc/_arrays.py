"""What becomes arrays of the runtime's types. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import numpy as np

_INT32 = np.iinfo(np.int32)


def elements(values, kind):
    """`values`, an array of any kind or nested lists, as a contiguous array of "float32", "int32" or "bool".

    No copy where it is one. Raises TypeError for other types and masked arrays, ValueError for numbers beyond the 32 bits and
    ragged lists.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("expected an array without a mask, found a masked one")
    array = np.asarray(values.detach() if hasattr(values, "detach") else values)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(kind)  # what NumPy makes of []
    allowed = {"float32": "fiu", "int32": "iu", "bool": "b"}[kind]
    if array.dtype.kind not in allowed:
        raise TypeError(f"expected an array of {kind}, found one of {array.dtype}")
    if kind == "int32" and array.dtype != np.int32 and array.size:
        if array.min() < _INT32.min or array.max() > _INT32.max:
            raise ValueError("an integer is outside the 32 bits that it has")
    with np.errstate(over="ignore"):
        made = np.require(array, kind, "C").reshape(array.shape)
    if kind == "float32" and array.dtype.itemsize > 4 and (np.isinf(made) & np.isfinite(array)).any():
        raise ValueError("a number is outside the 32 bits that it has")
    return made


def bytes_of(values):
    """Constructors, or bools, as a contiguous array of uint8."""
    array = np.asarray(values)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(np.uint8)  # what NumPy makes of []
    if array.dtype.kind not in "biu":
        raise TypeError(f"expected an array of uint8 or bool, found one of {array.dtype}")
    if array.size and array.dtype.kind != "b" and (array.min() < 0 or array.max() > 255):
        raise ValueError("a number is outside 0..255")
    return np.require(array, np.uint8, "C").reshape(array.shape)
