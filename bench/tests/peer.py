"""A peer that needs no library, for PeerTest.cpp: it adds numbers, or does something that no peer should.

usage: peer.py HOW IMPL THREADS

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import array
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "peers"))
import serve


class Sums:
    """For each input of a batch the sum of its row's list, of all of its nodes' kinds and of the bias."""

    schedule_seconds = 0.0

    def __init__(self, impl, threads):
        self.note = f"{impl} of {threads}"

    def load(self, weights, batches):
        self.bias = weights["layer.b"][0]
        print("libraries print what they like")

    def run(self, batch):
        self.schedule_seconds += 0.25
        begin, offsets, results = batch["Node.begin"], batch["Node.words.offsets"], array.array("f")
        for first, last in zip(begin, begin[1:]):
            words = sum(batch["Node.words"][offsets[first] : offsets[last]])
            results.append(self.bias + words + sum(batch["Node.kinds"][first:last]) + sum(batch["arguments.x"]))
        return results


    def learnt(self, name):
        return array.array("f", [3, 4]) if name == "layer.W" else array.array("f")


class Fails(Sums):
    def run(self, batch):
        raise ArithmeticError("this model cannot compute anything (as PeerTest.cpp wants it)")


class Dies(Sums):
    def run(self, batch):
        os.kill(os.getpid(), signal.SIGKILL)


class IsSilent(Sums):
    def run(self, batch):
        time.sleep(1000)


class HasOneMore(Sums):
    def run(self, batch):
        return super().run(batch) + array.array("f", [1])


def find(how, impl, training):
    """The model that behaves like this."""
    models = {"sums": Sums, "fails": Fails, "dies": Dies, "is silent": IsSilent, "has one more": HasOneMore}
    if how not in models:
        raise ImportError("No module named 'peer'")
    return models[how]


if sys.argv[1] == "nonsense":
    print("what?")
else:
    serve.main(find)
