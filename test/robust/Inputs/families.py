"""Models that grow with one number, each in another way: families.py FAMILY N prints the one of size N.

A family is a function of n that gives the declarations behind `model family;`.
"""

import sys

TREE = "data T(x: f32, kids: [T]);\n"


def cells_chain(n):
    """n cells, each calls the next."""
    cells = [f"cell c{i}(t: T) -> f32 {{ tanh(c{i + 1}(t) + t.x) }}\n" for i in range(n)]
    return TREE + "".join(cells) + f"cell c{n}(t: T) -> f32 {{ t.x }}\nentry e(t: T) -> f32 {{ c0(t) }}\n"


def cells_circle(n):
    """One recursion of n cells."""
    cells = [f"cell c{i}(t: T) -> f32 {{ tanh(t.x + sum(k in t.kids) c{(i + 1) % n}(k)) }}\n" for i in range(n)]
    return TREE + "".join(cells) + "entry e(t: T) -> f32 { c0(t) }\n"


def cells_steps(n):
    """One recursion of n cells over a number that is lowered."""
    cells = [
        f"cell c{i}(t: T, s in 0..9) -> f32 {{ if s == 0 {{ t.x }} else {{ tanh(c{(i + 1) % n}(t, s - 1)) }} }}\n" for i in range(n)
    ]
    return TREE + "".join(cells) + "entry e(t: T) -> f32 { c0(t, 8) }\n"


def cells_apart(n):
    """n recursions, one after the other in one entry."""
    cells = [f"cell c{i}(t: T) -> f32 {{ tanh(t.x + sum(k in t.kids) c{i}(k)) }}\n" for i in range(n)]
    lets = "let s0 = 0.0;\n" + "".join(f"let s{i + 1} = s{i} + c{i}(t);\n" for i in range(n))
    return TREE + "".join(cells) + f"entry e(t: T) -> f32 {{\n{lets}s{n}\n}}\n"


def cells_given(n):
    """n calls of a recursion with a captured argument."""
    lets = "let s0 = 0.5;\n" + "".join(f"let s{i + 1} = c(t, s{i} + 1.0);\n" for i in range(n))
    return TREE + "cell c(t: T, v: f32) -> f32 { tanh(t.x * v + sum(k in t.kids) c(k, v)) }\n" + f"entry e(t: T) -> f32 {{\n{lets}s{n}\n}}\n"


def calls_of_a_cell(n):
    """One cell calls itself on n fields."""
    fields = ", ".join(f"k{i}: [T]" for i in range(n))
    lets = "let s0 = t.x;\n" + "".join(f"let s{i + 1} = s{i} + sum(k in t.k{i}) c(k);\n" for i in range(n))
    return f"data T(x: f32, {fields});\ncell c(t: T) -> f32 {{\n{lets}tanh(s{n})\n}}\nentry e(t: T) -> f32 {{ c(t) }}\n"


def entries(n):
    return TREE + "cell c(t: T) -> f32 { tanh(t.x + sum(k in t.kids) c(k)) }\n" + "".join(
        f"entry e{i}(t: T) -> f32 {{ c(t) * {i}.5 }}\n" for i in range(n)
    )


def lets_chain(n):
    """Each let needs the one before."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = tanh(a{i} * w + {i}.5);\n" for i in range(n))
    return f"param w: f32[8];\nentry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"


def lets_wide(n):
    """All lets need one value, and one needs all of them."""
    lets = "".join(f"let a{i} = tanh(x * {i}.5);\nlet s{i + 1} = s{i} + a{i};\n" for i in range(n))
    return f"param w: f32[8];\nentry e(x: f32[8]) -> f32[8] {{\nlet s0 = w;\n{lets}s{n}\n}}\n"


def lets_of_products(n):
    """Each let needs the one before, every second one multiplies it."""
    lets = "let a0 = x;\n" + "".join(
        f"let a{i + 1} = tanh(m @ a{i}) + x;\n" if i % 2 else f"let a{i + 1} = sigmoid(a{i}) * a{max(0, i - 1)};\n" for i in range(n)
    )
    return f"param m: f32[8, 8];\nentry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"


def loss_of_products(n):
    """The same as a loss, whose gradient goes through all."""
    return lets_of_products(n).replace("entry e(x: f32[8]) -> f32[8]", "loss e(x: f32[8])").replace(f"\na{n}\n", f"\nsum(a{n})\n")


def lets_of_sums(n):
    """Lets that no stage can hold together: each needs the elements of the one before."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = tanh(x * sum(a{i}) + {i}.5);\n" for i in range(n))
    return f"entry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"


