"""The library's layers beside PyTorch's modules: for each a model, the module with the same weights, and inputs.

Weights and inputs are formulas, so that only the module's answers need be kept (reference.json).

usage: modules.py DBC check DIR REFERENCE   dbc's interpreter and compiled code against the answers kept, to 1e-5
       modules.py DBC answers               PyTorch's answers, as JSON; needs PyTorch
       modules.py DBC same REFERENCE        whether PyTorch gives the answers kept, to 1e-5; needs PyTorch

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile


DBC = sys.argv[1]


class Case:
    """`layer` is the type of a param; `entry` is an expression, of type `kind`, of this param as `l` and of the arguments xs
    and ys, lists of f32[4]. `module(torch, w)` gives a function of tensors [length, 4]; w has the param's weights by their
    paths in `l`. `lengths` are those of xs."""

    def __init__(self, name, layer, kind, entry, module, lengths=(1, 2, 5)):
        self.name, self.layer, self.kind, self.entry, self.module, self.lengths = name, layer, kind, entry, module, lengths
        self.arguments = ("xs", "ys") if "ys" in entry else ("xs",)

    def declarations(self):
        arguments = ", ".join(f"{name}: [f32[4]]" for name in self.arguments)
        entry = re.sub(r"\bl\b", f"of_{self.name}", self.entry)
        return f"param of_{self.name}: nn.{self.layer};\nentry {self.name}({arguments}) -> {self.kind} {{ {entry} }}\n"

    def inputs(self):
        return [
            {
                "xs": [[round(math.sin(1 + 3 * i + 7 * j + length), 3) for j in range(4)] for i in range(length)],
                "ys": [[round(math.cos(2 + 5 * i + 3 * j + length), 3) for j in range(4)] for i in range(length % 3 + 1)],
            }
            for length in self.lengths
        ]


def weight(w, path, name):
    """The weight `name` of the layer at a path; "l.above[1]" is the second layer of a table."""
    path, _, index = path.partition("[")
    return w[f"{path}.{name}"][int(index[:-1])] if index else w[f"{path}.{name}"]


def recurrent(kind, layers, answer):
    """torch.nn.LSTM or GRU with the weights at the paths in `layers`, a list a layer, a path a direction. `answer` takes the
    hidden states behind each element and, of each layer and direction, that behind all."""

    def module(torch, w):
        net = getattr(torch.nn, kind)(4, 3, num_layers=len(layers), bidirectional=len(layers[0]) == 2).double()
        state = {}
        for k, paths in enumerate(layers):
            for path, suffix in zip(paths, ("", "_reverse")):
                state[f"weight_ih_l{k}{suffix}"] = weight(w, path, "W")
                state[f"weight_hh_l{k}{suffix}"] = weight(w, path, "U")
                state[f"bias_ih_l{k}{suffix}"] = weight(w, path, "b")
                state[f"bias_hh_l{k}{suffix}"] = weight(w, path, "d") if kind == "GRU" else torch.zeros(12)
        net.load_state_dict(state)

        def call(xs, ys):
            each, last = net(xs)
            return answer(each, last[0] if kind == "LSTM" else last)

        return call

    return module


def each(outputs, last):
    return outputs


def every(outputs, last):
    return last


def highest(outputs, last):
    return last[-1]


def joined(outputs, last):
    return last.reshape(-1)


def attention(torch, w, path):
    net = torch.nn.MultiheadAttention(4, 2).double()
    net.load_state_dict(attention_state(w, path))
    return net


def attention_state(w, path, prefix=""):
    return {
        f"{prefix}in_proj_weight": w[f"{path}.W"],
        f"{prefix}in_proj_bias": w[f"{path}.b"],
        f"{prefix}out_proj.weight": w[f"{path}.out.W"],
        f"{prefix}out_proj.bias": w[f"{path}.out.b"],
    }


def causal(torch, n):
    """True where an element must not look."""
    return torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)


def attends(call):
    def module(torch, w):
        net = attention(torch, w, "l")
        return lambda xs, ys: call(torch, net, xs, ys)[0]

    return module


def block(decoder, norm_first):
    def module(torch, w):
        kind = torch.nn.TransformerDecoderLayer if decoder else torch.nn.TransformerEncoderLayer
        net = kind(4, 2, dim_feedforward=5, norm_first=norm_first).double().eval()
        state = attention_state(w, "l.self_attn", "self_attn.")
        if decoder:
            state.update(attention_state(w, "l.multihead_attn", "multihead_attn."))
        for name in ("linear1", "linear2"):
            state.update({f"{name}.weight": w[f"l.{name}.W"], f"{name}.bias": w[f"l.{name}.b"]})
        for name in ("norm1", "norm2", "norm3")[: 3 if decoder else 2]:
            state.update({f"{name}.weight": w[f"l.{name}.g"], f"{name}.bias": w[f"l.{name}.b"]})
        net.load_state_dict(state)
        if decoder:
            return lambda xs, ys: net(xs[:, None], ys[:, None], tgt_mask=causal(torch, len(xs)))[:, 0]
        return lambda xs, ys: net(xs[:, None])[:, 0]

    return module


def conv1d(stride, padding):
    def module(torch, w):
        net = torch.nn.Conv1d(4, 2, 3, stride=stride, padding=padding).double()
        net.load_state_dict({"weight": w["l.W"].reshape(3, 2, 4).permute(1, 2, 0), "bias": w["l.b"]})
        return lambda xs, ys: net(xs.T[None])[0].T

    return module


def dropout(torch, w):
    net = torch.nn.Dropout(0.3).eval()
    return lambda xs, ys: net(xs)


ONE, BOTH, STACK = [["l"]], [["l.fwd", "l.bwd"]], [["l.first"], ["l.above[0]"], ["l.above[1]"]]
CASES = [
    Case("lstm", "LSTM[4, 3]", "[f32[3]]", "l.run(xs)", recurrent("LSTM", ONE, each)),
    Case("lstm_last", "LSTM[4, 3]", "f32[3]", "l.last(xs)", recurrent("LSTM", ONE, highest)),
    Case("gru", "GRU[4, 3]", "[f32[3]]", "l.run(xs)", recurrent("GRU", ONE, each)),
    Case("gru_last", "GRU[4, 3]", "f32[3]", "l.last(xs)", recurrent("GRU", ONE, highest)),
    Case("bilstm", "BiLSTM[4, 3]", "[f32[6]]", "l(xs)", recurrent("LSTM", BOTH, each)),
    Case("bilstm_ends", "BiLSTM[4, 3]", "f32[6]", "l.ends(xs)", recurrent("LSTM", BOTH, joined)),
    Case("bigru", "BiGRU[4, 3]", "[f32[6]]", "l(xs)", recurrent("GRU", BOTH, each)),
    Case("bigru_ends", "BiGRU[4, 3]", "f32[6]", "l.ends(xs)", recurrent("GRU", BOTH, joined)),
    Case("stacked_lstm", "StackedLSTM[4, 3, 3]", "[f32[3]]", "l.run(xs)", recurrent("LSTM", STACK, each)),
    Case("stacked_lstm_last", "StackedLSTM[4, 3, 3]", "f32[3]", "l.last(xs)", recurrent("LSTM", STACK, highest)),
    Case("stacked_lstm_steps", "StackedLSTM[4, 3, 3]", "f32[3, 3]", "let s = fold(x in xs, s = l.start()) l.step(x, s); s.h", recurrent("LSTM", STACK, every)),
    Case("stacked_gru", "StackedGRU[4, 3, 3]", "[f32[3]]", "l.run(xs)", recurrent("GRU", STACK, each)),
    Case("stacked_gru_last", "StackedGRU[4, 3, 3]", "f32[3]", "l.last(xs)", recurrent("GRU", STACK, highest)),
    Case("stacked_gru_steps", "StackedGRU[4, 3, 3]", "f32[3, 3]", "fold(x in xs, s = l.start()) l.step(x, s)", recurrent("GRU", STACK, every)),
    Case("conv1d", "Conv1d[4, 2, 3]", "[f32[2]]", "l(xs)", conv1d(1, 0), (3, 4, 7)),
    Case("conv1d_padded", "Conv1d[4, 2, 3]", "[f32[2]]", "l.run(xs, 1, 1)", conv1d(1, 1)),
    Case("conv1d_strided", "Conv1d[4, 2, 3]", "[f32[2]]", "l.run(xs, 2, 2)", conv1d(2, 2), (1, 2, 5, 6)),
    Case("dropped", "Dropout[30]", "[f32[4]]", "map(x in xs) l(x)", dropout),
    Case("attention", "MultiheadAttention[2, 2]", "[f32[4]]", "map(x in xs) l(x, ys, ys)", attends(lambda torch, net, xs, ys: net(xs, ys, ys))),
    Case("attention_own", "MultiheadAttention[2, 2]", "[f32[4]]", "l.own(xs)", attends(lambda torch, net, xs, ys: net(xs, xs, xs))),
    Case("attention_causal", "MultiheadAttention[2, 2]", "[f32[4]]", "l.causal(xs)", attends(lambda torch, net, xs, ys: net(xs, xs, xs, attn_mask=causal(torch, len(xs))))),
    Case("encoder", "TransformerEncoderLayer[2, 2, 5]", "[f32[4]]", "l(xs)", block(False, False)),
    Case("encoder_norm_first", "TransformerEncoderLayer[2, 2, 5]", "[f32[4]]", "l.norm_first(xs)", block(False, True)),
    Case("decoder", "TransformerDecoderLayer[2, 2, 5]", "[f32[4]]", "l(xs, ys)", block(True, False)),
    Case("decoder_norm_first", "TransformerDecoderLayer[2, 2, 5]", "[f32[4]]", "l.norm_first(xs, ys)", block(True, True)),
]


def compiled(folder):
    """A model with an entry a case, and the shapes of its params by path, as its manifest has them."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "modules.dyn"
    source.write_text("model modules;\nimport nn;\n" + "".join(case.declarations() for case in CASES))
    subprocess.run([DBC, "compile", source, "-o", folder / "modules"], check=True)
    manifest = json.loads((folder / "modules" / "modules.json").read_text())
    return source, {p["name"]: p["shape"] for p in manifest["params"]}


