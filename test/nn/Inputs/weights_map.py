"""State dicts of PyTorch's modules, mapped by `dbc weights map`, give the modules' answers to 1e-5.

Each is saved as safetensors and as .npz, and mapped by a mapping written by hand and by the one that --suggest proposes; the
weights must be the same bytes each time.

usage: weights_map.py DBC DIR

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import math
import pathlib
import subprocess
import sys

import torch

DBC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


class Case:
    """`module` gives for xs, of shape [length, 4], what the entry gives for the list. Without `is_proposed` --suggest cannot
    know what the mapping says."""

    def __init__(self, name, module, params, entry, kind, mapping, call=lambda net, xs: net(xs), is_proposed=True, more=""):
        self.name, self.module, self.mapping, self.call, self.is_proposed = name, module, mapping, call, is_proposed
        self.source = f"model {name};\nimport nn;\n{more}\nparam {params};\nentry e(xs: [f32[4]]) -> {kind} {{ {entry} }}\n"


def recurrent(layer, suffix, source="", gru=False):
    """The entries of one layer and direction."""
    first, second = f"{source}bias_ih_{suffix}", f"{source}bias_hh_{suffix}"
    weights = {f"{layer}.W": f"{source}weight_ih_{suffix}", f"{layer}.U": f"{source}weight_hh_{suffix}"}
    return weights | ({f"{layer}.b": first, f"{layer}.d": second} if gru else {f"{layer}.b": {"add": [first, second]}})


def stacked(gru):
    biases = {"b": "bias_ih_l{i}", "d": "bias_hh_l{i}"} if gru else {"b": {"add": ["bias_ih_l{i}", "bias_hh_l{i}"]}}
    each = {"W": "weight_ih_l{i}", "U": "weight_hh_l{i}"} | biases
    above = {f"rnn.above.{name}": {"stack": value, "first": 1} for name, value in each.items()}
    return recurrent("rnn.first", "l0", gru=gru) | above


def attention(param, source=""):
    return {f"{param}.W": f"{source}in_proj_weight", f"{param}.b": f"{source}in_proj_bias",
            f"{param}.out.W": f"{source}out_proj.weight", f"{param}.out.b": f"{source}out_proj.bias"}


def encoder(param, source="", each=lambda name: name):
    entries = attention(f"{param}.self_attn", f"{source}self_attn.")
    for name in ("linear1", "linear2", "norm1", "norm2"):
        entries[f"{param}.{name}.{'W' if name[0] == 'l' else 'g'}"] = f"{source}{name}.weight"
        entries[f"{param}.{name}.b"] = f"{source}{name}.bias"
    return {name: each(value) for name, value in entries.items()}


class Tagger(torch.nn.Module):
    """Modules inside one another, under names of their own."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.ModuleDict({"tokens": torch.nn.Embedding(7, 4)})
        self.encoder = torch.nn.LSTM(4, 3, bidirectional=True)
        self.decoder = torch.nn.LSTM(4, 3)
        self.register_buffer("position_ids", torch.arange(7))
        self.classify = torch.nn.Sequential(torch.nn.Linear(9, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2, bias=False))

    def forward(self, xs):
        ys = xs + self.embed["tokens"].weight[2]
        return self.classify(torch.cat([self.encoder(ys)[0], self.decoder(ys)[0]], dim=1))


def first(net, xs):
    return net(xs)[0]


# Gates in another order than PyTorch's.
OWN_LSTM = """
layer Own {
  param W: f32[12, 4], U: f32[12, 3], b: f32[12];
  fn run(xs: [f32[4]]) -> [f32[3]] {
    let states = scan(x in xs, (h, c) = (zeros(3), zeros(3))) {
      let (o, g, f, i) = split(W @ x + U @ h + b);
      let next = sigmoid(f) * c + sigmoid(i) * tanh(g);
      (sigmoid(o) * tanh(next), next)
    };
    map((h, c) in states) h
  }
}"""
GATES = {"from": "ifgo", "to": "ogfi"}

