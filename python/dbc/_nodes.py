"""Classes of a model's nodes, one a constructor. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

They are made as text, as those of `dataclasses` are: to make a node costs a call and a test of each field.
"""
from . import _names
from ._errors import InputError


class _Absent:
    def __repr__(self):
        return "<not given>"


_ABSENT = _Absent()
_MOST = 2.0**128 - 2.0**103  # the smallest number that rounds to infinity in 32 bits


def _fast_test(field, local, own):
    """An expression that is true where a value surely fits; None where nothing is tested here. `own`: what names of the text that
    are no parameters begin with."""
    if field["form"] != "value" or field["shape"]:
        return None
    kind = f"{own}type({local})"
    return {
        "index": f"{kind} is {own}int and 0 <= {local} < {field['bound']}",
        "int": f"{kind} is {own}int and -2147483648 <= {local} <= 2147483647",
        "bool": f"{kind} is {own}bool",
        "f32": f"({kind} is {own}float or {kind} is {own}int) and -{_MOST!r} < {local} < {_MOST!r}",
        "node": f"{kind} in {own}types_{field['data']}",
    }[field["elem"]]


def _checker(model, constructor, name, field, bases):
    """What looks at a value that does not surely fit: raises, or gives it back."""
    elem, bound = field["elem"], field["bound"]

    def wrong(what):
        raise InputError(f"{model}: {constructor}: field `{name}`: {what}", field=name)

    def check(value):
        found = f"found {_names.a(type(value).__name__)}"
        if elem == "node":
            if not isinstance(value, bases[field["data"]]):
                other = hasattr(type(value), "_is_dbc_node") and not isinstance(value, tuple(bases))
                of = f" of a model `{type(value).__module__}` with other data types" if other else ""
                wrong(f"expected {_names.a(bases[field['data']].__name__)}, {found}{of}")
        elif elem == "bool":
            if not type(value).__name__.startswith("bool"):
                wrong(f"expected a bool, {found}")
        elif elem == "f32":
            if isinstance(value, (bool, str)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
                wrong(f"expected a number, {found}")
            if type(value) in (int, float) and _MOST <= abs(value) < float("inf"):
                wrong("a number is outside the 32 bits that it has")
        elif isinstance(value, bool) or not hasattr(value, "__index__"):
            wrong(f"expected an {f'index[{bound}]' if elem == 'index' else 'int'}, {found}")
        elif elem == "index" and not 0 <= value.__index__() < bound:
            wrong(f"index {value} is outside 0..{bound - 1}")
        elif not -(2**31) <= value.__index__() < 2**31:
            wrong("an integer is outside the 32 bits that it has")
        return value

    return check


def _repr(self):
    shown = []
    for name in type(self).__match_args__:
        value = getattr(self, name, _ABSENT)
        if value is not _ABSENT:  # nodes are not followed: they may be many, and in cycles
            shown.append(f"{name}=<{type(value).__name__}>" if hasattr(value, "_is_dbc_node") else f"{name}={value!r}")
    return f"{type(self).__name__}({', '.join(shown)})"


def _refuse(self, *_, **__):
    raise TypeError(f"`{type(self).__name__}` is a data type: a node is made by one of its constructors")


def _make_class(model, base, name, fields, bases, types):
    """One constructor's class. types: for each data type the set of the classes of its constructors."""
    names = [field[0] for field in fields]
    parameters = _names.of_parameters(names)
    own = "_"  # what is no parameter has a name that none has: fields may be called `type`
    while any(each.startswith(own) for each in parameters):
        own += "_"
    namespace = {own + "absent": _ABSENT, **{own + each.__name__: each for each in (type, int, float, bool)},
                 **{f"{own}types_{number}": each for number, each in enumerate(types)}}
    lines = [f"def __init__(self{''.join(f', {local}={own}absent' for local in parameters)}):"]
    for number, ((_, field), local) in enumerate(zip(fields, parameters)):
        test = _fast_test(field, local, own)
        lines.append(f"  if {local} is not {own}absent:")
        if test:
            namespace[f"{own}check_{number}"] = _checker(model, name, names[number], field, bases)
            lines.append(f"    if not ({test}): {own}check_{number}({local})")
        lines.append(f"    {own}set_{number}(self, {local})")
    lines.append("  pass")
    exec("\n".join(lines), namespace)
    init = namespace.pop("__init__")
    attributes = _names.of_fields(names)
    # Python calls a slot `__x` otherwise: it is made under a name that stays, and found by its own.
    slots = [f"{own}{number}__" if _names.is_private(each) else each for number, each in enumerate(attributes)]
    cls = type(name, (base,), {"__slots__": tuple(slots), "__match_args__": tuple(attributes), "__init__": init,
                               "__module__": model, "__doc__": f"A node `{name}` of the model `{model}`."})
    init.__qualname__ = f"{name}.__init__"
    for number, (slot, attribute) in enumerate(zip(slots, attributes)):
        if slot != attribute:
            setattr(cls, attribute, cls.__dict__[slot])
        namespace[f"{own}set_{number}"] = cls.__dict__[slot].__set__
    return cls


class Nodes:
    """classes: for each data type those of its constructors; bases: for each data type that which they are derived from."""

    def __init__(self, described):
        model = described["name"]
        self.bases = [type(data, (), {"__slots__": (), "__module__": model, "_is_dbc_node": True, "__repr__": _repr,
                                      "__init__": _refuse, "__doc__": f"What a node of `{data}` is an instance of."})
                      for data, _ in described["datas"]]
        self.classes = []
        types = [set() for _ in self.bases]
        for number, (_, constructors) in enumerate(described["datas"]):
            made = [_make_class(model, self.bases[number], name, fields, self.bases, types) for name, fields in constructors]
            types[number].update(made)
            self.classes.append(made)
        for base in self.bases:
            base._dbc_nodes = self  # while there are nodes, the next load of such a model finds their classes
