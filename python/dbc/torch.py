"""Entries and losses in networks of PyTorch. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

    loss = dbc.torch.as_function(model.nll)      # a torch.nn.Module whose parameters are the model's
    optimizer = torch.optim.Adam(loss.parameters())
    loss(trees).backward()
    optimizer.step()
"""
from __future__ import annotations

import copy
import weakref
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from . import _arrays, _names
from ._arguments import of_kind, one_of
from ._batches import Batch
from ._errors import CallError
from ._model import Entry, Model
from ._results import SparseGradient


class _Folder(torch.nn.Module):
    """Parameters under their paths: that of `fwd.W` is `W` of `fwd`. Names that mean something in a module, as `forward`, or are
    keywords of Python get `_` behind them. Called it gives what is registered by now, by path: hooks and parametrizations have been
    at it."""

    def __init__(self, parameters, before=""):
        """parameters: by path behind `before`."""
        super().__init__()
        self._leaves, self._folders = {}, []  # path: attribute
        inner = {}
        for path, parameter in parameters.items():
            name, _, rest = path.partition(".")
            inner.setdefault(name, {})[rest] = parameter
        for name, attribute in _names.attributes(inner, {*dir(self), *_names.reserved(type(self))}).items():
            if "" in inner[name]:
                self.register_parameter(attribute, inner[name][""])
                self._leaves[before + name] = attribute
            else:
                self.add_module(attribute, _Folder(inner[name], before + name + "."))
                self._folders.append(attribute)

    def forward(self):
        found = {path: (self, attribute, getattr(self, attribute, None)) for path, attribute in self._leaves.items()}
        for folder in self._folders:
            found.update(getattr(self, folder)())
        return found


