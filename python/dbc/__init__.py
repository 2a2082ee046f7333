"""dbc for Python: models that are written for one input and compiled to run whole batches.

    model = dbc.load("tree_rnn.dyn", vocab=1000)
    model.classify([model.Node(left=model.Leaf(word=3), right=model.Leaf(word=8))])  # an array with a row for each input

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
from ._batches import Batch
from ._dbc import version as __version__
from ._errors import CallError, CompileError, Error, FileError, InputError, InternalError, LimitError, WeightsError
from ._model import Entry, Model, load
from ._optimizers import SGD, AdaGrad, Adam, AdamW
from ._report import Report
from ._results import Gradients, SparseGradient
from ._stub import write_stub

__all__ = ["AdaGrad", "Adam", "AdamW", "Batch", "CallError", "CompileError", "Entry", "Error", "FileError", "Gradients",
           "InputError", "InternalError", "LimitError", "Model", "Report", "SGD", "SparseGradient", "WeightsError", "load",
           "write_stub"]
