"""Names of a model's things as Python has them. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import keyword


def a(name):
    """A name in quotes, with its article."""
    return f"{'an' if name[:1] in tuple('AEIOUaeiou') else 'a'} `{name}`"


def reserved(cls):
    """The names that a class has for itself, those of its objects included, which its annotations list."""
    return {*dir(cls), *cls.__annotations__}


def attributes(names, taken):
    """Under which attribute each of `names` stands: itself, with `_` behind it where it is a keyword of Python or in `taken`; with
    more of them where another one of `names` is called so."""
    names = list(names)
    taken = {*taken, *filter(keyword.iskeyword, names)}
    return dict(zip(names, _behind(names, taken)))


def _behind(names, taken):
    """`names` with `_` behind those in `taken`, so that no two are one."""
    found = []
    for name in names:
        made = name
        while made in taken or (made != name and made in names):
            made += "_"
        found.append(made)
    return found


def is_private(name):
    """Whether Python takes the name for that of a class alone, and changes it."""
    return name.startswith("__") and not name.endswith("__")


def of_fields(names):
    """The attributes of a node by which its fields are found: themselves, with `_` behind those that mean something to Python, as
    `__init__`."""
    special = {name for name in names if name.startswith("__") and name.endswith("__")}
    return _behind(names, special)


def of_parameters(names):
    """The parameters of a node's constructor, one a field: as `of_fields`, and no keywords nor `self`."""
    special = {name for name in names if name.startswith("__") and name.endswith("__") or keyword.iskeyword(name)}
    return _behind(names, {*special, "self"})


def of_model(described, cls):
    """The attributes of a model of class `cls`, by the names of its data types, constructors, entries and losses."""
    names = [data for data, _ in described["datas"]]
    names += [name for _, constructors in described["datas"] for name, _ in constructors]
    names += [entry["name"] for entry in described["entries"]]
    return attributes(dict.fromkeys(names), reserved(cls))
