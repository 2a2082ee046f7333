# What the language has, and which counters show that it was drawn. Part of dbc, under Apache-2.0 WITH LLVM-exception; see
# LICENSE.
#
# A counter is a tag of the grammar's productions (count.py) or a pattern below, which is looked for in the text of a program.
import re

# What is seen in the text alone. Built-in functions are looked for by their names.
PATTERNS = {
    "import of a module": r"\bnn\.",
    "import of a path": r"\btools\.",
    "dim without a value": r"dim \w+;",
    "dim of a number": r"dim \w+ = \d",
    "dim of a product": r"dim \w+ = \d \* \w+",
    "param of several": r"param [^;{]*, \w+: ",
    "tensor const": r"const \w+: f32",
    "record with dims": r"record \w+\[",
    "layer with dims": r"layer \w+\[",
    "layer without dims": r"layer \w+ \{",
    "dims of a fn": r"fn \w+\[\w+\]\(",
    "arg of a type": r"\(\w+: ",
    "arg in a range": r"\w+ in [^()]*(\)|,) ",
    "by": r"\) -> [^{]* by ",
    "loss without a type": r"loss [^{>]*\) \{",
    "loss with a type": r"loss [^{]*\) -> \(f32",
    "type f32": r": f32\b",
    "type int": r": int\b",
    "type bool": r": bool\b",
    "type index": r": index\[\w+\]",
    "tensor of f32": r": f32\[",
    "tensor of int": r": int\[",
    "tensor of bool": r": bool\[",
    "tensor of index": r": index\[\w+\]\[",
    "type of a module": r": (nn|tools)\.\w+",
    "type list": r": \[",
    "type list of lists": r": \[\[",
    "type table": r": \[[^;\]]*\]?; ",
    "type tuple": r"-> \[?\(",
    "let with a type": r"let \w+: ",
    "pattern `_`": r"[(,] _|\(_ in ",
    "pattern of two": r"let \(\w+, ",
    "pattern in a pattern": r"let \(\(",
    "last comma": r",\)",
    "..": r" in [\w(]+\.\.",
    "||": r" \|\| ",
    "&&": r" && ",
    "==": " == ",
    "!=": " != ",
    "<": r" < ",
    "<=": " <= ",
    ">": r" > ",
    ">=": " >= ",
    "+": r" \+ ",
    "++": r" \+\+ ",
    "-": " - ",
    "*": r" \* ",
    "/": " / ",
    "%": " % ",
    "@": " @ ",
    "sign": r"\(-\w",
    "!": r"![\w(]",
    "field": r"\w\.[a-z]\w*\b(?!\()",
    "method": r"\w\.[a-z]\w*\(",
    "call": r"\b[a-z]\w*\(",
    "axis": r", axis = \d",
    "axes of a slice: a": r"\w\[\w+\]",
    "a, b": r"\w\[\w+, -?\w+\]",
    "a..": r"\[\w+\.\.\]",
    "..b": r"\[\.\.\S",
    "a..b": r"\[\w+\.\.\w+",
    "whole": r"\[\.\., ",
    "from the end": r"\[-\d|, -\d\]|\.\.-\d",
    "record expression": r"\b[A-Z]\w* \{ \w+ = ",
    "number without a point": r"[(+*/<>=-] ?\d+\b(?!\.)",
    "number with a point": r"\d\.\d",
    "number with an exponent": r"\de-\d",
    "true": r"\btrue\b",
    "false": r"\bfalse\b",
    "parentheses": r"\(\(",
    "stride": r", stride = ",
    "padding": r", padding = ",
    "join": r"[(@] ?\[[^\]]+, ",
    "if": r"\bif ",
    "else if": r"\} else if ",
    "match": r"\bmatch ",
    "arm `_`": r"\b_ => ",
    "arm with a block": r"=> \{",
    "arm with an expression": r"=> [^{]",
    "fields of an arm": r"\w\([^()]*\) => ",
    "arm without parentheses": r"[A-Z]\w* => ",
    "binder with a block": r"\b\w+\([^()]* in [^()]*\) \{",
    "binder with a filter": r"\(\w+ in [^(),]+ if ",
    "binder with a state": r" in [^()]+, \w+ = ",
    "binder with states": r" in [^()]+, \(\w+, \w+\) = ",
    "while": r" while ",
    "// comment": "// ",
    "/* comment */": r"/\* ",
}