def weights(params):
    """Numbers for each param, flat, that f32 has exactly."""
    return {
        path: [round(64 * math.sin(1.3 * i + 0.7 * len(path) + k)) / 64 for i in range(math.prod(shape))]
        for k, (path, shape) in enumerate(sorted(params.items()))
    }


def save(path, params, numbers):
    """A safetensors file."""
    header, offset = {}, 0
    for name, shape in params.items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in params:
            file.write(struct.pack(f"<{len(numbers[name])}f", *numbers[name]))


def flat(value):
    return [x for each in value for x in flat(each)] if isinstance(value, list) else [value]


def rounded(value):
    return [rounded(each) for each in value] if isinstance(value, list) else round(value, 8)


def far(got, expected):
    """Whether two answers differ, in shape or by more than 1e-5 of what is largest."""
    a, b = flat(got), flat(expected)
    if len(a) != len(b) or len(got) != len(expected):
        return True
    return any(abs(x - y) > 1e-5 * max(1, max(map(abs, b))) for x, y in zip(a, b))


def check(folder, reference):
    wrong = []
    source, params = compiled(folder)
    save(folder / "weights.safetensors", params, weights(params))
    for case in CASES:
        args = [{name: each[name] for name in case.arguments} for each in case.inputs()]
        (folder / "inputs.jsonl").write_text("".join(json.dumps({"args": each}) + "\n" for each in args))
        for command in ("interpret", "run"):
            options = ["--entry", case.name, "--input", folder / "inputs.jsonl", "--weights", folder / "weights.safetensors"]
            out = subprocess.run([DBC, command, source, *options], check=True, stdout=subprocess.PIPE, text=True).stdout
            found = [json.loads(line) for line in out.splitlines()]
            if len(found) != len(reference[case.name]):
                wrong.append(f"{case.name}: {command} gives {len(found)} answers of {len(reference[case.name])}")
            for i, (got, expected) in enumerate(zip(found, reference[case.name])):
                if far(got, expected):
                    wrong.append(f"{case.name}: input {i}: {command} gives {got}, PyTorch {expected}")
    print("\n".join(wrong) or f"{len(CASES)} modules agree")
    return 1 if wrong else 0