def products(n):
    """n products, one after the other, each with a param of its own."""
    params = "".join(f"param W{i}: f32[8, 8];\n" for i in range(n))
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = tanh(W{i} @ a{i});\n" for i in range(n))
    return f"{params}entry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"


def params(n):
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = a{i} + p{i};\n" for i in range(n))
    return "".join(f"param p{i}: f32[8];\n" for i in range(n)) + f"entry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"


def joins(n):
    """One join of n operands."""
    lets = "".join(f"let a{i} = tanh(x * {i}.5);\n" for i in range(n))
    operands = ", ".join(f"a{i}" for i in range(n))
    return f"entry e(x: f32[8]) -> f32[{8 * n}] {{\n{lets}[{operands}]\n}}\n"


def layers(n):
    """n layers that are called one after the other."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = l{i}(a{i});\n" for i in range(n))
    return (
        "layer L[k] { param W: f32[k, k], b: f32[k]; fn call(x: f32[k]) -> f32[k] { tanh(W @ x + b) } }\n"
        + "".join(f"param l{i}: L[8];\n" for i in range(n))
        + f"entry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"
    )


def layer_calls(n):
    """n calls of one layer."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = l(a{i});\n" for i in range(n))
    return (
        "layer L[k] { param W: f32[k, k], b: f32[k]; fn call(x: f32[k]) -> f32[k] { tanh(W @ x + b) } }\nparam l: L[8];\n"
        + f"entry e(x: f32[8]) -> f32[8] {{\n{lets}a{n}\n}}\n"
    )


def types(n):
    """n data types, each with a field of the next, and a cell over each."""
    return (
        "".join(f"data T{i}(x: f32, next: T{i + 1});\n" for i in range(n))
        + f"data T{n}(x: f32);\n"
        + "".join(f"cell c{i}(t: T{i}) -> f32 {{ t.x + c{i + 1}(t.next) }}\n" for i in range(n))
        + f"cell c{n}(t: T{n}) -> f32 {{ t.x }}\nentry e(t: T0) -> f32 {{ c0(t) }}\n"
    )


def constructors(n):
    """A match of n arms; n is at most 256."""
    return (
        "data T {\n" + "".join(f"  C{i}(x{i}: f32, k{i}: [T]);\n" for i in range(n)) + "}\n"
        "cell c(t: T) -> f32 {\n  match t {\n"
        + "".join(f"    C{i}(x{i}, k{i}) => {{ tanh(x{i} * {i}.5 + sum(k in k{i}) c(k)) }}\n" for i in range(n))
        + "  }\n}\nentry e(t: T) -> f32 { c(t) }\n"
    )


def matches(n):
    """n matches, one after the other."""
    lets = "let a0 = 0.5;\n" + "".join(f"let a{i + 1} = match t {{ A(x) => a{i} + x, B(y) => a{i} * y, }};\n" for i in range(n))
    return f"data T {{ A(x: f32); B(y: f32); }}\nentry e(t: T) -> f32 {{\n{lets}a{n}\n}}\n"


def records(n):
    """A record of n fields, as the state of a fold."""
    made = lambda value: "R { " + ", ".join(f"f{i} = {value(i)}" for i in range(n)) + " }"
    return (
        "record R { " + " ".join(f"f{i}: f32;" for i in range(n)) + " }\n"
        f"entry e(xs: [f32]) -> R {{ fold(x in xs, r = {made(lambda i: f'{i}.5')}) {{ {made(lambda i: f'r.f{i} + x')} }} }}\n"
    )