# Alternatives of the rules of dsl/Dyn.g4. A module's own declarations are those of the one that is imported.
GRAMMAR = {
    "header": ["import of a module", "import of a path"],
    "importDecl": ["import of a module"],
    "importPath": ["import of a module", "import of a path"],
    "decl": ["dim", "number const", "param", "data with one constructor", "record", "layer", "cell"],
    "dimDecl": ["dim"],
    "dimItem": ["dim without a value", "dim of a number", "dim of a product"],
    "constDecl": ["number const", "negative const", "tensor const"],
    "paramDecl": ["param", "param of several"],
    "paramItem": ["param", "initialiser number", "negative initialiser", "initialiser uniform", "initialiser normal", "initialiser glorot"],
    "dataDecl": ["data with one constructor", "data with several constructors"],
    "constructor": ["constructor without fields", "data with several constructors"],
    "fields": ["data with one constructor"],
    "field": ["field of numbers", "field of a node"],
    "recordDecl": ["record with dims", "record without dims"],
    "recordField": ["record"],
    "layerDecl": ["layer with dims", "layer without dims"],
    "layerMember": ["layer in a layer", "table in a layer", "tensor const of a layer", "own layer", "cell of a layer"],
    "dims": ["dims of a fn", "record with dims", "layer with dims"],
    "funcDecl": ["fn call", "cell", "entry for the root", "loss without a type", "loss with a type", "dims of a fn", "by"],
    "args": ["arg of a type", "entry on several arguments"],
    "arg": ["arg of a type", "arg in a range"],
    "type": [
        *("type f32", "type int", "type bool", "type index", "type of a module", "type list", "type list of lists"),
        *("type table", "type tuple"),
    ],
    "extents": ["tensor of f32", "tensor of int", "tensor of bool", "tensor of index"],
    "block": ["let"],
    "let": ["let", "let with a type"],
    "pattern": ["let", "pattern `_`", "pattern of two", "pattern in a pattern"],
    "expr": [".."],
    "orExpr": ["||"],
    "andExpr": ["&&"],
    "cmpExpr": ["==", "!=", "<", "<=", ">", ">="],
    "addExpr": ["+", "-", "++"],
    "mulExpr": ["*", "/", "%", "@"],
    "unary": ["sign", "!"],
    "postfix": ["field", "binder with a block", "binder without braces"],
    "trailer": ["field", "method", "call", "a, b", "record expression"],
    "callArg": ["call", "axis", "stride", "padding", "last comma"],
    "sub": ["axes of a slice: a", "a..", "..b", "a..b", "whole", "from the end"],
    "fieldInit": ["record expression"],
    "primary": [
        *("number without a point", "number with a point", "number with an exponent", "true", "false", "parentheses"),
        *("tuple", "join", "empty list", "if", "match"),
    ],
    "cond": ["if", "else if"],
    "matchExpr": ["match"],
    "arm": ["arm `_`", "arm with a block", "arm with an expression", "arm without parentheses"],
    "armFields": ["fields of an arm"],
    "armField": ["field that is renamed", "field that is bound by its name"],
    "binderHead": ["binder with a filter", "binder with a state"],
    "binderState": ["binder with a state", "binder with states", "while"],
}

