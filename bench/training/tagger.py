"""Trains the BiLSTM tagger of examples/tagger by PyTorch, on packed sequences; the metric is the accuracy over words.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import os

import torch
from torch import nn
from torch.nn.functional import cross_entropy, embedding, linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence

from training import matrix, options, read_lines, start_as_matrix, train

LETTER = 20  # size of a letter's vector


def sentence(line):
    """(forms, spellings, tags): the form of a word is -1 where it is spelt."""
    fields = [next(iter(line["nodes"][i].values())) for i in line["args"]["ws"]]
    forms = [word.get("form", -1) for word in fields]
    return forms, [word["letters"] for word in fields if "letters" in word], line["target"]


def packed(lists):
    """Lists of numbers of any lengths, as a packed sequence."""
    padded = pad_sequence([torch.tensor(numbers) for numbers in lists])
    return pack_padded_sequence(padded, torch.tensor([len(numbers) for numbers in lists]), enforce_sorted=False)


class Batch:
    """Sentences together. `words` has for each word where its vector stands in [forms, spellings]."""

    def __init__(self, sentences):
        self.sentences = len(sentences)
        forms = [form for some, _, _ in sentences for form in some if form >= 0]
        self.forms = torch.tensor(forms, dtype=torch.long)
        spellings = [letters for _, some, _ in sentences for letters in some]
        self.spellings = packed(spellings) if spellings else None
        known, spelt, places = 0, len(forms), []
        for some, _, _ in sentences:
            places.append([])
            for form in some:
                places[-1].append(known if form >= 0 else spelt)
                known, spelt = known + (form >= 0), spelt + (form < 0)
        self.words = packed(places)
        self.tags = packed([tags for _, _, tags in sentences]).data


def packed_as(shape, data):
    return PackedSequence(data, *shape[1:])


class BiLstm(nn.LSTM):
    """nn.BiLSTM of the library: one bias where PyTorch has two, matrices that start by `glorot`, biases at 0."""

    def __init__(self, inputs, hidden):
        super().__init__(inputs, hidden, bidirectional=True)
        for name, parameter in self.named_parameters():
            start_as_matrix(parameter) if name.startswith("weight") else nn.init.zeros_(parameter)
            if name.startswith("bias_hh"):
                parameter.requires_grad = False


class Tagger(nn.Module):
    def __init__(self, vocab, chars, tags, half, hidden, drop):
        super().__init__()
        self.E = nn.Parameter(torch.empty(vocab, 2 * half).normal_(0, 0.1))
        self.C = matrix(chars, LETTER)
        self.spell, self.context = BiLstm(LETTER, half), BiLstm(2 * half, hidden)
        self.O = matrix(tags, 2 * hidden)
        self.drop = nn.Dropout(drop)

    def scores(self, batch):
        """Those of all words, in the order of the packed sequence."""
        vectors = embedding(batch.forms, self.E)
        if batch.spellings:
            _, (ends, _) = self.spell(packed_as(batch.spellings, self.C[batch.spellings.data]))
            vectors = torch.cat((vectors, ends.transpose(0, 1).flatten(1)))
        states, _ = self.context(packed_as(batch.words, self.drop(vectors[batch.words.data])))
        return linear(states.data, self.O)

    def forward(self, batch):
        """The loss: of all words of a sentence, in the mean over sentences."""
        return cross_entropy(self.scores(batch), batch.tags, reduction="sum") / batch.sentences


def accuracy(model, batches):
    right = sum((model.scores(b).argmax(1) == b.tags).sum().item() for b in batches)
    return right / sum(len(b.tags) for b in batches)


def main():
    opts = options(half=64, hidden=50, batch=32, lr=0.001, weight_decay=0.0, dropout=0.3, kind="adam")
    data = [[sentence(line) for line in read_lines(os.path.join(opts.data, name + ".jsonl"))] for name in ("train", "dev")]
    vocab, chars, tags = (
        1 + max(find(each) for each in data[0])
        for find in (
            lambda s: max(s[0]),
            lambda s: max((c for letters in s[1] for c in letters), default=0),
            lambda s: max(s[2]),
        )
    )

    def make():
        return Tagger(vocab, chars, tags, opts.half, opts.hidden, opts.dropout)

    train(make, Batch, *data, opts, accuracy)


if __name__ == "__main__":
    main()
