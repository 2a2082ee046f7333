"""Universal Dependencies English EWT (dev) as inputs of examples/tagger: argument `ws`. A word that occurs once is Rare
and spelt, the others are Common.

usage: ud.py [COUNT]     words are numbered 0..1999, letters 0..99, tags 0..16

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
from collections import Counter

from common import Numbers, count_from_command_line, data_file, write


def sentences(file):
    """Lists of (form, tag)."""
    words = []
    for line in file:
        columns = line.rstrip("\n").split("\t")
        if len(columns) == 10 and columns[0].isdigit():  # neither 3-4 nor 8.1
            words.append((columns[1], columns[3]))
        elif line == "\n" and words:
            yield words
            words = []


def main():
    with data_file("ud_english_ewt", "en_ewt-ud-dev.conllu.gz") as file:
        text = list(sentences(file))
    occurs = Counter(form for words in text for form, _ in words)
    number, letter, tag = Numbers(2000), Numbers(100), Numbers(17)
    for words in text[: count_from_command_line(2001)]:
        nodes = []
        for form, pos in words:
            if occurs[form] == 1:
                nodes.append({"Rare": {"letters": [letter(c) for c in form], "tag": tag(pos)}})
            else:
                nodes.append({"Common": {"form": number(form), "tag": tag(pos)}})
        write(nodes, ws=list(range(len(nodes))))


main()
