"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import copy
import pickle

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
leaf = lambda: m.Leaf(x=rng.normal(size=4).astype(np.float32))
trees = [m.Node(m.Node(leaf(), leaf()), leaf()), m.Node(leaf(), leaf())]
inputs = list(zip(trees, rng.normal(size=(2, 4)).astype(np.float32)))
params = dbc.torch.parameters_of(m)
far, each, code = dbc.torch.as_function(m.far), dbc.torch.as_function(m.far, reduction="none"), dbc.torch.as_function(m.code, vjp=m.pull)


# Steps of optimizers are seen, those too that write without counting a version: as if the model were loaded with its weights then.
class Quiet(torch.optim.Optimizer):
    """Writes through `.data`, and forgets the gradients."""

    def step(self):
        for group in self.param_groups:
            for tensor in group["params"]:
                if tensor.grad is not None:
                    tensor.data -= group["lr"] * tensor.grad
                    tensor.grad = None


kinds = [lambda of: torch.optim.Adam(of, lr=0.05, fused=True), lambda of: torch.optim.AdamW(of, lr=0.05, fused=True),
         lambda of: torch.optim.SGD(of, lr=0.05, fused=True), lambda of: torch.optim.Adagrad(of, lr=0.05, fused=True),
         lambda of: torch.optim.Adam(of, lr=0.05), lambda of: Quiet(of, {"lr": 0.05})]
for kind in kinds:
    m.set_weights(drawn)
    optimizer, losses = kind(torch.nn.Sequential(far, torch.nn.Linear(1, 1)).parameters()), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = far(inputs)
        loss.backward()
        late = each(inputs)
        optimizer.step()
        refused_late(late)
        losses.append(loss.item())
        assert np.array_equal(m.far(inputs), dbc.load(common.model("dense"), weights=m.weights()).far(inputs))
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[-1] + 0.01, losses
    # Of copies, and of parameters in place of the model's.
    copied = copy.deepcopy(each)
    stored = pickle.loads(pickle.dumps(params))
    copied.params = stored if kind is kinds[0] else copied.params
    optimizer = kind(copied.parameters())
    copied(inputs).sum().backward()
    late = copied(inputs)
    optimizer.step()
    refused_late(late)
    params.W, own = torch.nn.Parameter(torch.randn(4, 8)), params.W
    optimizer = kind(each.parameters())
    each(inputs).sum().backward()
    late = each(inputs)
    optimizer.step()
    refused_late(late)
    params.W = own
# One that has none of the parameters changes none of them.
optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1)
late = each(inputs)
optimizer.step()
late.sum().backward()


# The gradients of a run are of what its batch had then, whatever ran in between; what came later is in the batch again.
def gradients(run, *tensors):
    """What comes of W and of these tensors, of the sine of a run."""
    for tensor in (params.W, *tensors):
        tensor.grad = None
    torch.sin(run).sum().backward()
    return [tensor.grad.clone() for tensor in (params.W, *tensors)]


def same(ours, theirs):
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(ours, theirs, strict=True)), (ours, theirs)


m.set_weights(drawn)
table = {"kind": [0, 0, 1, 0], "begin": [0, 3, 4], "left": [0] * 4, "right": [0, 0, 1, 0]}
for name, run, entry in (("far", each, m.far), ("code", code, m.pull)):
    made = lambda: entry.batch([(tree, y) for tree, y in inputs])
    rows = len(made().nodes("Tree"))
    one, two = (torch.randn(rows, 4, requires_grad=True) for _ in range(2))
    batch = made()
    first = run(batch, Tree_x=one)
    second = run(batch, Tree_x=two)
    same(gradients(first, one), gradients(run(made(), Tree_x=one), one))
    value = run(batch)  # the batch has what it was given last
    assert torch.equal(value, second)
    same(gradients(value), gradients(second)[:1])
    with torch.no_grad():
        late = run(batch)
    assert not late.requires_grad
    batch = made()
    first = run(batch)
    run(batch, Tree_x=two)
    with raises(dbc.CallError, f"the batch has been given another `Tree_x` since `{name}` ran, whose gradients are wanted of it as it was: "
                               "make a batch for each"):
        first.sum().backward()
    # What another entry alone reads is no concern.
    batch = made()
    first = run(batch)
    if name == "far":
        code(batch).sum().backward()
    else:
        each(batch, y=torch.zeros(2, 4))
    same(gradients(first), gradients(run(made())))

    # Arrays are borrowed, and may be written by whoever has them.
    def columns(x):
        return m.columns(2, {"Tree": {**table, "x": x}}, {"t": [2, 3], "y": ys, "g": np.zeros((2, 4), np.float32)})

    ys = rng.normal(size=(2, 4)).astype(np.float32)
    x = rng.normal(size=(4, 4)).astype(np.float32)
    wanted = gradients(run(columns(x.copy())))
    batch = columns(x)
    first = run(batch)
    x[:] = 0
    second = run(batch)
    third = run(batch, Tree_x=torch.ones(4, 4))
    same(gradients(first), wanted)
    same(gradients(second), gradients(run(columns(np.zeros((4, 4), np.float32)))))
    assert torch.equal(run(batch), third)  # as it was given last

# Numbers of lists, and those of a tensor that its owner writes.
c = dbc.load(common.model("clashes"), mode="train", gradients="all")
losses = dbc.torch.as_function(c.record_, reduction="none")
u, b = np.ones(2, np.float32), torch.ones(2, 2, 3)
made = lambda: c.columns(2, {}, {"p.a": [1, 2], "p.b": np.zeros((2, 6), np.float32), "q.0": ([0, 1, 2], u), "q.1": ([0, 1, 2], [[1, 2], [3, 4]])})
batch = made()
first, late, kept = losses(batch), losses(batch, **{"p.b": b}), losses(batch)
u[:] = 100
b.zero_()
losses(batch)
refused_late(late)
for run, wanted in ((first, 0), (kept, 2 * 6)):
    losses.params.w.grad = None
    run[1].backward()
    assert losses.params.w.grad == wanted, losses.params.w.grad
assert losses(batch)[1] == 100 * 7  # as whoever has the arrays has left them

# The mean and the sum have their gradients when they run.
batch = m.far.batch(inputs)
first = far(batch)
wanted = gradients(far(inputs))
far(batch, y=torch.zeros(2, 4))
same(gradients(first), wanted)

# There are no second derivatives: what is to go through gradients is refused.
for name, make in (("far", lambda: far(inputs)), ("far", lambda: each(inputs).sum()), ("code", lambda: torch.sin(code(trees)).sum())):
    with raises(dbc.CallError, f"`{name}` has no second derivatives, for which create_graph=True asks"):
        torch.autograd.grad(make(), list(params.parameters()), create_graph=True)
    make().backward(retain_graph=True)

# An argument may be called as the parameter of forward() is.
with open("inputs.dyn", "w") as file:
    file.write("model named; param w: f32 = 2; loss l(inputs: f32) { w * inputs * inputs }")
named = dbc.load("inputs.dyn", mode="train", gradients="all")
value = torch.tensor([3.0], requires_grad=True)
dbc.torch.as_function(named.l)([1.0], inputs=value).backward()
assert value.grad.tolist() == [12]

# torch.compile leaves the module as it is.
for run, given in ((far, inputs), (each, inputs), (code, trees)):
    compiled = torch.compile(run, backend="eager")
    network = torch.compile(torch.nn.Sequential(run, torch.nn.Identity()), backend="eager")
    assert torch.equal(compiled(given), run(given)) and torch.equal(network(given), run(given))
    same(gradients(compiled(given)), gradients(run(given)))
