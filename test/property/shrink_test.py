#!/usr/bin/env python3
# The shrinker of random programs: what it leaves still fails, and is little. Part of dbc, under Apache-2.0 WITH
# LLVM-exception; see LICENSE.
import collections
import unittest

from programs.declarations import Declarations
from programs.shrink import shrink
from programs.tree import merged


class Shrink(unittest.TestCase):
    def setUp(self):
        counts = collections.Counter()
        self.programs = [Declarations(number, 3, counts).program() for number in range(4)]

    def failing(self, word):
        """What `shrink` leaves of programs that fail wherever the word stands, and how many tries it took."""
        tries = []
        small = shrink(self.programs, lambda programs: tries.append(0) or word in merged(programs)[0], tries=1000)
        return merged(small)[0], len(tries)

    def test_keeps_the_failure_and_little_else(self):
        for word in ("sum(", "map(", "match"):
            self.assertIn(word, merged(self.programs)[0])
            text, _ = self.failing(word)
            self.assertIn(word, text)
            self.assertLess(len(text), len(merged(self.programs)[0]) / 8)
            self.assertEqual(1, text.count("entry ") + text.count("loss "), text)

    def test_keeps_programs_that_fail_only_together(self):
        both = lambda programs: {1, 3} <= {program.number for program in programs}
        self.assertEqual([1, 3], [program.number for program in shrink(self.programs, both, tries=40)])

    def test_stops_when_the_tries_are_spent(self):
        calls = []
        # One program fails, and nothing smaller does: all that is smaller would be tried.
        shrink(self.programs, lambda programs: calls.append(0) or len(calls) == 1, tries=7)
        self.assertEqual(7, len(calls))


if __name__ == "__main__":
    unittest.main()
