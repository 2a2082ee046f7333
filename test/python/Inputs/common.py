"""What the tests of the Python package share. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import contextlib
import os
import random

FOLDER = os.path.dirname(os.path.abspath(__file__))


def model(name):
    return os.path.join(FOLDER, name + ".dyn")


@contextlib.contextmanager
def raises(kind, message, **attributes):
    """The block raises this exception with this whole message, and with these attributes."""
    try:
        yield
    except kind as error:
        assert type(error) is kind, (type(error), kind)
        assert str(error) == message, (str(error), message)
        for name, value in attributes.items():
            assert getattr(error, name) == value, (name, getattr(error, name), value)
        return
    raise AssertionError(f"nothing raised: {message}")


def refused_late(late):
    """PyTorch refuses the gradients of what ran before one of its tensors was changed."""
    try:
        late.sum().backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
    else:
        raise AssertionError


def tree(m, leaves, rng, vocab=20):
    """A random tree of a model of trees whose leaves are words."""
    if leaves == 1:
        return m.Leaf(word=rng.randrange(vocab))
    left = rng.randrange(1, leaves)
    return m.Node(left=tree(m, left, rng, vocab), right=tree(m, leaves - left, rng, vocab))


def trees(m, count, seed=0):
    rng = random.Random(seed)
    return [tree(m, rng.randrange(1, 20), rng) for _ in range(count)]