def arguments(n):
    """n arguments of an entry."""
    lets = "let a0 = 0.5;\n" + "".join(f"let a{i + 1} = a{i} + x{i};\n" for i in range(n))
    return f"entry e({', '.join(f'x{i}: f32' for i in range(n))}) -> f32 {{\n{lets}a{n}\n}}\n"


def maps(n):
    """n lists, each made of the one before."""
    lets = "let a0 = xs;\n" + "".join(f"let a{i + 1} = map(x in a{i}) tanh(x + {i}.5);\n" for i in range(n))
    return f"entry e(xs: [f32]) -> f32 {{\n{lets}sum(a{n})\n}}\n"


def folds(n):
    """n folds, one after the other."""
    lets = "let a0 = 0.5;\n" + "".join(f"let a{i + 1} = fold(x in xs, s = a{i}) tanh(s + x);\n" for i in range(n))
    return f"entry e(xs: [f32]) -> f32 {{\n{lets}a{n}\n}}\n"


def scans(n):
    """n scans, each over the list that the one before gives."""
    lets = "let a0 = xs;\n" + "".join(f"let a{i + 1} = scan(x in a{i}, s = 0.5) tanh(s + x);\n" for i in range(n))
    return f"entry e(xs: [f32]) -> f32 {{\n{lets}sum(a{n})\n}}\n"


def binders(n):
    """Binders, n deep."""
    body = "tanh(" + " + ".join(f"x{i}" for i in range(n)) + ")"
    return "entry e(xs: [f32]) -> f32 {\n" + "".join(f"sum(x{i} in xs) {{ " for i in range(n)) + body + " }" * n + "\n}\n"


def ifs(n):
    """Conditions on structure, n deep."""
    return (
        "entry e(xs: [f32], k: int) -> f32 {\n"
        + "".join(f"if k == {i} {{ sum(x in xs) tanh(x + {i}.5) }} else {{ " for i in range(n))
        + "0.5"
        + " }" * n
        + "\n}\n"
    )


def chosen(n):
    """Conditions on computed values, n one after the other."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = if a{i} > {i}.5 {{ tanh(a{i}) }} else {{ a{i} + 1.0 }};\n" for i in range(n))
    return f"entry e(x: f32) -> f32 {{\n{lets}a{n}\n}}\n"


def fns(n):
    """n fns, called one after the other."""
    lets = "let a0 = x;\n" + "".join(f"let a{i + 1} = call{i}(a{i});\n" for i in range(n))
    return "".join(f"fn call{i}(x: f32) -> f32 {{ tanh(x + {i}.5) }}\n" for i in range(n)) + f"entry e(x: f32) -> f32 {{\n{lets}a{n}\n}}\n"


def dims(n):
    """n dims, each made of the one before."""
    return (
        "dim d0 = 2"
        + "".join(f", d{i + 1} = d{i} + 1" for i in range(n))
        + ";\n"
        + "".join(f"param p{i}: f32[d{i}];\n" for i in range(n))
        + "entry e(x: f32) -> f32 {\nlet a0 = x;\n"
        + "".join(f"let a{i + 1} = a{i} + sum(p{i});\n" for i in range(n))
        + f"a{n}\n}}\n"
    )


def errors(n):
    """n names that are not declared."""
    return "entry e(x: f32) -> f32 {\n" + "".join(f"let a{i} = tanh(b{i});\n" for i in range(n)) + "x\n}\n"


FAMILIES = {
    f.__name__: f
    for f in (
        cells_chain, cells_circle, cells_steps, cells_apart, cells_given, calls_of_a_cell, entries, lets_chain, lets_wide, lets_of_products, loss_of_products, lets_of_sums,
        products, params, joins, layers, layer_calls, types, constructors, matches, records, arguments, maps, folds, scans, binders, ifs,
        chosen, fns, dims, errors,
    )
}


def model(family, n):
    return "model family;\n" + FAMILIES[family](n)


if __name__ == "__main__":
    print(model(sys.argv[1], int(sys.argv[2])), end="")
