"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import gc
import weakref

import common
import dbc
import dbc.torch
import numpy as np
import torch
from common import raises, refused_late

torch.manual_seed(0)
m = dbc.load(common.model("dense"), mode="train", gradients="all", seed=3)
drawn = m.weights()
rng = np.random.default_rng(0)


def leaf():
    return m.Leaf(x=rng.normal(size=4).astype(np.float32))


shared = leaf()
trees = [m.Node(m.Node(leaf(), shared), shared), leaf(), m.Node(leaf(), leaf())]
ys = rng.normal(size=(3, 4)).astype(np.float32)


def encode(t, x, W, b):
    """The model in PyTorch."""
    if isinstance(t, m.Leaf):
        return torch.tanh(x[t])
    return torch.tanh(W @ torch.cat([encode(t.left, x, W, b), encode(t.right, x, W, b)]) + b)


def rows_of(batch):
    """(nodes, a row of `x` for each; zeros where a node has none)."""
    nodes = batch.nodes("Tree")
    return nodes, torch.tensor(np.stack([getattr(node, "x", np.zeros(4, np.float32)) for node in nodes]), requires_grad=True)


def copy(*tensors):
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


def same(ours, theirs):
    assert all(torch.allclose(a.grad, b.grad, atol=1e-5) for a, b in zip(ours, theirs)), [(a.grad, b.grad) for a, b in zip(ours, theirs)]


# A loss: gradients of parameters, of a field and of an argument, behind and before other layers.
params = dbc.torch.parameters_of(m)
for reduction, factor in [("mean", torch.tensor(3.0)), ("sum", torch.tensor(-2.0)), ("none", torch.tensor([1.0, -2.0, 0.5]))]:
    far = dbc.torch.as_function(m.far, reduction=reduction)
    assert far.params is params and [name for name, _ in far.named_parameters()] == ["params.W", "params.b"]
    batch = m.far.batch(list(zip(trees, ys)))
    nodes, x = rows_of(batch)
    layer = torch.nn.Linear(4, 4)
    y = torch.tensor(ys, requires_grad=True)
    theirs = copy(params.W, params.b, x, y, layer.weight)
    params.zero_grad()
    got = far(batch, Tree_x=x, y=layer(y))
    wanted = torch.stack([((encode(t, dict(zip(nodes, theirs[2])), *theirs[:2]) - (theirs[4] @ theirs[3][i] + layer.bias.detach())) ** 2).sum()
                          for i, t in enumerate(trees)])
    wanted = {"mean": wanted.mean(), "sum": wanted.sum(), "none": wanted}[reduction]
    assert torch.allclose(got, wanted, atol=1e-5) and got.shape == wanted.shape
    torch.sin(got * factor).sum().backward()
    torch.sin(wanted * factor).sum().backward()
    same((params.W, params.b, x, y, layer.weight), theirs)

# backward() twice, by other factors each time.
far = dbc.torch.as_function(m.far, reduction="none")
losses = far(list(zip(trees, ys)))
each = []
for factor in ([1.0, 0, 0], [0, 2.0, 3.0], [1.0, 2.0, 3.0]):
    params.zero_grad()
    losses.backward(torch.tensor(factor), retain_graph=True)
    each.append(params.W.grad.clone())
assert torch.allclose(each[0] + each[1], each[2], atol=1e-5) and not torch.allclose(each[0], each[2])

# An evaluation computes no gradients, which a model for inference has not.
bare = dbc.load(common.model("dense"), weights=drawn)
for reduction in ("mean", "sum", "none"):
    with torch.no_grad():
        losses = dbc.torch.as_function(bare.far, reduction=reduction)(list(zip(trees, ys)))
    assert torch.allclose(losses, dbc.torch.as_function(m.far, reduction=reduction)(list(zip(trees, ys)))), reduction
# Values and their type are the same with gradients and without, in both kinds of numbers.
precise = dbc.load(common.model("dense"), mode="train", gradients="all", real="f64", weights=drawn)
for model, kind in ((m, torch.float32), (precise, torch.float64)):
    for reduction, of_none in (("mean", [np.nan]), ("sum", [0]), ("none", [])):
        f = dbc.torch.as_function(model.far, reduction=reduction)
        for inputs in (list(zip(trees, ys)), []):
            f.zero_grad()
            with_gradients = f(inputs)
            with torch.no_grad():
                without = f(inputs)
            assert with_gradients.dtype == without.dtype == kind, (reduction, with_gradients.dtype, without.dtype)
            assert torch.equal(with_gradients.nan_to_num(-1), without.nan_to_num(-1)), (reduction, with_gradients, without)
            with_gradients.sum().backward()
            assert f.params.W.grad.dtype == torch.float32 and f.params.W.grad.isfinite().all() and f.params.W.grad.any() == bool(inputs)
        assert np.array_equal(without.reshape(-1), of_none, equal_nan=True), (reduction, without)
    code = dbc.torch.as_function(model.code, vjp=model.pull)(trees)
    assert code.dtype == kind and dbc.torch.as_function(model.code)(trees).dtype == kind
    code.sum().backward()