# What shows the rules of the language.
RULES = {
    "C1": ["fn call", "fn that gives a node", "fn of lists", "fn on nodes"],
    "C2": [
        *("cell of several keys", "cell of several nodes", "cell without nodes", "key by arithmetic"),
        *("range of an earlier key", "range of a key by the input", "cell of a layer", "cell of a table of layers"),
    ],
    "C3": ["measure by `by`", "measure of two keys", "measure that is kept", "call of a cell", "mutually recursive cells"],
    "C4": ["captured argument", "loop-invariant parameter", "captured list", "captured int", "cell of several nodes"],
    "C5": ["value that changes", "entry for every call"],
    "C6": ["cell of list", "fold of a list", "fold of lists of lists", "fn of lists", "entry of a list", "scan of a record", "scan of a list", "scan_back of a list"],
    "S1": [
        *("equality of nodes", "comparison of ints", "bool of the input", "int arithmetic", "div", "remainder", "index conversion"),
        *("structural if of a node", "structural if of an int", "structural sum", "structural max", "structural min"),
        *("any over a list", "all over a list", "maximum of ints", "bool conversion", "dim as a number", "len of a list"),
    ],
    "S2": ["key by arithmetic", "range by the input", "list up to a place of the input", "filter on sum"],
    "S3": [
        *("structural if", "computed if", "computed if of a number", "computed if of a matrix", "computed if of a record"),
        *("computed if of a tuple", "computed if of a list", "computed else if", "computed and", "computed or", "computed not"),
        *("computed and structural", "computed index of a tensor", "computed index of a list", "layer of a table", "and", "or"),
    ],
    "S4": [
        *("while on a fold", "while on a scan", "while on a scan_back", "while on a fold of a list"),
        "scan that stops is returned",
    ],
    "L1": [
        *("map", "sum over a list", "mean over a list", "max over a list", "min over a list", "logsumexp over a list"),
        *("softmax over a list", "argmax over a list", "argmax under a filter", "zip of two lists", "zip of three lists"),
        *("zip of a table", "range", "range by the input", "sum(xs)", "mean(xs)", "max(xs)", "min(xs)", "logsumexp(xs)"),
        *("softmax(xs)", "argmax(xs)", "any(xs)", "all(xs)", "filter on map", "filter on sum", "filter on any"),
        *("filter on logsumexp", "filter before zip", "filter before softmax"),
    ],
    "L2": [
        *(f"{how} of a {what}" for how in ("scan", "scan_back", "fold") for what in ("tensor", "record", "tuple")),
        *("filter on scan", "filter on scan_back", "filter on fold", "fold of a number", "reverse"),
    ],
    "L3": ["empty range", "logsumexp of an empty list", "sum over a list", "fold of a tensor", "any over a list", "all over a list", "joined lists", "empty list"],
    "T2": ["convolution", "convolution with a stride"],
    "T3": [
        *("join", "join of numbers", "join of matrices", "split", "split along an axis", "slice of tensor", "slice of matrix"),
        *("slice up to a place", "whole axis", "element from the end", "list up to a place", "rows of a tensor of indices"),
        *("element of list from the end", "list between two places"),
    ],
}

def builtins(root):
    """The names of the built-in functions."""
    with open(f"{root}/frontend/check/Builtins.def") as file:
        return set(re.findall(r'^DBC_BUILTIN\(\w+, "(\w+)"', file.read(), re.M))


def grammar_rules(root):
    with open(f"{root}/dsl/Dyn.g4") as file:
        return set(re.findall(r"^([a-z]\w*)\s*:", file.read(), re.M))


def patterns(root):
    """All that is looked for in a program's text."""
    functions = {f"`{name}`": rf"(?<![\w.]){name}[(\[]" for name in sorted(builtins(root))}
    return {name: re.compile(pattern) for name, pattern in {**PATTERNS, **functions}.items()}


def incomplete(root, counters):
    """What is said here that is not so, and what is not said: in words."""
    wrong = [f"no counter shows the rule `{rule}` of the grammar" for rule in sorted(grammar_rules(root) - set(GRAMMAR))]
    wrong += [f"the grammar has no rule `{rule}`" for rule in sorted(set(GRAMMAR) - grammar_rules(root))]
    for rule, names in [*GRAMMAR.items(), *RULES.items()]:
        wrong += [f"there is no counter `{name}`, which is to show {rule}" for name in names if name not in counters]
    return wrong
