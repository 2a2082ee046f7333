"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import copy
import os
import pickle
import sys

import common
import dbc
import dbc.torch
import numpy as np
import torch
from common import raises
from torch.nn.utils import parametrize, parametrizations, prune, vector_to_parameters

torch.manual_seed(0)
m = dbc.load(common.model("dense"), mode="train", gradients="all", seed=3)
other = dbc.load(common.model("dense"), mode="train", weights=m.weights())  # what m computes with other weights
rng = np.random.default_rng(0)
leaf = lambda: m.Leaf(x=rng.normal(size=4).astype(np.float32))
trees = [m.Node(m.Node(leaf(), leaf()), leaf()), m.Node(leaf(), leaf())]
inputs = list(zip(trees, rng.normal(size=(2, 4)).astype(np.float32)))
params = dbc.torch.parameters_of(m)
functions = {reduction: dbc.torch.as_function(m.far, reduction=reduction) for reduction in ("mean", "sum", "none")}
functions["code"] = dbc.torch.as_function(m.code, vjp=m.pull)
far = functions["mean"]
WORDS = ("the parameter `W` is a tensor that is not the model's: modules of dbc.torch compute with it, and "
         "`dbc.torch.parameters_of(model).take_over()` makes it the model's")


def given(name):
    return trees if name == "code" else inputs


def wanted(name, weights):
    """(value, gradients) of the loss, or of the sum of the sines of what the entry gives, at these weights."""
    other.set_weights({path: tensor.detach().numpy() for path, tensor in weights.items()})
    if name == "code":
        code = torch.from_numpy(other.code(trees))
        gradients = other.pull.value_and_grad(list(zip(trees, torch.cos(code))), weights=[1, 1])[1]
        return torch.sin(code).sum(), gradients
    losses = torch.from_numpy(other.far(inputs))
    factors = {"mean": [0.5, 0.5], "sum": [1, 1], "none": torch.cos(losses)}[name]
    value = {"mean": losses.mean(), "sum": losses.sum(), "none": torch.sin(losses).sum()}[name]
    return value, other.far.value_and_grad(inputs, weights=factors)[1]


def check(name, run, weights, leaves=None):
    """`run` computes with `weights`, and has gradients of `leaves`."""
    leaves = weights if leaves is None else leaves
    for each in leaves.values():
        each.grad = None
    result = run(given(name))
    value = torch.sin(result).sum() if name in ("none", "code") else result
    should, gradients = wanted(name, weights)
    assert torch.allclose(value, should, atol=1e-5), (name, value, should)
    value.backward()
    for path, each in leaves.items():
        assert np.allclose(each.grad, gradients[path], atol=1e-5), (name, path)


def drawn():
    return {"W": torch.randn(4, 8, requires_grad=True), "b": torch.randn(4, requires_grad=True)}


with torch.no_grad():
    params.b.normal_()
own = dict(params.named_parameters())
before = {path: tensor.detach().clone() for path, tensor in own.items()}

# functional_call: of that call alone, some parameters or all; what else has run is not disturbed.
for name, function in functions.items():
    late = function(given(name))
    new = drawn()
    check(name, lambda batch: torch.func.functional_call(function, {"params." + path: each for path, each in new.items()}, (batch,)), new)
    part = {"b": new["b"], "W": own["W"]}
    check(name, lambda batch: torch.func.functional_call(function, {"params.b": new["b"]}, (batch,)), part)
    check(name, function, own)
    late.sum().backward()
    assert all(torch.equal(own[path], before[path]) for path in own)
assert np.array_equal(m.code(trees), dbc.load(common.model("dense"), weights=m.weights()).code(trees))
# What stands for a parameter may be the memory of others, which are substituted too.
t = dbc.load(common.model("names"), mode="train")
named = dbc.torch.as_function(t.params)
vectors = [named.params.forward_, named.params._views_, named.params.type_]
with torch.no_grad():
    for number, vector in enumerate(vectors):
        vector.fill_(10.0**number)
        named.params.forward__.W.zero_()
swapped = dict(zip(("params.type_", "params.forward_", "params._views_"), (vectors[0], vectors[1], torch.full((2,), 1000.0))))
assert torch.func.functional_call(named, swapped, ([[1, 0]],)) == 1 + 10 + 1000 and named([[1, 0]]) == 111
# Elements in the model's memory are not its parameter where they stand otherwise.
first = params.b[:1].detach().expand(4)
with torch.no_grad():
    check("mean", lambda batch: torch.func.functional_call(far, {"params.b": first}, (batch,)).requires_grad_(), {**own, "b": first}, {})
