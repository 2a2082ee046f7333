"""Entries and losses in networks of PyTorch. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

    loss = dbc.torch.as_function(model.nll)      # a torch.nn.Module whose parameters are the model's
    optimizer = torch.optim.Adam(loss.parameters())
    loss(trees).backward()
    optimizer.step()
"""
from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import _arrays, _names
from ._batches import Batch
from ._errors import CallError
from ._model import Entry, Model
from ._results import SparseGradient


class _Folder(torch.nn.Module):
    """Parameters under their paths: that of `fwd.W` is `W` of `fwd`. Names that mean something in a module, as `forward`, or are
    keywords of Python get `_` behind them."""

    def _register(self, parameters):
        """parameters: by path."""
        inner = {}
        for path, parameter in parameters.items():
            name, _, rest = path.partition(".")
            inner.setdefault(name, {})[rest] = parameter
        for name, attribute in _names.attributes(inner, dir(self)).items():
            if "" in inner[name]:
                self.register_parameter(attribute, inner[name][""])
            else:
                self.add_module(attribute, _Folder())
                self._modules[attribute]._register(inner[name])

    def forward(self):
        raise NotImplementedError


class Parameters(_Folder):
    """A model's parameters as those of PyTorch, in the same memory: what either side changes the other one has. float32, on the
    CPU. One object for each model: `parameters_of(model)`.

    The model takes over what was changed before whatever it is used for next. It goes by the versions that PyTorch counts, so
    what is written through `.data` or a NumPy view of a parameter is not seen before another change is."""

    def __init__(self, model):
        super().__init__()
        self._views = {path: torch.nn.Parameter(torch.from_numpy(model._loaded.param_view(number)))  # and no model: that has this
                       for number, (path, _, is_const) in enumerate(model._code.described["params"]) if not is_const}
        self._places = {path: each.data_ptr() for path, each in self._views.items()}
        self._versions = self._versions_now()
        self._register(self._views)

    def _versions_now(self):
        return [each._version for each in self._views.values()]

    def _changed(self):
        """Whether PyTorch says that a parameter has changed since this was asked before: the model asks before it is used."""
        for path, each in self._views.items():
            if each.data_ptr() != self._places[path]:
                raise CallError(f"the parameter `{path}` has been moved: those of a dbc model stay float32 on the CPU")
        before, self._versions = self._versions, self._versions_now()
        return self._versions != before


def parameters_of(model: Model | Entry) -> Parameters:
    """The `Parameters` of a model, or of that which an entry belongs to: the same ones each time."""
    if model._loaded.shared is None:
        model._loaded.shared = Parameters(model)
    return model._loaded.shared


def _tensor(gradient):
    """A gradient as a tensor of its own memory."""
    array = gradient.to_dense() if isinstance(gradient, SparseGradient) else gradient.copy()
    return torch.from_numpy(array)


class _Run(torch.autograd.Function):
    """Arguments: what to run, then the tensors that gradients are of: parameters, then `inputs`."""

    @staticmethod
    def forward(ctx, run, *tensors):
        ctx.run = run
        ctx.save_for_backward(*tensors)  # by which PyTorch refuses a backward() behind a change of them
        # PyTorch says of tensors alone what needs a gradient, under no_grad() too.
        result = run.forward(tensors[len(run.params):], run.wants_gradients and any(ctx.needs_input_grad))
        if not run.differentiable:
            ctx.mark_non_differentiable(*(result if isinstance(result, tuple) else (result,)))
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *cotangents):
        tensors = ctx.saved_tensors
        named, factor = ctx.run.backward(tensors[len(ctx.run.params):], cotangents[0])
        names = [*ctx.run.params, *(ctx.run.function._gradients.get(name) for name in ctx.run.inputs)]
        return (None, *(_tensor(named[name]) * factor if needed and name in named else None
                        for name, needed in zip(names, ctx.needs_input_grad[1:])))


def _refuse_changed(entry, version):
    """What computes again for gradients has the weights that it had: PyTorch does not see the changes that dbc makes."""
    if entry._loaded.version() != version:
        raise CallError(f"the weights have been changed since `{entry.name}` ran, whose gradients are wanted of them as they were")


class _LossRun:
    """One run of a loss and its gradients."""

    differentiable = True

    def __init__(self, function, batch, inputs, params):
        self.function, self.batch, self.inputs, self.params = function, batch, inputs, params
        self.gradients = None

    def forward(self, values, gradients):
        f = self.function
        f._fill(self.batch, self.inputs, values)
        self.version = f.entry._loaded.version()
        self.dropout = f.entry._loaded.next_dropout() if f.training else None
        count = len(self.batch)
        if f.reduction == "none" or not gradients:
            result = f.entry._call(self.batch, self.dropout)
            losses = result[0] if isinstance(result, tuple) else result
            losses = torch.from_numpy(losses.copy())
            return losses if f.reduction == "none" else losses.mean() if f.reduction == "mean" else losses.sum()
        weights = np.full(count, 1 / max(count, 1) if f.reduction == "mean" else 1, np.float32)
        value, _, self.gradients, _ = f.entry._value_and_grad(self.batch, weights, self.dropout)
        return torch.tensor(value, dtype=torch.float32)

    def backward(self, values, cotangent):
        """(gradients by name, what each of them is multiplied by)."""
        f = self.function
        if self.gradients is not None:
            return self.gradients, cotangent
        # Each loss has a factor of its own, known only now: computed again.
        _refuse_changed(f.entry, self.version)
        f._fill(self.batch, self.inputs, values)
        weights = _arrays.elements(cotangent.contiguous(), "float32")
        _, _, gradients, _ = f.entry._value_and_grad(self.batch, weights, self.dropout)
        return gradients, 1


