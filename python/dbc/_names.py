"""Names of a model's things as Python has them. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import keyword


def reserved(cls):
    """The names that a class has for itself, those of its objects included, which its annotations list."""
    return {*dir(cls), *cls.__annotations__}


def attributes(names, taken):
    """Under which attribute each of `names` stands: itself, with `_` behind it where it is a keyword of Python or in `taken`; with
    more of them where another one of `names` is called so."""
    names = list(names)
    under = {}
    for name in names:
        found = name
        while keyword.iskeyword(found) or found in taken or (found != name and found in names):
            found += "_"
        under[name] = found
    return under


def of_model(described, cls):
    """The attributes of a model of class `cls`, by the names of its data types, constructors, entries and losses."""
    names = [data for data, _ in described["datas"]]
    names += [name for _, constructors in described["datas"] for name, _ in constructors]
    names += [entry["name"] for entry in described["entries"]]
    return attributes(dict.fromkeys(names), reserved(cls))
