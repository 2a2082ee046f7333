# Cuts failing programs down. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import copy

# The least that an expression of a kind can be.
LEAST = {
    "f32": "f32(0.5)",
    "vec": "b0",
    "wec": "c0",
    "mat": "M",
    "bool": "true",
    "int": "2",
    "rec": "State { h = b0, c = b1 }",
    "lst": "nn.State { h = b0, c = b1 }",
    "tup": "(b0, f32(0.5))",
}
# What may vanish altogether.
DROPS = ("entry", "let", "field")


def smaller_children(piece):
    """What could stand in a piece's place."""
    if piece.kind in DROPS and piece.children:
        yield []
    if piece.kind in LEAST and str(piece) not in (LEAST[piece.kind], "{ " + LEAST[piece.kind] + " }"):
        yield ["{ " + LEAST[piece.kind] + " }"] if piece.braced else [LEAST[piece.kind]]
    for inner in piece.walk():
        if (
            inner is not piece
            and inner.kind == piece.kind
            and inner.kind not in DROPS
            and (piece.braced or not inner.braced)
        ):
            yield [inner] if inner.braced == piece.braced else ["{ ", inner, " }"]


def smaller_programs(program):
    """Copies of a program, each with one piece less and all that only it used, the smallest first."""
    smaller = []
    for number, piece in enumerate(program.root.walk()):
        for children in smaller_children(piece):
            each = copy.deepcopy(program)
            list(each.root.walk())[number].children = copy.deepcopy(children)
            each.prune()
            if any(decl.kind == "entry" for decl in each.root.children):
                smaller.append((len(str(each.root)), len(smaller), each))
    return [each for length, _, each in sorted(smaller) if length < len(str(program.root))]


def shrink(programs, fails, tries=200):
    """The smallest list of programs found within `tries` calls for which `fails(programs)` still holds: first fewer programs,
    then less of each."""
    left = tries

    def still(candidate):
        nonlocal left
        left -= 1
        return left >= 0 and fails(candidate)

    if len(programs) > 1:
        alone = next(([program] for program in programs if still([program])), None)
        for program in programs if not alone else []:
            fewer = [each for each in programs if each is not program]
            programs = fewer if fewer and still(fewer) else programs
        programs = alone or programs
    changed = True
    while changed and left > 0:
        changed = False
        for at, program in enumerate(programs):
            for smaller in smaller_programs(program):
                candidate = programs[:at] + [smaller] + programs[at + 1 :]
                if left <= 0:
                    break
                if still(candidate):
                    programs, changed = candidate, True
                    break
    return programs
