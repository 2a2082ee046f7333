# Which constructs must occur how often. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

LEAST = 10

# The language, construct by construct; a tag of the grammar that is missing here is a mistake.
REQUIRED = {
    "declarations": [
        "dim", "dim of the command line", "dim of dims", "number const", "tensor const", "param", "initialiser number", "initialiser uniform",
        "initialiser normal", "initialiser glorot", "record", "data with one constructor", "data with several constructors", "mutually recursive types",
        "field of numbers", "field of a list of numbers", "field of a node", "field of a list of nodes", "fn with dims", "fn of records", "fn of lists",
        "fn on nodes", "fn call", "layer", "own layer", "cell of a layer"],
    "cells and entries": [
        "cell", "mutually recursive cells", "call of a cell", "cell of vec", "cell of f32", "cell of mat", "cell of rec", "cell of lst", "cell of tup",
        "cell of list", "entry for the root", "entry for every node", "entry for every list element", "entry of a list", "entry of a list of numbers",
        "entry on several arguments", "nodes", "loss", "loss for every node", "loss with outputs"],
    "structure": [
        "match", "arm for the rest", "structural if", "structural else if", "equality of nodes", "comparison of ints", "comparison of indices",
        "bool of the input", "and", "or", "not", "len of a list", "any over a list", "all over a list", "int arithmetic", "div", "remainder",
        "index conversion", "let", "let with a type", "let of a list", "let of a tuple", "tuple", "record field"],
    "lists": [
        "map", "sum over a list", "mean over a list", "max over a list", "min over a list", "logsumexp over a list", "softmax over a list",
        "argmax over a list", "scan of a tensor", "scan of a record", "scan of a tuple", "scan_back of a tensor", "scan_back of a record",
        "scan_back of a tuple", "fold of a tensor", "fold of a number", "fold of a record", "fold of a tuple", "fold of a matrix", "zip of lists",
        "zip of two lists", "zip with a range", "range", "reverse", "sum(xs)", "max(xs)", "mean(xs)", "element of list", "element of list from the end",
        "element of list by len", "list from a place", "list up to a place", "attention"],
    "tensors": [
        "add", "subtract", "multiply", "divide", "negate", "scale", "exp", "log", "sqrt", "abs", "sin", "cos", "tanh", "sigmoid", "relu", "gelu",
        "softplus", "square", "pow", "maximum", "minimum", "clip", "select by structure", "select by value", "logic of tensors", "detach",
        "sum of tensor", "mean of tensor", "max of tensor", "min of tensor", "logsumexp of tensor", "argmax of tensor", "any of tensor", "all of tensor",
        "sum along an axis", "mean along an axis", "max along an axis", "min along an axis", "logsumexp along an axis", "argmax along an axis",
        "any along an axis", "all along an axis", "softmax", "softmax along an axis", "log_softmax", "log_softmax along an axis", "split", "join",
        "join of numbers", "transpose", "reshape", "broadcast", "zeros", "ones", "fill", "iota", "slice of tensor", "slice of matrix",
        "element of tensor", "element from the end", "element of matrix", "element by index", "row of a param", "row of a matrix", "tensor of indices",
        "int to f32", "index to f32", "bool to number", "literal", "product", "product of matrices", "product of stacked matrices", "grouped product",
        "vector times matrix", "dot", "bilinear form", "matrix of a value", "matrix state", "cross_entropy of an index",
        "cross_entropy of a distribution", "binary_cross_entropy"],
    "library": [
        "nn.Linear", "nn.Embedding", "nn.LayerNorm", "nn.LSTM start", "nn.LSTM step", "nn.LSTM run", "nn.LSTM last", "nn.GRU", "nn.GRU start",
        "nn.BiLSTM", "nn.BiLSTM ends", "nn.TreeLSTM", "nn.ChildSum", "nn.NaryTreeLSTM", "nn.Attention", "nn.attend", "nn.GraphConv", "nn.CRF",
        "nn.CRF nll"],
}


def table(counts):
    """Prints how often each construct occurred and returns what is wrong with that, in words."""
    required = [tag for tags in REQUIRED.values() for tag in tags]
    for group, tags in REQUIRED.items():
        print(f"{group}: " + ", ".join(f"{tag} {counts[tag]}" for tag in tags))
    rare = [f"`{tag}` occurred {counts[tag]} times, fewer than {LEAST}" for tag in required if counts[tag] < LEAST]
    return rare + [f"`{tag}` is not in the list of what must occur" for tag in sorted(set(counts) - set(required))]