CASES = [
    Case("linear", lambda: torch.nn.Linear(4, 3), "l: nn.Linear[4, 3]", "map(x in xs) l(x)", "[f32[3]]", {"l.W": "weight", "l.b": "bias"}),
    Case("turned", lambda: torch.nn.Linear(4, 3), "W: f32[4, 3], b: f32[3]", "map(x in xs) { x @ W + b }", "[f32[3]]",
         {"W": {"transpose": "weight"}, "b": "bias"}),
    Case("no_bias", lambda: torch.nn.Linear(4, 3, bias=False), "l: nn.Linear[4, 3]", "map(x in xs) l(x)", "[f32[3]]", {"l.W": "weight", "l.b": 0}),
    Case("conv", lambda: torch.nn.Conv1d(4, 2, 3), "l: nn.Conv1d[4, 2, 3]", "l.run(xs, 1, 2)", "[f32[2]]",
         {"l.W": {"reshape": {"permute": "weight", "axes": [2, 0, 1]}}, "l.b": "bias"},
         lambda net, xs: torch.nn.functional.conv1d(xs.T, net.weight, net.bias, padding=2).T),
    Case("lstm", lambda: torch.nn.LSTM(4, 3), "rnn: nn.LSTM[4, 3]", "rnn.run(xs)", "[f32[3]]", recurrent("rnn", "l0"), first),
    Case("lstm_layers", lambda: torch.nn.LSTM(4, 3, num_layers=3), "rnn: nn.StackedLSTM[4, 3, 3]", "rnn.run(xs)", "[f32[3]]", stacked(False), first),
    Case("lstm_square", lambda: torch.nn.LSTM(4, 4, num_layers=3), "rnn: nn.StackedLSTM[4, 4, 3]", "rnn.run(xs)", "[f32[4]]", stacked(False), first),
    Case("lstm_two_layers", lambda: torch.nn.LSTM(4, 4, num_layers=2), "rnn: nn.StackedLSTM[4, 4, 2]", "rnn.run(xs)", "[f32[4]]", stacked(False), first),
    Case("lstm_directions", lambda: torch.nn.LSTM(4, 3, bidirectional=True), "rnn: nn.BiLSTM[4, 3]", "rnn(xs)", "[f32[6]]",
         recurrent("rnn.fwd", "l0") | recurrent("rnn.bwd", "l0_reverse"), first),
    Case("lstm_both", lambda: torch.nn.LSTM(4, 3, num_layers=2, bidirectional=True), "low: nn.BiLSTM[4, 3], high: nn.BiLSTM[6, 3]",
         "high(low(xs))", "[f32[6]]",
         recurrent("low.fwd", "l0") | recurrent("low.bwd", "l0_reverse") | recurrent("high.fwd", "l1") | recurrent("high.bwd", "l1_reverse"), first),
    Case("lstm_gates", lambda: torch.nn.LSTM(4, 3), "rnn: Own", "rnn.run(xs)", "[f32[3]]",
         {"rnn.W": {"gates": "weight_ih_l0", **GATES}, "rnn.U": {"gates": "weight_hh_l0", **GATES},
          "rnn.b": {"gates": {"add": ["bias_ih_l0", "bias_hh_l0"]}, **GATES}}, first, is_proposed=False, more=OWN_LSTM),
    Case("gru", lambda: torch.nn.GRU(4, 3), "rnn: nn.GRU[4, 3]", "rnn.run(xs)", "[f32[3]]", recurrent("rnn", "l0", gru=True), first),
    Case("gru_layers", lambda: torch.nn.GRU(4, 3, num_layers=3), "rnn: nn.StackedGRU[4, 3, 3]", "rnn.run(xs)", "[f32[3]]", stacked(True), first),
    Case("gru_directions", lambda: torch.nn.GRU(4, 3, bidirectional=True), "rnn: nn.BiGRU[4, 3]", "rnn(xs)", "[f32[6]]",
         recurrent("rnn.fwd", "l0", gru=True) | recurrent("rnn.bwd", "l0_reverse", gru=True), first),
    Case("attention", lambda: torch.nn.MultiheadAttention(4, 2), "a: nn.MultiheadAttention[2, 2]", "a.own(xs)", "[f32[4]]",
         attention("a"), lambda net, xs: net(xs, xs, xs)[0]),
    Case("attention_apart", lambda: torch.nn.MultiheadAttention(4, 2, bias=False), "a: nn.Attention[4, 2, 2]", "map(x in xs) a(x, xs)", "[f32[4]]",
         {f"a.{to}": {"gates": "in_proj_weight", "from": "QKV", "to": to} for to in "QKV"} | {"a.O": "out_proj.weight"},
         lambda net, xs: net(xs, xs, xs)[0], is_proposed=False),
    Case("encoder_layer", lambda: torch.nn.TransformerEncoderLayer(4, 2, dim_feedforward=5), "layer_: nn.TransformerEncoderLayer[2, 2, 5]",
         "layer_(xs)", "[f32[4]]", encoder("layer_"), lambda net, xs: net(xs[:, None])[:, 0]),
    Case("encoder", lambda: torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2, dim_feedforward=5), 3, enable_nested_tensor=False),
         "blocks: [nn.TransformerEncoderLayer[2, 2, 5]; 3]", "fold(l in blocks, ys = xs) l(ys)", "[f32[4]]",
         encoder("blocks", "layers.{i}.", lambda name: {"stack": name}), lambda net, xs: net(xs[:, None])[:, 0]),
    Case("tagger", Tagger, "tokens: nn.Embedding[7, 4], reader: nn.BiLSTM[4, 3], decoder: nn.LSTM[4, 3], inner: nn.Linear[9, 5], outer: nn.Linear[5, 2]",
         "let ys = map(x in xs) { x + tokens(2) }; map((a, b) in zip(reader(ys), decoder.run(ys))) { outer(tanh(inner([a, b]))) }", "[f32[2]]",
         {"tokens.W": "embed.tokens.weight"} | recurrent("reader.fwd", "l0", "encoder.") | recurrent("reader.bwd", "l0_reverse", "encoder.")
         | recurrent("decoder", "l0", "decoder.")
         | {"inner.W": "classify.0.weight", "inner.b": "classify.0.bias", "outer.W": "classify.2.weight", "outer.b": 0}),
]