# A run that is computed again for its gradients has the weights and inputs of its first time, or is refused: whoever changed them.
_, gradients = m.far.value_and_grad(list(zip(trees, ys)))
for made in (lambda: far(list(zip(trees, ys)))[0], lambda: dbc.torch.as_function(m.code, vjp=m.pull)(m.pull.batch([{"t": t} for t in trees])).sum()):
    name = "code" if made().grad_fn.name().startswith("Sum") else "far"
    for change in (lambda: dbc.SGD(m, lr=0.0).step(gradients), lambda: m.set_weights(drawn)):
        late = made()
        change()
        with raises(dbc.CallError, f"the weights have been changed since `{name}` ran, whose gradients are wanted of them as they were"):
            late.backward()
    late = made()
    with torch.no_grad():
        params.W.mul_(1)
    refused_late(late)
y = torch.tensor(ys, requires_grad=True)
late = far(list(zip(trees, ys)), y=y)
with torch.no_grad():
    y.zero_()
refused_late(late)

# An entry, whose gradients a loss gives.
code = dbc.torch.as_function(m.code, vjp=m.pull)
batch = m.pull.batch([{"t": t} for t in trees])
nodes, x = rows_of(batch)
theirs = copy(params.W, params.b, x)
params.zero_grad()
got = code(batch, Tree_x=x)
wanted = torch.stack([encode(t, dict(zip(nodes, theirs[2])), *theirs[:2]) for t in trees])
weights = torch.randn(4)
assert torch.allclose(got, wanted, atol=1e-6)
(torch.sin(got) @ weights).sum().backward()
(torch.sin(wanted) @ weights).sum().backward()
same((params.W, params.b, x), theirs)

# Inputs are as the entry takes them: objects, lines, a batch of its own.
for given in (trees, m.code.batch(trees)):
    params.zero_grad()
    (torch.sin(code(given)) @ weights).sum().backward()
    same((params.W, params.b), theirs[:2])
line = '{"nodes": [{"Leaf": {"x": [1, 2, 3, 4]}}], "args": {"t": 0}}'
assert np.array_equal(code(line).detach(), m.code(line))
code(line).sum().backward()

# The same of a batch of arrays.
arrays = m.columns(1, {"Tree": dict(kind=[0, 0, 1], begin=[0, 3], left=[0, 0, 0], right=[0, 0, 1], x=np.zeros((3, 4)))}, {"t": [2]})
x = torch.randn(3, 4, requires_grad=True)
theirs = copy(params.W, params.b, x)
params.zero_grad()
code(arrays, Tree_x=x).sum().backward()
pair = m.Node(m.Leaf(0), m.Leaf(1))
encode(pair, {pair.left: theirs[2][0], pair.right: theirs[2][1]}, *theirs[:2]).sum().backward()
same((params.W, params.b), theirs[:2])
assert torch.allclose(x.grad[:2], theirs[2].grad[:2], atol=1e-5) and not x.grad[2].any()

# Without a loss for it, an entry has no gradient.
assert not dbc.torch.as_function(m.code)(trees).requires_grad

# Parameters are the model's memory: a step of PyTorch's changes the model, one of ours the tensors.
optimizer = torch.optim.Adam(code.parameters(), lr=0.1)
optimizer.step()
assert np.allclose(m.weights()["W"], params.W.detach().numpy())
_, gradients = m.far.value_and_grad(list(zip(trees, ys)))
dbc.SGD(m, lr=0.5).step(gradients)
assert (params.W.detach().numpy() == m.weights()["W"]).all()


def renewed():
    """Whether the model computes with what its weights are: as another one does that is loaded with them."""
    other = dbc.load(common.model("dense"), mode="train", gradients="all", weights=m.weights())
    one, two = (each.far.value_and_grad(list(zip(trees, ys))) for each in (m, other))
    return one[0] == two[0] and (one[1]["W"] == two[1]["W"]).all() and (m.code(trees) == other.code(trees)).all()


