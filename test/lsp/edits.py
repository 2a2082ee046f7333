"""Changes a model at random while all is asked for. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

usage: edits.py DBC-LSP FILE CHANGES SEED
"""
import json
import random
import sys

from client import Document, Failed, Server

PIECES = """model module import nn dim const param data record layer fn cell entry loss let if else match in by while true false _ x t Leaf State h
encode ( ) [ ] { } , ; : . .. = == => -> + - * / % @ ! && || < 0 1 2.5 1e3 // /* */ f32 int index sum map scan softmax split axis""".split()
PIECES += ["\n", "\r\n", "\r", " ", "\t", "\u00e9", "\u03b1\u03b2", "\u4e2d", "\U0001f333", "// \U0001f333 \u00e9\n", "/* \u4e2d */", "\x00", "\x7f"]
BOUND = 2.0  # seconds that any answer may take, on a machine that does other things too


def changed(document, draw, original):
    """One change: mostly small ones, at times a jump or the text that parses."""
    text = document.text
    begin = draw.randrange(len(text) + 1)
    kind = draw.random()
    if kind < 0.02 or len(text) > 3 * len(original):
        return document.put(original)
    if kind < 0.03:
        return document.put("".join(draw.choice(PIECES) for _ in range(draw.randrange(40))))
    if kind < 0.2:  # back to the original by one edit
        return document.replace(0, len(text), original)
    end = min(len(text), begin + int(draw.expovariate(0.3)))
    if kind < 0.3:
        end = begin
    if text[begin - 1 : begin] == "\r" or text[end - 1 : end] == "\r":  # no position inside of a line end
        return document.put(original)
    return document.replace(begin, end, " ".join(draw.choice(PIECES) for _ in range(draw.randrange(3))))


def ask(document, draw):
    """One request, which may be refused, but in words."""
    at = draw.randrange(len(document.text) + 1)
    request = draw.choice(["hover", "definition", "references", "completion", "prepareRename", "rename", "symbols", "formatting", "nowhere"])
    try:
        if request == "references":
            document.references(at)
        elif request == "rename":
            document.rename(at, draw.choice(["fresh", "hidden", "let", "1x", ""]))
        elif request == "symbols":
            document.query("documentSymbol")
        elif request == "formatting":
            document.query("formatting")
        elif request == "nowhere":
            where = {"line": draw.choice([-1, 0, 7, 2**31 - 1]), "character": draw.choice([-5, 0, 10**6])}
            for method in ("hover", "completion", "definition"):
                document.server.ask("textDocument/" + method, {"textDocument": {"uri": document.uri}, "position": where})
        else:
            document.ask(request, at)
    except Failed as refused:
        assert request in ("prepareRename", "rename") and refused.code == -32803, f"{request}: {refused.code}: {refused}"


def main():
    path, changes, seed = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print(f"seed {seed}")
    draw = random.Random(seed)
    server = Server(sys.argv[1])
    document = Document(server, path)
    original = document.text
    early = None
    for number in range(changes):
        changed(document, draw, original)
        ask(document, draw)
        if number % 500 == 499 or number == changes // 2:  # the server has the text that we have
            other = Document(server, path + ".copy", document.text)
            theirs = json.loads(json.dumps(other.diagnostics()).replace(other.uri, document.uri))
            assert theirs == document.diagnostics(), f"change {number}: the texts differ: {theirs} {document.diagnostics()}"
            other.close()
            early = early or server.memory()
    document.put(original)
    assert document.diagnostics() == [], document.diagnostics()
    memory = server.memory()
    assert memory < early + 10, f"memory grew from {early:.0f} to {memory:.0f} MiB"
    assert server.slowest < BOUND, f"an answer took {server.slowest:.2f} s"
    print(f"{changes} changes, slowest answer {1000 * server.slowest:.0f} ms, memory {memory:.0f} MiB")
    assert server.stop() == 0


main()