# A change of dbc's between a run and its gradients is refused there too; the run leaves the model as it was where it fails.
late = torch.func.functional_call(functions["none"], {"params.b": torch.ones(4)}, (inputs,))
m.set_weights(m.weights())
with raises(dbc.CallError, "the weights have been changed since `far` ran, whose gradients are wanted of them as they were"):
    late.sum().backward()
bad = m.Leaf()
try:
    torch.func.functional_call(far, {"params.b": torch.ones(4)}, ([(bad, [0] * 4)],))
except dbc.InputError as error:
    assert "`x` is not given" in str(error), error
else:
    raise AssertionError
assert all(torch.equal(own[path], before[path]) and np.array_equal(m.weights()[path], before[path]) for path in own)

# A copy has parameters of its own, by itself and in a network; it may be copied and averaged.
copied = copy.deepcopy(torch.nn.Sequential(functions["code"]))[0]
twice = copy.deepcopy(copied)
assert copied.params is not params and not any(each is own[path] for path, each in copied.params.named_parameters())
with torch.no_grad():
    copied.params.W.mul_(2)
check("code", copied, dict(copied.params.named_parameters()))
check("code", twice, dict(twice.params.named_parameters()))
check("code", functions["code"], own)
averaged = torch.optim.swa_utils.AveragedModel(far)
averaged.update_parameters(far)
with torch.no_grad():
    params.b.add_(1)
averaged.update_parameters(far)
assert torch.allclose(averaged.module.params.b, before["b"] + 0.5)
check("mean", averaged, dict(averaged.module.params.named_parameters()))
check("mean", far, own)
optimizer = torch.optim.SGD(averaged.parameters(), lr=0.1)
optimizer.step()
check("mean", averaged, dict(averaged.module.params.named_parameters()))
for made in (copied.params, pickle.loads(pickle.dumps(params))):
    with raises(dbc.CallError, "these are a copy's parameters: those of the model are `dbc.torch.parameters_of(model)`"):
        made.take_over()

# assign=True, and a parameter that is set: the module computes with them and trains them; the model is not used without them.
for replace in (lambda new: far.load_state_dict({"params." + path: each for path, each in new.items()}, assign=True),
                lambda new: [setattr(params, path, torch.nn.Parameter(each.detach())) for path, each in new.items()],
                lambda new: vector_to_parameters(torch.cat([each.detach().flatten() for each in new.values()]), params.parameters()),
                lambda new: params.load_state_dict({**{path: each.detach().double() for path, each in new.items()}}, assign=True) and params.float()):
    new = drawn()
    replace(new)
    now = dict(params.named_parameters())
    assert all(torch.equal(now[path], new[path]) for path in new)
    for name, function in functions.items():
        check(name, function, now)
    optimizer = torch.optim.SGD(far.parameters(), lr=0.1)
    optimizer.step()
    check("mean", far, now)
    _, gradients = other.far.value_and_grad(inputs)
    step = dbc.SGD(m)
    for use in (lambda: m.far(inputs), lambda: m.far.value_and_grad(inputs), m.weights, lambda: m.set_weights(other.weights()),
                lambda: m.save_weights(os.path.join(sys.argv[1], "w")), lambda: step.save(os.path.join(sys.argv[1], "o")),
                lambda: step.load(os.path.join(sys.argv[1], "o"))):
        with raises(dbc.CallError, WORDS):
            use()
    assert not os.listdir(sys.argv[1])
    params.take_over()
    assert all(np.array_equal(m.weights()[path], each.detach()) for path, each in now.items())
    optimizer.zero_grad()
    far(inputs).backward()
    optimizer.step()  # goes on with the same objects, which are the model's memory
    assert all(each is getattr(params, path) and np.array_equal(m.weights()[path], each.detach()) for path, each in now.items())
    other.set_weights(m.weights())
    assert np.array_equal(m.code(trees), other.code(trees))
    m.set_weights(m.weights())
_, gradients = m.far.value_and_grad(inputs)
params.W = torch.nn.Parameter(torch.ones(4, 8))
with raises(dbc.CallError, WORDS):
    dbc.SGD(m).step(gradients)
params.take_over()