class Parameters(_Folder):
    """A model's parameters as those of PyTorch, in the same memory: what either side changes the other one has. float32, on the
    CPU. One object for each model: `parameters_of(model)`.

    The model takes over what was changed before whatever it is used for next. It goes by the versions that PyTorch counts, and a
    step of any torch.optim.Optimizer that has a parameter counts as a change of it: those with fused=True, and ones that write
    through `.data`, count nothing themselves. What else is written through `.data` or a NumPy view of a parameter is not seen
    before another change is.

    PyTorch may register other tensors in place of these, as `torch.func.functional_call`, `load_state_dict(assign=True)` and
    parametrizations do. A module of `as_function` then computes with those, and has gradients of them; each run puts them into the
    model and the model's own back, and packs all weights for it. The model itself cannot be used meanwhile: see `take_over`."""

    _memory: dict[str, torch.Tensor] | None  # of the model's weights by path; of a copy there is none
    _views: list[torch.nn.Parameter]  # all that ever showed this memory: their versions say when it was changed
    _versions: list[int]  # of the views when this was asked before
    _found: tuple | None  # (dicts of registered parameters, these, their ids and addresses), where all were the model's memory
    _places: dict[str, tuple[int, int, torch.Size]]  # by path: number, address and shape of the model's weights

    def __init__(self, model):
        loaded, params = model._loaded, model._code.described["params"]  # not kept: the model has this
        numbers = {path: number for number, (path, _, is_const) in enumerate(params) if not is_const}
        memory = {path: torch.from_numpy(loaded.param_view(number)) for path, number in numbers.items()}
        views = {path: torch.nn.Parameter(each.detach()) for path, each in memory.items()}
        super().__init__(views)
        self._memory, self._views = memory, list(views.values())
        self._versions, self._found = self._versions_now(), None
        self._places = {path: (numbers[path], each.data_ptr(), each.shape) for path, each in memory.items()}
        _ALL.add(self)

    def __deepcopy__(self, memo):
        """Parameters in memory of their own. Modules that have them run the same model, with these in place of its own."""
        made = memo[id(self)] = self.__class__.__new__(self.__class__)
        made.__setstate__(copy.deepcopy(self._of_copy(), memo))
        return made

    def _of_copy(self):
        return {**vars(self), "_memory": None, "_views": [], "_versions": [], "_found": None}

    __getstate__ = _of_copy

    def __setstate__(self, state):
        super().__setstate__(state)
        _ALL.add(self)

    def _count_change(self, held):
        """Counts a change of those of the parameters whose ids are in `held`."""
        for tensor in {id(each): each for each in (*self._views, *self.parameters())}.values():
            if id(tensor) in held:
                torch.autograd.graph.increment_version(tensor)

    def _versions_now(self):
        return [each._version for each in self._views]

    def _changed(self):
        """Whether PyTorch says that the model's memory has changed since this was asked before: before each use of the model."""
        return self._take_versions(self._versions_now())

    def _take_versions(self, now):
        if now == self._versions:
            return False
        self._versions = now  # a module looks at what it is given for long
        return True

    def _changed_by_itself(self):
        """The same, before each use of the model by itself. Raises CallError where a parameter is not the model's memory."""
        now = self._versions_now()
        if now == self._versions and self._found is not None and self._is_as_found():
            return False
        self._find()
        return self._take_versions(now)

    def _is_as_found(self):
        """Whether the same tensors are registered, in the same memory: nearly always, and each call of a model waits for this. What
        else becomes of a tensor has another version."""
        registered, tensors, ids, places = self._found
        return [id(each) for folder in registered for each in folder.values()] == ids and [each.data_ptr() for each in tensors] == places

    def _find(self):
        self._found = None
        for path, (*_, tensor) in self().items():
            if not self._is_in_place(path, tensor):
                raise CallError(f"the parameter `{path}` is a tensor that is not the model's: modules of dbc.torch compute with "
                                "it, and `dbc.torch.parameters_of(model).take_over()` makes it the model's")
        registered = [each._parameters for each in self.modules()]
        tensors = [each for folder in registered for each in folder.values()]
        if all(isinstance(each, torch.Tensor) for each in tensors):
            self._found = registered, tensors, [id(each) for each in tensors], [each.data_ptr() for each in tensors]

    def _is_in_place(self, path, tensor):
        """Whether a tensor is the model's memory of a parameter. Raises CallError for what can be no parameter of the model."""
        _, place, shape = self._places[path]
        if not isinstance(tensor, torch.Tensor):
            raise CallError(f"the parameter `{path}` is no tensor any more")
        if tensor.dtype != torch.float32 or tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise CallError(f"the parameter `{path}` is {str(tensor.dtype)[6:]} on {tensor.device}: those of a dbc model stay "
                            "float32 on the CPU")
        if tensor.shape != shape:
            raise CallError(f"the parameter `{path}` has the shape {list(tensor.shape)}, not {list(shape)}")
        return tensor.data_ptr() == place and tensor.is_contiguous()

    def _substitutes(self, tensors):
        """Of tensors in the order of the model's parameters the values of those that are not the model's memory, by number."""
        return {number: _arrays.elements(tensor, "float32").reshape(-1)
                for (path, (number, *_)), tensor in zip(self._places.items(), tensors) if not self._is_in_place(path, tensor)}

    def take_over(self) -> None:
        """Gives the model the values of parameters that were registered in place of its own, as by `load_state_dict(assign=True)`,
        and makes them show the model's memory: they are the same objects, with which an optimizer goes on. Raises CallError, and
        changes nothing, for those that PyTorch computes, as by a parametrization: that is to be removed first."""
        if self._memory is None:
            raise CallError("these are a copy's parameters: those of the model are `dbc.torch.parameters_of(model)`")
        replaced = {}
        for path, (folder, attribute, tensor) in self().items():
            if self._is_in_place(path, tensor):
                continue
            if folder._parameters.get(attribute) is not tensor:
                raise CallError(f"the parameter `{path}` is computed by PyTorch: remove its parametrization or hook first")
            replaced[path] = tensor
        for path, tensor in replaced.items():
            self._memory[path].copy_(tensor.detach())
            tensor.data = self._memory[path]
            self._views.append(tensor)


