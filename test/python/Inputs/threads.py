"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import sys
import threading

import common
import dbc
import numpy as np

models = [dbc.load(common.model("tree"), vocab=20, d=128) for _ in range(2)]
m = models[0]
chain = m.Leaf(1)
for i in range(20000):
    chain = m.Node(left=chain, right=m.Leaf(i % 20))
batches = [model.code.batch([chain]) for model in models]
expected = m.code(batches[0])


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


# While a batch runs others work: what counts goes on counting. A second thread at the same model, or the same batch, gets an error.
results, errors, counted = [], [], 0
runner = in_thread(lambda: [results.append(m.code(batches[0])) for _ in range(3)])
while runner.is_alive():
    counted += 1
    for work in (lambda: m.code([chain.right]), lambda: m.set_weights(m.weights()), lambda: m.save_weights("/nowhere/w"), lambda: models[1].code(batches[0])):
        try:
            work()
        except dbc.CallError as error:
            errors.append(str(error))
        except dbc.FileError:
            pass  # between two runs
assert all((result == expected).all() for result in results) and len(results) == 3
assert counted > 3 and set(errors) == {"the model is in use by another thread", "the batch is in use by another thread"}, errors

# So does whoever sets an optimizer while it steps; its options stay readable.
t = dbc.load(common.model("tree"), vocab=20000, d=128, mode="train")
optimizer = dbc.Adam(t)
_, gradients = t.far.value_and_grad([(t.Leaf(1), [0] * 128)])
attempts = {
    "freeze": lambda: optimizer.freeze("b"),
    "weight decay": lambda: optimizer.set_weight_decay("b", 0.5),
    "scale": lambda: optimizer.set_lr_scale("b", 0.5),
    "option": lambda: setattr(optimizer, "lr", 0.25),
    "steps": lambda: optimizer.steps,
    "version": lambda: t._loaded.version(),
}
refused = set()
runner = in_thread(lambda: [optimizer.step(gradients) for _ in range(40)])
while runner.is_alive():
    assert optimizer.lr in (0.25, np.float32(0.001))
    for name, attempt in attempts.items():
        try:
            attempt()
        except dbc.CallError as error:
            assert str(error) == "the model is in use by another thread"
            refused.add(name)
assert refused == set(attempts), refused

# Threads with a model each run at once.
def runs(model, batch, out):
    for _ in range(20):
        out.append((model.code(batch) == expected).all())


outs = [[], []]
threads = [in_thread(lambda model=model, batch=batch, out=out: runs(model, batch, out)) for model, batch, out in zip(models, batches, outs)]
for thread in threads:
    thread.join()
assert outs == [[True] * 20] * 2

# Weights are taken over as a whole: at whichever line of the package another thread looks, it finds all of one dict.
small = dbc.load(common.model("tree"), vocab=20)
found = []


def look(frame, event, _):
    found.append({float(number) for array in small._loaded.weights().values() for number in array.flat})
    return look


dicts = [{name: np.full_like(array, value) for name, array in small.weights().items()} for value in range(2)]
small.set_weights(dicts[0])
sys.settrace(look)
small.set_weights(dicts[1])
sys.settrace(None)
assert {0.0} in found and all(each in ({0.0}, {1.0}) for each in found), found
assert set(small.weights()["E"].flat) == {1.0}

# Many threads hammer one model: each call is right, or the error.
wrong = []


def hammer():
    for _ in range(300):
        try:
            if m.code([chain.right]).shape != (1, 128):
                wrong.append("shape")
        except dbc.CallError as error:
            if str(error) != "the model is in use by another thread":
                wrong.append(str(error))


threads = [in_thread(hammer) for _ in range(4)]
for thread in threads:
    thread.join()
assert not wrong, wrong