# Whatever becomes of a parameter between two calls of the model is seen by the second one.
memory, W, b = params.b.data, params.W, params.b
for change, back, what in [
    (lambda: setattr(b, "data", torch.ones(4)), lambda: setattr(b, "data", memory), WORDS.replace("W", "b")),
    (lambda: delattr(params, "b"), lambda: params.register_parameter("b", b), "the parameter `b` is no tensor any more"),
    (lambda: setattr(params, "b", None), lambda: setattr(params, "b", b), "the parameter `b` is no tensor any more"),
    (lambda: W.t_(), lambda: W.t_(), "the parameter `W` has the shape [8, 4], not [4, 8]"),
    (lambda: setattr(params, "b", torch.nn.Parameter(memory.as_strided((4,), (0,)))), lambda: setattr(params, "b", b), WORDS.replace("W", "b")),
]:
    for _ in range(3):
        before = m.code(trees)
        with torch.no_grad():
            change()
        for _ in range(2):
            with raises(dbc.CallError, what):
                m.code(trees)
        with torch.no_grad():
            back()
            assert np.array_equal(m.code(trees), before)
            b.copy_(torch.randn(4))
        after = m.code(trees)
        other.set_weights(m.weights())
        assert not np.array_equal(after, before) and np.array_equal(after, other.code(trees))


# Parametrizations and hooks: gradients go through them to what they are of.
class Half(torch.nn.Module):
    def forward(self, tensor):
        return tensor / 2


parametrize.register_parametrization(params, "W", Half())
original = params.parametrizations.W.original
for name, function in functions.items():
    half = (original.detach() / 2).requires_grad_()
    check(name, function, {"W": half, "b": params.b}, {"b": params.b})
    assert np.allclose(original.grad, np.asarray(wanted(name, {"W": half, "b": params.b})[1]["W"]) / 2, atol=1e-5)
    original.grad = None
check("code", copy.deepcopy(functions["code"]), {"W": params.W, "b": params.b}, {})
with raises(dbc.CallError, WORDS):
    m.code(trees)
with raises(dbc.CallError, "the parameter `W` is computed by PyTorch: remove its parametrization or hook first"):
    params.take_over()
parametrize.remove_parametrizations(params, "W")
check("mean", far, dict(params.named_parameters()))
params.take_over()
assert np.array_equal(m.weights()["W"], params.W.detach())
for wrap, unwrap in [(parametrizations.weight_norm, parametrize.remove_parametrizations), (torch.nn.utils.weight_norm, torch.nn.utils.remove_weight_norm),
                     (lambda module, name: prune.l1_unstructured(module, name, 0.5), prune.remove)]:
    wrap(params, "W")
    optimizer = torch.optim.SGD(params.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        far(inputs).backward()
        optimizer.step()
        value = far(inputs)  # what a hook computes follows the step
        assert torch.allclose(value, wanted("mean", {"W": params.W, "b": params.b})[0], atol=1e-5)
        check("mean", far, {"W": params.W, "b": params.b}, {"b": params.b})
    with raises(dbc.CallError, WORDS):
        m.code(trees)
    unwrap(params, "W")
    params.take_over()
    check("mean", far, dict(params.named_parameters()))
prune.l1_unstructured(named.params.forward__, "W", 1)
before = named([[1, 2]]).item()
with torch.no_grad():
    named.params.forward__.W_orig.fill_(0.5)  # of which one element is left
assert named([[1, 2]]).item() - before in (0.5, 1)

# What can be no parameter of the model is refused.
for change, what in [
    (lambda f: f.half(), "the parameter `W` is float16 on cpu: those of a dbc model stay float32 on the CPU"),
    (lambda f: f.double(), "the parameter `W` is float64 on cpu: those of a dbc model stay float32 on the CPU"),
    (lambda f: f.to("meta"), "the parameter `W` is float32 on meta: those of a dbc model stay float32 on the CPU"),
    (lambda f: setattr(f.params, "b", torch.nn.Parameter(torch.zeros(2, 2))), "the parameter `b` has the shape [2, 2], not [4]"),
    (lambda f: delattr(f.params, "b"), "the parameter `b` is no tensor any more"),
]:
    changed = copy.deepcopy(far)
    change(changed)
    with raises(dbc.CallError, what):
        changed(inputs)
with torch.no_grad():
    params.b.normal_()
own = dict(params.named_parameters())
check("mean", far, own)
changed = copy.deepcopy(far)
changed.share_memory()
check("mean", changed, dict(changed.params.named_parameters()))
far.share_memory()
check("mean", far, own)
with raises(dbc.CallError, WORDS):
    m.code(trees)
far.double()
with raises(dbc.CallError, "the parameter `W` is float64 on cpu: those of a dbc model stay float32 on the CPU"):
    m.code(trees)