class _EntryRun:
    """One run of an entry, with a loss that gives the gradient of what its result is multiplied by."""

    def __init__(self, function, batch, inputs, params):
        self.function, self.batch, self.inputs, self.params = function, batch, inputs, params
        self.differentiable = function.vjp is not None

    def forward(self, values, _):
        f = self.function
        f._fill(self.batch, self.inputs, values)
        self.version = f.entry._loaded.version()
        return _as_tensors(f.entry(self.batch))

    def backward(self, values, cotangent):
        f = self.function
        _refuse_changed(f.entry, self.version)
        f._fill(self.batch, [*self.inputs, f._cotangent], [*values, cotangent])
        weights = np.ones(len(self.batch), np.float32)
        _, _, named, _ = f.vjp._value_and_grad(self.batch, weights, None)
        return named, 1


def _as_tensors(result):
    if isinstance(result, np.ndarray):
        return torch.from_numpy(result.copy())
    raise CallError("an entry in a network gives a number or a tensor for each input")


class Function(torch.nn.Module):
    """What as_function gives: call it with inputs."""

    def __init__(self, entry, vjp, reduction):
        super().__init__()
        self.params = parameters_of(entry)
        self.entry, self.vjp, self.reduction = entry, vjp, reduction
        self._name_inputs()
        self._cotangent = vjp._described["args"][-1][0] if vjp is not None else None

    def forward(self, inputs: Any, **tensors: torch.Tensor) -> torch.Tensor:
        """inputs: as an entry takes them. tensors: values, with their gradients, of fields (`Tree_x=..` for `Tree.x`: a row for
        each node of the type, in the order of `batch.nodes("Tree")`; those of nodes without the field are passed over) and
        arguments (`y=..`: a row for each input); they replace what the batch has."""
        batch = (self.vjp or self.entry).batch(inputs)
        names = list(self.params._views)
        kind = _LossRun if self.entry.is_loss else _EntryRun
        run = kind(self, batch, list(tensors), names)
        run.wants_gradients = torch.is_grad_enabled()  # in forward() of a torch.autograd.Function it never is
        return _Run.apply(run, *self.params._views.values(), *tensors.values())

    def _name_inputs(self):
        """_columns: (table, column) of what forward() may be given, by name; _clashing: names of several; _gradients: the name of
        the gradient of each, where there is one."""
        code, loss = self.entry._code, (self.vjp or self.entry)._described
        batch = Batch(code)
        named = [(name, batch._args, column) for name, column in loss["arg_columns"]]
        for table, (data, _) in enumerate(code.described["datas"]):
            named += [(f"{data}_{column[0]}", table, number) for number, column in enumerate(batch._columns_of(table))]
        self._columns = {name: (table, column) for name, table, column in named}
        self._clashing = {name for name, table, column in named if self._columns[name] != (table, column)}
        gradients = {(table, column): name for name, table, column in loss["input_gradients"]}
        self._gradients = {name: gradients[where] for name, where in self._columns.items() if where in gradients}

    def _fill(self, batch, names, values):
        """Puts tensors into the batch in place of what it has."""
        for name, value in zip(names, values):
            if name in self._clashing:
                raise CallError(f"`{name}` is the name of several arguments and fields (DATA_FIELD): rename one of them in "
                                "the model")
            if name not in self._columns:
                raise CallError(f"`{name}` is neither an argument nor DATA_FIELD; there is " +
                                ", ".join(f"`{each}`" for each in self._columns))
            try:
                elements = _arrays.elements(value, "float32").reshape(-1)
            except (TypeError, ValueError) as error:
                raise CallError(f"`{name}`: {error}") from None
            batch._replace_floats(*self._columns[name], elements)

    def extra_repr(self):
        return repr(self.entry)


def as_function(entry: Entry, *, vjp: Entry | None = None, reduction: str = "mean") -> Function:
    """An entry or loss as a torch.nn.Module whose parameters are the model's.

    A loss of a model with mode="train" gives the mean over the inputs, their "sum", or with reduction="none" a loss for each,
    which costs a second run. Gradients are of parameters, and of fields and arguments that were named in `gradients` of
    dbc.load and are given as tensors. `train()` and `eval()` say whether it drops; what, goes by
    the `set_dropout` of the model.

    An entry gives its results. It has gradients where `vjp` is a loss that takes the entry's arguments and then one of the type
    of its result, and gives the sum of the products of both:
        loss pull(t: Tree, g: f32[hidden]) { sum(g * encode(t)) }
    """
    if reduction not in ("mean", "sum", "none"):
        raise CallError(f'`reduction` is "mean", "sum" or "none", not {reduction!r}')
    if vjp is not None and (entry.is_loss or not vjp.is_loss or vjp._loaded is not entry._loaded):
        raise CallError("`vjp` is a loss that gives the gradients of an entry, of the same model")
    return Function(entry, vjp, reduction)