def save(state, stem):
    """The state dict in each form that there is a library for."""
    paths = []
    try:
        from safetensors.torch import save_file

        save_file({name: tensor.contiguous() for name, tensor in state.items()}, f"{stem}.safetensors")
        paths.append(f"{stem}.safetensors")
    except ImportError:
        print("safetensors is not installed: state dicts are not saved by it")
    try:
        import numpy

        for name, write in (("", numpy.savez), ("_deflated", numpy.savez_compressed)):
            write(f"{stem}{name}.npz", **{key: tensor.numpy() for key, tensor in state.items()})
            paths.append(f"{stem}{name}.npz")
    except ImportError:
        print("NumPy is not installed: state dicts are not saved by it")
    return paths


def inputs():
    return [[[round(math.sin(1 + 3 * i + 7 * j + length), 3) for j in range(4)] for i in range(length)] for length in (1, 2, 5)]


def dbc(*arguments):
    done = subprocess.run([DBC, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"dbc {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def map_weights(case, folder, paths):
    """The weights that each way to map each file gives; those must be the same."""
    model, by_hand = folder / "model.dyn", folder / "mapping.json"
    by_hand.write_text(json.dumps(case.mapping))
    found = {}
    for path in paths:
        mappings = [by_hand]
        if case.is_proposed:
            proposed = pathlib.Path(path + ".proposed.json")
            proposed.write_text(dbc("weights", "map", model, "--from", path, "--suggest"))
            mappings.append(proposed)
        for mapping in mappings:
            weights = pathlib.Path(f"{path}.{mapping.name}.safetensors")
            dbc("weights", "map", model, "--from", path, "--mapping", mapping, "-o", weights)
            found[f"{path} by {mapping.name}"] = weights.read_bytes()
    return weights, {name for name in found if found[name] != weights.read_bytes()}


def far(got, expected):
    """Whether answers differ by more than 1e-5 of what is largest."""
    got, expected = torch.tensor(got, dtype=torch.double), expected.double()
    return got.shape != expected.shape or (got - expected).abs().max() > 1e-5 * max(1, expected.abs().max())


def check(case):
    folder = FOLDER / case.name
    folder.mkdir(parents=True)
    (folder / "model.dyn").write_text(case.source)
    (folder / "in.jsonl").write_text("".join(json.dumps({"args": {"xs": xs}}) + "\n" for xs in inputs()))
    torch.manual_seed(1)
    net = case.module().eval()
    weights, others = map_weights(case, folder, save(net.state_dict(), folder / "state"))
    wrong = [f"{case.name}: other weights from {other}" for other in sorted(others)]
    net.double()
    # That compiled code gives what the interpreter gives is for other tests; two show that it reads the file.
    for command in ("interpret", "run") if case.name in ("encoder", "tagger") else ("interpret",):
        out = dbc(command, folder / "model.dyn", "--input", folder / "in.jsonl", "--weights", weights)
        for xs, line in zip(inputs(), out.splitlines()):
            with torch.no_grad():
                expected = case.call(net, torch.tensor(xs, dtype=torch.double))
            if far(json.loads(line), expected):
                wrong.append(f"{case.name}: {command} gives {line}, PyTorch {expected.tolist()}")
    return wrong


def main():
    wrong = [line for case in CASES for line in check(case)]
    print("\n".join(wrong) or f"{len(CASES)} modules agree")
    return 1 if wrong else 0


sys.exit(main())