def move():
    with torch.no_grad():
        params.W.mul_(1.25)
        params.b.add_(0.5)


# Whatever the model is used for next: a plain call, gradients, the other half of a run, a step of ours.
uses = [lambda: m.code(trees), lambda: m.far.value_and_grad(list(zip(trees, ys))), lambda: dbc.SGD(m, lr=0.5).step(gradients),
        lambda: code(trees_of_pull), lambda: m.set_weights({**m.weights(), "b": [1, 2, 3, 4]})]
trees_of_pull = m.pull.batch([{"t": t} for t in trees])
for use in uses:
    before = m.code(trees)
    move()
    use()
    assert renewed() and (m.code(trees) != before).any()
m.set_weights(drawn)
# A step of ours that changes rows of a table alone, behind one of PyTorch's that changes all.
t = dbc.load(common.model("tree"), vocab=20, mode="train")
words = [t.Leaf(word=3)]
table = dbc.torch.parameters_of(t).E
optimizer = dbc.SGD(t, lr=0.5)
for _ in range(2):
    _, gradients = t.far.value_and_grad([(words[0], [1, 2, 3, 4])])
    optimizer.step(gradients)
with torch.no_grad():
    table.add_(1)
optimizer.step(gradients)
assert np.array_equal(t.code([t.Leaf(word=i) for i in range(20)]), t.weights()["E"])
# Parameters keep the weights, and do not keep the model.
gone = weakref.ref(t._loaded)
del t, optimizer, gradients, words
gc.collect()
assert gone() is None and table.detach().numpy()[3].all()

far = dbc.torch.as_function(m.far)
start = far(list(zip(trees, ys))).item()
optimizer = torch.optim.Adam(far.parameters(), lr=0.01)
for _ in range(30):
    optimizer.zero_grad()
    far(list(zip(trees, ys))).backward()
    optimizer.step()
assert far(list(zip(trees, ys))).item() < start - 0.1
state = far.state_dict()
assert list(state) == ["params.W", "params.b"]

# Dropout: both runs of a step drop the same; eval() drops nothing. Seed and step are the model's, whoever runs.
drops = dbc.torch.as_function(m.drops, reduction="none")
params.zero_grad()
m.set_dropout(5)
drops(trees).sum().backward()
other = dbc.torch.as_function(m.drops, reduction="sum")
m.set_dropout(5)
gradient = params.b.grad.clone()
params.zero_grad()
other(trees).backward()
assert torch.allclose(gradient, params.b.grad, atol=1e-6)
assert (drops(trees) != drops(trees)).any()  # each step drops others
m.set_dropout(5)
steps = [drops(trees), other(trees), m.drops.value_and_grad(trees, [1] * 3)[0]]
m.set_dropout(5)
again = [drops(trees).sum().item(), drops(trees).sum().item(), drops(trees).sum().item()]
assert np.allclose([steps[0].sum().item(), steps[1].item(), steps[2]], again, rtol=1e-5) and len(set(again)) == 3
m.set_dropout(5)
drops.eval()
assert torch.allclose(drops(trees), torch.tensor(m.drops(trees)))
drops(trees).sum().backward()
assert abs(m.drops.value_and_grad(trees, [1] * 3)[0] - again[0]) < 1e-5  # was no step

# Names say exactly which argument or field is meant; where they cannot they are refused.
c = dbc.load(common.model("clashes"), mode="train", gradients="all")
pair = c.Tree_a(x=2, a_x=3)
for function, inputs, name in [(c.named, [(pair, 5)], "Tree_a_x"), (c.twice, [c.Leaf([1, 2], 3)], "Tree_x"), (c.only, [(c.Only(2), 3)], "Only_y")]:
    with raises(dbc.CallError, f"`{name}` is the name of several arguments and fields (DATA_FIELD): rename one of them in the model"):
        dbc.torch.as_function(function)(inputs, **{name: torch.ones(1)})
value = torch.tensor([4.0], requires_grad=True)
dbc.torch.as_function(c.plain)([c.Only(2)], Only_y=value).backward()
assert value.grad.tolist() == [8]
value = torch.tensor([4.0], requires_grad=True)
dbc.torch.as_function(c.named)([(pair, 5)], Tree_a_a_x=value).backward()
assert value.grad.tolist() == [2 * 2 * 5]
part = torch.ones(1, 2, 3, requires_grad=True)
dbc.torch.as_function(c.record_)([((2, [[0] * 3] * 2), [])], **{"p.b": part}).backward()
assert part.grad.tolist() == [[[4] * 3] * 2]

