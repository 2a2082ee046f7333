"""Makes inputs of tagger.dyn from sentences in the form of Universal Dependencies (CoNLL-U): words and their parts of speech. A
word that occurs once in the training sentences, or only elsewhere, is Rare and spelt; the others are Common. Index 0 is every
letter that does not occur in training. `target` of an input is the list of its tags.

usage: convert.py TRAIN DEV OUT     files of sentences, .gz or not
Writes OUT/train.jsonl and OUT/dev.jsonl, and prints what the model's dims are.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import os
import sys
from collections import Counter

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from dataset import Vocabulary, open_text, write_lines

# The parts of speech of Universal Dependencies, version 2.
TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
COLUMNS = 10


def read_sentences(path):
    """Lists of (form, tag). A word that is written as several, and one that is not written, have no line of their own: their
    numbers are 3-4 and 8.1."""
    sentence, sentences = [], []
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            columns = line.rstrip("\n").split("\t")
            if len(columns) == COLUMNS and columns[0].isdigit():
                if columns[3] not in TAGS:
                    sys.exit(f"{path}:{number}: `{columns[3]}` is no part of speech")
                sentence.append((columns[1], columns[3]))
            elif not line.strip() and sentence:
                sentences.append(sentence)
                sentence = []
    return sentences + ([sentence] if sentence else [])


def as_input(sentence, words, letters):
    nodes, tags = [], [TAGS.index(tag) for _, tag in sentence]
    for (form, _), tag in zip(sentence, tags):
        if form in words:
            nodes.append({"Common": {"form": words[form], "tag": tag}})
        else:
            nodes.append({"Rare": {"letters": [letters[c] for c in form], "tag": tag}})
    return {"nodes": nodes, "args": {"ws": list(range(len(nodes)))}, "target": tags}


def main():
    parser = argparse.ArgumentParser()
    for name in ("train", "dev", "out"):
        parser.add_argument(name)
    options = parser.parse_args()

    train, dev = read_sentences(options.train), read_sentences(options.dev)
    occurs = Counter(form for sentence in train for form, _ in sentence)
    common = [form for form, times in occurs.items() if times > 1]
    words = {form: k for k, form in enumerate(common)}
    letters = Vocabulary()
    for form in occurs:
        for letter in form:
            letters.add(letter)
    for name, sentences in (("train", train), ("dev", dev)):
        write_lines(os.path.join(options.out, name + ".jsonl"), (as_input(s, words, letters) for s in sentences))
    print(f"-Dvocab={len(words)} -Dchars={len(letters)} -Dtags={len(TAGS)}")


main()
