"""Asks for hover, definition and references at every name of models, and compares the answers. Part of dbc, under Apache-2.0
WITH LLVM-exception; see LICENSE.

usage: names.py DBC-LSP FILE..
"""
import re

from client import Document, check_files, path_of, position

RESERVED = "model module import dim const data record param layer fn cell entry loss let if else match in by while true false".split()
# Names of the language; nothing declares them.
LANGUAGE = """exp log sqrt abs sin cos tanh sigmoid relu gelu softplus square pow maximum minimum clip select dropout detach sum mean max min
logsumexp argmax any all softmax map scan scan_back fold log_softmax split transpose reshape zeros ones fill iota put slice topk conv2d
cross_entropy binary_cross_entropy len zip reverse nodes every f32 int bool index div axis stride padding uniform normal glorot""".split()


def names(text):
    """Where names stand: pairs of a character and the name. Comments, numbers and reserved words are none."""
    for found in re.finditer(r"//[^\n]*|/\*.*?\*/|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|[A-Za-z_]\w*", text, re.DOTALL):
        word = found.group()
        if re.match(r"[A-Za-z_]", word) and word != "_" and word not in RESERVED:
            yield found.start(), word


def key(place):
    return (place["uri"], place["range"]["start"]["line"], place["range"]["start"]["character"])


def check(server, path):
    """How many names there were; an assertion says what is wrong."""
    document = Document(server, path)
    lines = {document.uri: document.text.split("\n")}

    def text(place):
        """What stands at a location of one line; models and modules of the repository are ASCII."""
        uri, begin, end = place["uri"], place["range"]["start"], place["range"]["end"]
        if uri not in lines:
            with open(path_of(uri), encoding="ascii", newline="") as file:
                lines[uri] = file.read().split("\n")
        assert begin["line"] == end["line"]
        return lines[uri][begin["line"]][begin["character"] : end["character"]]

    assert document.diagnostics() == [] or all(d["severity"] > 1 for d in document.diagnostics()), document.diagnostics()
    seen = {}
    for at, name in names(document.text):
        where = f"{path}: `{name}` at {document.text.count(chr(10), 0, at) + 1}: {document.text[at:at + 30]!r}"
        assert document.hover(at), where + ": no hover"
        definitions, references = document.definition(at), document.references(at)
        own = key({"uri": document.uri, "range": {"start": position(document.text, at)}})
        keys = {key(place) for place in references}
        assert own in keys, where + ": its references are without itself"
        assert len(keys) == len(references), where + ": references come twice"
        for place in references:
            assert text(place) == name, f"{where}: a reference is `{text(place)}`"
        if not definitions:
            assert name in LANGUAGE, where + ": no definition"
        for place in definitions:
            assert key(place) in keys, f"{where}: its definition is none of its references"
        seen[own] = keys
    # Whoever is found from here finds its way back.
    for own, keys in seen.items():
        for other in keys:
            if other in seen:
                assert own in seen[other], f"{path}: {own} has the reference {other}, which has not"
    document.close()
    return len(seen)


if __name__ == "__main__":
    check_files(check, "names")