_ALL: weakref.WeakSet[Parameters] = weakref.WeakSet()  # those of copies too


def _count_step(optimizer, *_):
    """Behind each step of an optimizer of PyTorch's: not every one counts what it changes."""
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    for parameters in tuple(_ALL):
        parameters._count_change(held)


register_optimizer_step_post_hook(_count_step)


def parameters_of(model: Model | Entry) -> Parameters:
    """The `Parameters` of a model, or of that which an entry belongs to: the same ones each time."""
    if not isinstance(model, Entry):
        of_kind("parameters are of", model, Model)
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
        result = run.forward(tensors[:run.count], tensors[run.count:], run.wants_gradients and any(ctx.needs_input_grad))
        if not run.differentiable:
            ctx.mark_non_differentiable(*(result if isinstance(result, tuple) else (result,)))
        return result

    @staticmethod
    def backward(ctx, *cotangents):
        tensors, run = ctx.saved_tensors, ctx.run
        if torch.is_grad_enabled():  # else what comes of these gradients would count as a constant
            raise CallError(f"`{run.function.entry.name}` has no second derivatives, for which create_graph=True asks")
        named, factor = run.backward(tensors[:run.count], cotangents[0])
        names = [*run.function.params._places, *(run.function._gradients.get(name) for name in run.inputs)]
        return (None, *(_tensor(named[name]) * factor if needed and name in named else None
                        for name, needed in zip(names, ctx.needs_input_grad[1:])))


def _refuse_changed(entry, version):
    """What computes again for gradients has the weights that it had: PyTorch does not see the changes that dbc makes."""
    if entry._loaded.version() != version:
        raise CallError(f"the weights have been changed since `{entry.name}` ran, whose gradients are wanted of them as they were")


class _RunOf:
    """What belongs to one run of a function, and to its gradients."""

    differentiable = True

    def __init__(self, function, batch, inputs):
        self.function, self.batch, self.inputs, self.count = function, batch, inputs, len(function.params._places)

    def _begin(self, params, values, computes_again):
        """What stands for weights in the run; the batch has its tensors then. `computes_again`: _again() will be called."""
        function, version = self.function, self.function.entry._loaded.version()
        substitutes = function.params._substitutes(params)
        given = function._elements(self.inputs, values)
        for where, elements in given.items():
            self.batch._put(where, elements)
        if computes_again:
            self.version, self.given, self.others = version, given, self.batch._others(given)
        return substitutes

    def _again(self, loss, params, cotangent, weights, dropout):
        """The gradients by name, of a run with the weights and the numbers that the first one had. cotangent: by column."""
        function = self.function
        _refuse_changed(function.entry, self.version)
        substitutes = function.params._substitutes(params)
        read = {where: name for name, where in function._columns.items()}
        with self.batch._as_before(function.entry.name, self.others, {**self.given, **cotangent}, read):
            return loss._value_and_grad(self.batch, weights, dropout, substitutes)[2]


class _LossRun(_RunOf):
    """One run of a loss and its gradients."""

    gradients = None

    def forward(self, params, values, gradients):
        f = self.function
        substitutes = self._begin(params, values, gradients and f.reduction == "none")
        self.dropout = f.entry._loaded.next_dropout() if f.training else None
        if f.reduction == "none" or not gradients:
            result = f.entry._call(self.batch, self.dropout, substitutes)
        else:
            ones = np.ones(len(self.batch), np.float32)
            _, result, self.gradients, _ = f.entry._value_and_grad(self.batch, ones, self.dropout, substitutes)
        losses = torch.from_numpy((result[0] if isinstance(result, tuple) else result).copy())
        return losses if f.reduction == "none" else losses.mean() if f.reduction == "mean" else losses.sum()

    def backward(self, params, cotangent):
        """(gradients by name, what each of them is multiplied by)."""
        f = self.function
        if self.gradients is not None:  # of the sum
            return self.gradients, cotangent / max(len(self.batch), 1) if f.reduction == "mean" else cotangent
        # Each loss has a factor of its own, known only now: computed again.
        weights = _arrays.elements(cotangent.contiguous(), "float32")
        return self._again(f.entry, params, {}, weights, self.dropout), 1


