"""Prints Sudokus for test/models/sudoku.dyn, a line each: 81 cells, of which each knows the 20 that it must differ from.

usage: sudoku.py [-n COUNT] [--seed SEED]

A solved grid is the usual pattern with its digits, rows and columns put in another order; 17 to 34 digits are left. Whether
the answer is the only one is not asked.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import argparse
import json
import random

BANDS = [range(0, 3), range(3, 6), range(6, 9)]


def near(cell):
    """The other cells of its row, column and box, in order."""
    row, col = divmod(cell, 9)
    for other in range(81):
        r, c = divmod(other, 9)
        if other != cell and (r == row or c == col or (r // 3, c // 3) == (row // 3, col // 3)):
            yield other


def shuffled(draw, items):
    return draw.sample(list(items), len(items))


def solved(draw):
    """A solved grid, digits from 0."""
    lines = [[i for band in shuffled(draw, BANDS) for i in shuffled(draw, band)] for _ in range(2)]
    digits = shuffled(draw, range(9))
    return [digits[(3 * (r % 3) + r // 3 + c) % 9] for r in lines[0] for c in lines[1]]


def puzzle(draw):
    answers = solved(draw)
    given = set(draw.sample(range(81), draw.randint(17, 34)))
    cells = []
    for cell, answer in enumerate(answers):
        fields = {"digit": answer + 1 if cell in given else 0, "row": cell // 9, "col": cell % 9, "near": list(near(cell)), "answer": answer}
        cells.append({"Cell": fields})
    return {"nodes": cells, "args": {"cells": list(range(81))}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1, help="how many")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for _ in range(options.n):
        print(json.dumps(puzzle(draw)))


main()
