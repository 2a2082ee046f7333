"""Renames each declaration of models to a fresh name and back. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

usage: rename_all.py DBC-LSP FILE..
"""
from client import Document, Failed, apply, check_files, index
from names import names


def errors(document):
    return [d["message"] for d in document.diagnostics() if d["severity"] == 1]


def check(server, path):
    document = Document(server, path)
    original = document.text
    count = hiding = 0
    for at, name in names(original):
        here = [place for place in document.definition(at) if place["uri"] == document.uri and index(original, place["range"]["start"]) == at]
        # What an arm binds is declared where the definition is its field's: a renamed local shows it.
        if not here and not (document.definition(at) and "in an arm, field" in document.hover(at)):
            continue
        where = f"{path}: `{name}` in {original[at:at + 40]!r}"
        places = len(document.references(at))
        try:
            changes = document.rename(at, "fresh_name")
        except Failed as refused:  # `layer(x)` means `layer.call(x)`
            assert name == "call" and "has no function `call`" in str(refused), f"{where}: {refused}"
            continue
        assert list(changes) == [document.uri], where
        assert len(changes[document.uri]) <= places, where
        renamed = apply(original, changes[document.uri])
        document.put(renamed)
        assert errors(document) == [], f"{where}: {errors(document)}"
        place = next(at for at, word in names(renamed) if word == "fresh_name")
        # Where a field is bound under a new name, `field = fresh_name`, that is the place of the local.
        try:
            document.put(apply(renamed, document.rename(place, name)[document.uri]))
        except Failed as refused:  # a local that hid a name of the file is not made to do so again
            assert str(refused).startswith(f"`{name}` is in scope already"), f"{where}: {refused}"
            hiding += 1
            document.put(original)
        assert document.text == original, where
        count += 1
    assert hiding <= count // 10, f"{path}: {hiding} of {count} cannot be named back"
    document.close()
    return count


if __name__ == "__main__":
    check_files(check, "declarations")
