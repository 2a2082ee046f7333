"""Chinese lattices (dev) as inputs of test/models/lattice_lstm.dyn: arguments `f` and `b`, the sentence in either
direction.

usage: lattice.py [COUNT]     characters are numbered 0..1999, words 0..999, tags 0..17

A position's arcs are pairs (from, id): the one from the position before is the character itself, any other a word that
covers the characters from+1 up to it.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
from common import Numbers, count_from_command_line, data_file, write


def lattices(tokens):
    """For each lattice the glyphs and tags of its characters, and its words as (first, last, id), characters from 0."""
    read = map(int, tokens)
    for _ in range(next(read)):
        size = next(read)
        tags = [next(read) for _ in range(size)]
        glyphs, words = [], []
        for position in range(size):
            for _ in range(next(read)):
                start, name = next(read), next(read)
                if start == position - 1:
                    glyphs.append(name)
                else:
                    words.append((start, position - 1, name))
        yield glyphs, tags[1:], words


def add_chain(nodes, glyphs, tags, words):
    """Appends the characters of one direction, each after the one before it, and the words; returns the characters."""
    first = len(nodes)
    chars = list(range(first, first + len(glyphs)))
    ending = [[] for _ in glyphs]
    for i, (_, last, _) in enumerate(words):
        ending[last].append(first + len(glyphs) + i)
    for i, (glyph, tag) in enumerate(zip(glyphs, tags)):
        before = [first + i - 1] if i > 0 else []
        nodes.append({"Char": {"glyph": glyph, "before": before, "ending": ending[i], "tag": tag}})
    for start, _, form in words:
        nodes.append({"Word": {"form": form, "start": first + start}})
    return chars


def main():
    glyph, form = Numbers(2000), Numbers(1000)
    with data_file("lattice_ner", "edbatch_lattice.dev.txt") as file:
        tokens = file.read().split()
    for _, (glyphs, tags, words) in zip(range(count_from_command_line(113)), lattices(tokens)):
        glyphs = [glyph(g) for g in glyphs]
        words = [(start, last, form(name)) for start, last, name in words]
        n = len(glyphs)
        nodes = []
        f = add_chain(nodes, glyphs, tags, words)
        # Backwards, a word ends where it began.
        b = add_chain(nodes, glyphs[::-1], tags[::-1], [(n - 1 - last, n - 1 - start, w) for start, last, w in words])
        write(nodes, f=f, b=b[::-1])


if __name__ == "__main__":
    main()
