"""What torch.nn.functional.conv2d gives for the entry of convolution.dyn, in double precision; needs PyTorch.

usage: pytorch_convolution.py INPUTS.jsonl

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import sys

import torch


def rounded(x):
    return [rounded(y) for y in x] if isinstance(x, list) else round(x, 6)


for line in open(sys.argv[1]):
    x, K = (torch.tensor(json.loads(line)["args"][name], dtype=torch.float64) for name in "xK")
    options = [{}, {"padding": 1}, {"stride": 2}, {"stride": (2, 3), "padding": (2, 1)}]
    print(json.dumps([rounded(torch.nn.functional.conv2d(x[None], K, **each)[0].tolist()) for each in options]))
