"""The Stanford Sentiment Treebank (dev) as inputs of examples/tree_lstm: argument `t`.

usage: sst.py [COUNT]     words are numbered 0..1999

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import re

from common import Numbers, count_from_command_line, data_file, write


def read(line, number):
    """The nodes of one tree, children before parents: the last is the root."""
    nodes, open_labels, children = [], [], [[]]
    tokens = re.findall(r"[()]|[^()\s]+", line)
    i = 0
    while i < len(tokens):
        if tokens[i] == "(":
            open_labels.append(int(tokens[i + 1]))
            children.append([])
            i += 2
            continue
        if tokens[i] == ")":
            label, below = open_labels.pop(), children.pop()
            if isinstance(below[0], str):
                nodes.append({"Leaf": {"word": number(below[0]), "label": label}})
            else:
                nodes.append({"Node": {"left": below[0], "right": below[1], "label": label}})
            children[-1].append(len(nodes) - 1)
        else:
            children[-1].append(tokens[i])
        i += 1
    return nodes


def main():
    number = Numbers(2000)
    with data_file("sst", "dev.txt") as file:
        for _, line in zip(range(count_from_command_line(1101)), file):
            nodes = read(line, number)
            write(nodes, t=len(nodes) - 1)


if __name__ == "__main__":
    main()
