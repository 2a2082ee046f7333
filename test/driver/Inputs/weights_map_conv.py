"""Whether conv.W of a file is the weights of three convolutions, permuted and reshaped each by itself.

usage: weights_map_conv.py FILE

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import sys

from state_dict import elements, read

weight = elements([6, 5, 3])  # out, in, position
one = [weight[(o * 5 + i) * 3 + k] for k in range(3) for o in range(6) for i in range(5)]
assert read(sys.argv[1])["conv.W"] == ([3, 18, 5], 3 * one)