class _EntryRun(_RunOf):
    """One run of an entry, with a loss that gives the gradient of what its result is multiplied by."""

    def __init__(self, function, batch, inputs):
        super().__init__(function, batch, inputs)
        self.differentiable = function.vjp is not None

    def forward(self, params, values, gradients):
        substitutes = self._begin(params, values, gradients and self.differentiable)
        return _as_tensors(self.function.entry._call(self.batch, None, substitutes))

    def backward(self, params, cotangent):
        f = self.function
        weights = np.ones(len(self.batch), np.float32)
        return self._again(f.vjp, params, f._elements([f._cotangent], [cotangent]), weights, None), 1


def _as_tensors(result):
    if isinstance(result, np.ndarray):
        return torch.from_numpy(result.copy())
    raise CallError("an entry in a network gives a number or a tensor for each input")


def _leaves(named):
    """The components of types with names, in the order of their columns."""
    for _, kind in named:
        if kind["form"] == "value":
            yield kind
        else:
            yield from _leaves((None, each) for each in kind["elements"])


class Function(torch.nn.Module):
    """What as_function gives: call it with inputs."""

    def __init__(self, entry, vjp, reduction):
        super().__init__()
        self.params = parameters_of(entry)
        self.entry, self.vjp, self.reduction = entry, vjp, reduction
        self._name_inputs()

    @torch.compiler.disable  # it would trace into objects of the extension
    def forward(self, inputs: Any, /, **tensors: torch.Tensor) -> torch.Tensor:
        """inputs: as the entry takes them. tensors: values, with their gradients, of fields (`Tree_x=..` for `Tree.x`: a row for
        each node of the type, in the order of `batch.nodes("Tree")`; those of nodes without the field are passed over) and
        arguments (`y=..`: a row for each input); they replace what the batch has, for later runs too. Raises InputError where inputs
        do not fit the model, and CallError for tensors that are not called or shaped so, or whose gradients the model does not
        have."""
        batch = self.entry.batch(inputs)
        registered = self.params()
        kind = _LossRun if self.entry.is_loss else _EntryRun
        run = kind(self, batch, list(tensors))
        run.wants_gradients = torch.is_grad_enabled()  # in forward() of a torch.autograd.Function it never is
        for name, value in tensors.items():
            self._check_tensor(batch, name, value, run.wants_gradients and run.differentiable)
        return _Run.apply(run, *(registered[path][2] for path in self.params._places), *tensors.values())

    def __deepcopy__(self, memo):
        """One with parameters of its own, of the same model: see `Parameters.__deepcopy__`."""
        for entry in (self.entry, self.vjp):
            memo[id(entry)] = entry
        made = memo[id(self)] = self.__class__.__new__(self.__class__)
        made.__dict__.update(copy.deepcopy(vars(self), memo))
        return made

    def _name_inputs(self):
        """_columns: (table, column) of what forward() may be given, by name; _shapes: of a value; _clashing: names of several;
        _gradients: the name of the gradient of each, where there is one; _cotangent: what `vjp` multiplies by."""
        code, loss = self.entry._code, (self.vjp or self.entry)._described
        batch = Batch(code)
        named = [(name, batch._args, column) for name, column in loss["arg_columns"]]
        for table, (data, _) in enumerate(code.described["datas"]):
            named += [(f"{data}_{column[0]}", table, number) for number, column in enumerate(batch._columns_of(table))]
        self._columns = {name: (table, column) for name, table, column in named}
        self._shapes = {name: leaf["shape"] for (name, _), leaf in zip(loss["arg_columns"], _leaves(loss["args"]))}
        for data, constructors in code.described["datas"]:
            self._shapes.update((f"{data}_{name}", next(_leaves([(name, field)]))["shape"])
                                for _, fields in constructors for name, field in fields)
        self._clashing = {name for name, table, column in named if self._columns[name] != (table, column)}
        self._cotangent = loss["args"][-1][0] if self.vjp is not None else None
        if self._cotangent is not None:
            self._refuse_clashing(self._cotangent)
        gradients = {(table, column): name for name, table, column in loss["input_gradients"]}
        self._gradients = {name: gradients[where] for name, where in self._columns.items() if where in gradients}

    def _refuse_clashing(self, name):
        if name in self._clashing:
            raise CallError(f"`{name}` is the name of several arguments and fields (DATA_FIELD): rename one of them in the model")

    def _check_tensor(self, batch, name, value, wants_gradients):
        """Raises CallError for a tensor that is not for this batch."""
        self._refuse_clashing(name)
        known = [each for each in self._columns if each != self._cotangent]
        if name not in known:
            raise CallError(f"`{name}` is neither an argument nor DATA_FIELD; there is " + ", ".join(f"`{each}`" for each in known))
        if not isinstance(value, torch.Tensor):
            raise CallError(f"`{name}` is a tensor, not a `{type(value).__name__}`")
        table, column = self._columns[name]
        _, elem, _, depth, _ = batch._columns_of(table)[column]
        if elem != "f32" or depth > 0:
            raise CallError(f"`{name}` is no field or argument of numbers")
        shape = (batch._rows(table), *self._shapes[name])
        if value.shape != shape:
            of = "input" if table == batch._args else f"node of `{self.entry._code.described['datas'][table][0]}`"
            raise CallError(f"`{name}` has the shape {list(value.shape)}, not {list(shape)}: a row for each {of}")
        if wants_gradients and value.requires_grad and name not in self._gradients:
            raise CallError(f"the model has no gradient of `{name}`: name it in `gradients` of dbc.load, or give `{name}.detach()`")

    def _elements(self, names, values):
        """The numbers of tensors, by the columns that they go into."""
        found = {}
        for name, value in zip(names, values):
            try:
                found[self._columns[name]] = _arrays.elements(value, "float32").reshape(-1)
            except (TypeError, ValueError) as error:
                raise CallError(f"`{name}`: {error}") from None
        return found

    def extra_repr(self):
        return repr(self.entry)