def answers():
    """PyTorch's answer to each input of each case."""
    import torch

    def tensor(numbers):
        return torch.tensor(numbers, dtype=torch.double)

    with tempfile.TemporaryDirectory() as folder:
        params = compiled(pathlib.Path(folder))[1]
    numbers = weights(params)
    result = {}
    for case in CASES:
        name = f"of_{case.name}."
        w = {"l." + path[len(name) :]: tensor(numbers[path]).reshape(params[path]) for path in params if path.startswith(name)}
        net = case.module(torch, w)
        with torch.no_grad():
            result[case.name] = [rounded(net(tensor(each["xs"]), tensor(each["ys"])).tolist()) for each in case.inputs()]
    return result


def main():
    command = sys.argv[2]
    if command == "check":
        return check(pathlib.Path(sys.argv[3]), json.loads(pathlib.Path(sys.argv[4]).read_text()))
    found = answers()
    if command == "answers":
        print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items()) + "\n}")
        return 0
    reference = json.loads(pathlib.Path(sys.argv[3]).read_text())
    wrong = [name for name in found if name not in reference or any(map(far, found[name], reference[name]))]
    print("\n".join(f"{name}: PyTorch gives other answers than are kept" for name in wrong) or f"{len(found)} answers are PyTorch's")
    return 1 if wrong else 0


sys.exit(main())
