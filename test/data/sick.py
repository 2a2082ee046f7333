"""SICK (dev) as inputs of examples/sick: arguments `a`, `b`, `target`.

usage: sick.py [COUNT]     words are numbered 0..999

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
from common import Numbers, count_from_command_line, data_file, write


def add_tree(nodes, words, heads, number):
    """Appends a dependency tree; returns the number of its root. Heads count from 1, 0 is the root's."""
    first = len(nodes)
    children = [[] for _ in words]
    root = first
    for i, head in enumerate(heads):
        if head == 0:
            root = first + i
        else:
            children[head - 1].append(first + i)
    for word, below in zip(words, children):
        nodes.append({"Tree": {"word": number(word), "children": below}})
    return root


def target(score):
    """A score of 1..5 as a distribution over five classes with that mean (Tai et al. 2015)."""
    low = min(int(score), 4)
    return [low + 1 - score if k == low else score - low if k == low + 1 else 0 for k in range(1, 6)]


def main():
    number = Numbers(1000)
    names = ["a.toks", "a.parents", "b.toks", "b.parents", "sim.txt"]
    files = [data_file("sick", "dev", name) for name in names]
    for _, *lines in zip(range(count_from_command_line(500)), *files):
        words_a, heads_a, words_b, heads_b, score = [line.split() for line in lines]
        nodes = []
        a = add_tree(nodes, words_a, map(int, heads_a), number)
        b = add_tree(nodes, words_b, map(int, heads_b), number)
        write(nodes, a=a, b=b, target=target(float(score[0])))


main()