def as_function(entry: Entry, *, vjp: Entry | None = None, reduction: str = "mean") -> Function:
    """An entry or loss as a torch.nn.Module whose parameters are the model's.

    A loss of a model with mode="train" gives the mean over the inputs, their "sum", or with reduction="none" a loss for each,
    which costs a second run; float64 of a model with real="f64", else float32; of no inputs the mean is NaN, as in torch.nn.
    Gradients are of parameters, and of fields and arguments that were named in `gradients` of dbc.load and are given as tensors.
    `train()` and `eval()` say whether it drops; what, goes by the `set_dropout` of the model.

    An entry gives its results. It has gradients where `vjp` is a loss that takes the entry's arguments, called alike, and then one
    of the type of its result, and gives the sum of the products of both:
        loss pull(t: Tree, g: f32[hidden]) { sum(g * encode(t)) }
    """
    of_kind("a module is of", entry, Entry)
    one_of("reduction", reduction, ("mean", "sum", "none"))
    if vjp is not None:
        of_kind("`vjp` is", vjp, Entry)
        if entry.is_loss or not vjp.is_loss or vjp._loaded is not entry._loaded:
            raise CallError("`vjp` is a loss that gives the gradients of an entry, of the same model")
        *args, last = vjp._described["args"] or [(None, None)]
        if args != entry._described["args"] or last[1] != entry._described["result"]:
            raise CallError(f"`vjp`: `{vjp.name}` does not take the arguments of `{entry.name}`, by the same names, and then one "
                            "of the type of its result")
    return Function(entry, vjp, reduction)
