# Tensors of f32, int and bool of one to four axes, and what is done with them element by element. Part of dbc, under
# Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# The kinds t1 .. t4 are tensors of f32, i1 .. i4 of int, z1 .. z4 of bool; x1 .. x4 are those of f32 that the input holds, as it
# holds them: thousandths, so that a comparison of them can be made never to lie within rounding. All tensors of a program
# have the same last axes, of dims r1 .. r4.
import math

from . import grammar

RANKS = (1, 2, 3, 4)
MOST = 4096  # elements
AXES = {rank: [f"r{axis}" for axis in range(5 - rank, 5)] for rank in RANKS}


def extents(rank):
    return ", ".join(AXES[rank])


def draw_dims(random):
    """Lengths of the four axes: the last one rather one that compilers write out step by step; in all few elements, or many."""
    large = random.random() < 0.5
    room = MOST if large else 64
    lengths = [random.choice([2, 4, 8, 16, random.randint(1, 33)])]
    for _ in range(3):
        most = max(1, min(20, room // math.prod(lengths)))
        lengths.insert(0, random.randint((most + 1) // 2 if large else 1, most))
    return lengths


def _f32(rank):
    t, i, z = f"t{rank}", f"i{rank}", f"z{rank}"
    ways = [production for production in grammar.ELEMENTWISE if not production[0].startswith("select")]
    ways = grammar.of(t, ways) + [
        ("choice between tensors", f"select(<{z}>, <{t}>, <{t}>)", 6),
        ("choice of a number", f"select(<{z}>, 1, <{t}>)", 3),
        ("choice of a number", f"select(<{z}>, <{t}>, 0.5)", 2),
        ("ints to f32", f"(0.1 * f32(<{i}> % 5))", 3),
        ("bools to f32", f"f32(int(<{z}>))", 2),
        ("slice of a join", f"slice([<{t}>, <{t}>], 1, {AXES[rank][0]})", 2),
    ]
    if rank == 1:
        return ways + [("put in a tensor", f"put(<{t}>, 0, maximum(<{t}>[0], 0.25))", 2)]
    row, column = f"t{rank - 1}", ", ".join([*AXES[rank][:-1], "1"])
    return ways + [
        ("row that is stretched", f"(<{t}> * <{row}>)", 2),
        ("row that is stretched", f"select(<{z}>, <{row}>, <{t}>)", 2),
        ("column that is stretched", f"(<{t}> - reshape(mean(<{t}>, axis = {rank - 1}), {column}))", 2),
        ("put in a tensor", f"put(<{t}>, 0, maximum(<{t}>[0], <{row}>))", 2),
        ("put in a fold", f"fold(#k in 0..2, #s = <{t}>) {{ put(#s, 0, maximum(#s[0], <{row}>)) }}", 2),
        ("other order of axes", f"transpose(tanh(transpose(<{t}>)))", 1),
    ]


def _int(rank):
    i, z, x = f"i{rank}", f"z{rank}", f"x{rank}"
    return [
        ("arithmetic of int tensors", f"(<{i}> + <{i}>)"),
        ("arithmetic of int tensors", f"(<{i}> - <{i}>)"),
        ("arithmetic of int tensors", f"((<{i}> * <{i}>) % 7)", 2),
        ("arithmetic of int tensors", f"div(<{i}>, 3)"),
        ("arithmetic of int tensors", f"((-<{i}>) % 5)"),
        ("larger of int tensors", f"maximum(<{i}>, <{i}>)"),
        ("larger of int tensors", f"minimum(<{i}>, <{i}>)"),
        ("larger of int tensors", f"clip(<{i}>, -1, 4)"),
        ("larger of int tensors", f"abs(<{i}>)"),
        ("choice between int tensors", f"select(<{z}>, <{i}>, <{i}>)", 3),
        ("choice between int tensors", f"select(<{z}>, 1, <{i}>)", 3),
        ("bools to ints", f"int(<{z}>)", 2),
        ("f32 to ints", f"int(10 * ${x} + 0.005)", 2),
    ]


def _bool(rank):
    i, z, x = f"i{rank}", f"z{rank}", f"x{rank}"
    return [
        ("logic of bool tensors", f"(<{z}> && <{z}>)"),
        ("logic of bool tensors", f"(<{z}> || <{z}>)"),
        ("logic of bool tensors", f"(!<{z}>)"),
        *(("comparison of int tensors", f"(<{i}> {how} <{i}>)") for how in ("==", "!=", "<", "<=", ">", ">=")),
        *(("comparison of tensors", f"(10 * ${x} + 0.005 {how} 10 * ${x})", 2) for how in ("<", ">=")),
        ("ints to bools", f"bool(<{i}> % 2)"),
    ]


for _rank in RANKS:
    _all = extents(_rank)
    grammar.KINDS.update({f"t{_rank}": f"f32[{_all}]", f"x{_rank}": f"f32[{_all}]", f"i{_rank}": f"int[{_all}]", f"z{_rank}": f"bool[{_all}]"})
    grammar.PLAIN.update(
        {
            f"{kind}{_rank}": [("fill", f"fill({number}, {_all})"), ("tensor of the input", f"${kind}{_rank}", 8)]
            for kind, number in (("t", "0.5"), ("i", "2"), ("z", "true"))
        }
    )
    grammar.DEEP.update({f"t{_rank}": _f32(_rank), f"i{_rank}": _int(_rank), f"z{_rank}": _bool(_rank)})