# Parameters that are called like what a module has get `_`, in the middle of a path too.
n = dbc.load(common.model("names"), mode="train")
named = dbc.torch.as_function(n.params)
assert [name for name, _ in named.named_parameters()] == ["params.forward_", "params._views_", "params.type_", "params.forward__.W",
                                                          "params.forward__.b"]
named([[1, 2]]).backward()
assert named.params.forward__.b.grad.tolist() == [1] and named.params.forward_.grad.tolist() == named.params.type_.grad.tolist() == [1, 2]

# What does not fit.
with raises(dbc.CallError, "`z` is neither an argument nor DATA_FIELD; there is `t`, `y`, `Tree_x`, `Tree_left`, `Tree_right`"):
    far(list(zip(trees, ys)), z=torch.zeros(3))
with raises(dbc.CallError, "`y` has the shape [12], not [3, 4]: a row for each input"):
    far(list(zip(trees, ys)), y=torch.zeros(12))
with raises(dbc.CallError, "`Tree_x` has the shape [3], not [1, 4]: a row for each node of `Tree`"):
    far([(trees[1], ys[0])], Tree_x=torch.zeros(3))
with raises(dbc.CallError, "`Tree_x` has the shape [4, 3], not [3, 4]: a row for each node of `Tree`"):
    code(arrays, Tree_x=torch.zeros(4, 3))
with raises(dbc.CallError, "`Only_y` has the shape [1, 1], not [1]: a row for each node of `Only`"):
    dbc.torch.as_function(c.plain)([c.Only(2)], Only_y=torch.ones(1, 1))
with raises(dbc.CallError, "`p.b` has the shape [1, 3, 2], not [1, 2, 3]: a row for each input"):
    dbc.torch.as_function(c.record_)([((2, [[0] * 3] * 2), [])], **{"p.b": torch.ones(1, 3, 2)})
with raises(dbc.CallError, "`q.0` is no field or argument of numbers"):
    dbc.torch.as_function(c.record_)([((2, [[0] * 3] * 2), [])], **{"q.0": torch.ones(1)})
with raises(dbc.CallError, "`y` is a tensor, not a `ndarray`"):
    far(list(zip(trees, ys)), y=ys)
with raises(dbc.CallError, "`g` is neither an argument nor DATA_FIELD; there is `t`, `Tree_x`, `Tree_left`, `Tree_right`"):
    code(trees, g=torch.zeros(3, 4))
with raises(dbc.CallError, "`Tree_left` is no field or argument of numbers"):
    far([(trees[1], ys[0])], Tree_left=torch.zeros(3))
with raises(dbc.CallError, "`Tree_x`: expected an array of float32, found one of complex64"):
    far([(trees[1], ys[0])], Tree_x=torch.zeros(1, 4, dtype=torch.complex64))
with raises(dbc.CallError, '`reduction` is "mean", "sum" or "none", not \'min\''):
    dbc.torch.as_function(m.far, reduction="min")
with raises(dbc.CallError, "parameters are of a `dbc.Model`, not a `Function`"):
    dbc.torch.parameters_of(far)
with raises(dbc.CallError, "a module is of a `dbc.Entry`, not a `Model`"):
    dbc.torch.as_function(m)
with raises(dbc.CallError, "`vjp`: `plain` does not take the arguments of `got`, by the same names, and then one of the type of its result"):
    dbc.torch.as_function(c.got, vjp=c.plain)
with raises(dbc.CallError, "`vjp`: `pull` does not take the arguments of `norm`, by the same names, and then one of the type of its result"):
    dbc.torch.as_function(m.norm, vjp=m.pull)
with raises(dbc.CallError, "`Only_y` is the name of several arguments and fields (DATA_FIELD): rename one of them in the model"):
    dbc.torch.as_function(c.got, vjp=c.only)
# A gradient that the model does not have is not passed over.
t = dbc.load(common.model("tree"), vocab=20, mode="train")
y = torch.zeros(1, 4, requires_grad=True)
loss = dbc.torch.as_function(t.far)
with raises(dbc.CallError, "the model has no gradient of `y`: name it in `gradients` of dbc.load, or give `y.detach()`"):
    loss([(t.Leaf(3), [0] * 4)], y=y)
with torch.no_grad():
    assert loss([(t.Leaf(3), [0] * 4)], y=y) == loss([(t.Leaf(3), [0] * 4)], y=y.detach())
