"""The runtime's optimizers, whose formulas are those of torch.optim. Part of dbc, under Apache-2.0 WITH LLVM-exception; see
LICENSE."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _arguments, _dbc, _files
from ._errors import CallError
from ._model import Model

if TYPE_CHECKING:
    from ._files import AnyPath
    from ._results import Gradients


def _name(name):
    if not isinstance(name, str):
        raise CallError(f"`name` is that of a parameter, not a `{type(name).__name__}`")
    return name


class _Optimizer(_dbc.Optimizer):
    def __init__(self, model, kind, **options):
        super().__init__(_arguments.of_kind("an optimizer is of", model, Model)._loaded, kind)
        for name, value in options.items():
            setattr(self, name, value)

    def step(self, gradients: Gradients) -> None:
        """One step down the `Gradients` that `value_and_grad` gave; the model computes with the new weights from then on."""
        kept = getattr(gradients, "_kept", None)
        if kept is None:
            raise CallError(f"a step takes the gradients that `value_and_grad` gave, not a `{type(gradients).__name__}`")
        self._step(kept)

    def freeze(self, name: str, frozen: bool = True) -> None:
        """The parameter stays as it is, from now on or no longer."""
        self._freeze(_name(name), _arguments.flag("frozen", frozen))

    def set_weight_decay(self, name: str, weight_decay: float) -> None:
        """The weight decay of one parameter, in place of `weight_decay`; below 0: that one again."""
        self._set_weight_decay(_name(name), _arguments.number("weight_decay", weight_decay))

    def set_lr_scale(self, name: str, factor: float) -> None:
        """The learning rate of one parameter is `lr` times this factor."""
        self._set_lr_scale(_name(name), _arguments.number("factor", factor))

    def save(self, path: AnyPath) -> None:
        """Writes the state to a file that goes with those of the weights."""
        self._save(_files.path_of(path))

    def load(self, path: AnyPath) -> None:
        """Goes on from a file; the model has the weights that were saved with it."""
        self._load(_files.path_of(path))


class SGD(_Optimizer):
    """w -= lr * m, where m = momentum * m + gradient."""

    def __init__(self, model: Model, lr: float = 0.01, *, momentum: float = 0.0, nesterov: bool = False,
                 weight_decay: float = 0.0, clip_norm: float = 0.0, lazy_rows: bool = False) -> None:
        super().__init__(model, "sgd", lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay,
                         clip_norm=clip_norm, lazy_rows=lazy_rows)


class AdaGrad(_Optimizer):
    """w -= lr * g / (sqrt(sum of g * g) + epsilon)."""

    def __init__(self, model: Model, lr: float = 0.01, *, epsilon: float = 1e-10, weight_decay: float = 0.0,
                 clip_norm: float = 0.0, lazy_rows: bool = False) -> None:
        super().__init__(model, "adagrad", lr=lr, epsilon=epsilon, weight_decay=weight_decay, clip_norm=clip_norm,
                         lazy_rows=lazy_rows)


class Adam(_Optimizer):
    """Kingma and Ba 2015."""

    def __init__(self, model: Model, lr: float = 0.001, *, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 weight_decay: float = 0.0, clip_norm: float = 0.0, lazy_rows: bool = False) -> None:
        super().__init__(model, "adam", lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
                         clip_norm=clip_norm, lazy_rows=lazy_rows)


class AdamW(_Optimizer):
    """Adam with weight decay that does not go through the gradient."""

    def __init__(self, model: Model, lr: float = 0.001, *, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                 weight_decay: float = 0.01, clip_norm: float = 0.0, lazy_rows: bool = False) -> None:
        super().__init__(model, "adamw", lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
                         clip_norm=clip_norm, lazy_rows=lazy_rows)
