# What an expression of each kind can be, as templates. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# A production is (tags, template, weight = 1). In a template
#   <vec>            is an expression of that kind, <vec.> a plain one, <vec!> one whose values stay small
#   <vec|x:idx,...>  one that may use these new variables; `elem` is the kind of the elements of @xs
#   {vec}            is a block of that kind, with the same suffixes
#   #x               is a new name, @xs a list to go over, $idx a variable of that kind, &rec a call of a cell
# A production whose @, $ or & cannot be had at a place is not used there.

KINDS = {
    "f32": "f32",
    "vec": "f32[d]",
    "wec": "f32[e]",
    "mat": "f32[d, d]",
    "rec": "State[d]",
    "lst": "nn.State[d]",
    "tup": "(f32[d], f32)",
    "list": "[f32[d]]",
    "idx": "index[vocab]",
    "lab": "index[d]",
    "ops": "index[ops]",
    "int": "int",
    "bool": "bool",
    "tags": "index[vocab][3]",
    "idxs": "[index[vocab]]",
    "labs": "[index[d]]",
    "floats": "[f32]",
    "flags": "[bool]",
    "ints": "[int]",
    "vecs": "[f32[d]]",
    "pages": "[[index[vocab]]]",
}

# The kind of the elements of a list.
ELEMENT = {"idxs": "idx", "labs": "lab", "floats": "f32", "flags": "bool", "ints": "int", "vecs": "vec", "list": "vec", "pages": "idxs"}

# Declarations of every program; those that are not used are dropped. Dims without a value come from the command line.
DIMS = {"vocab": (2, 7), "ops": (2, 3), "d": (2, 5), "e": (1, 4)}
DECLS = [
    ("dim of dims", "dim d2 = 2 * d;", "d2"),
    ("number const", "const half = 0.5;", "half"),
    ("tensor const", "const C: f32[vocab, d];", "C"),
    ("record", "record State[m] { h: f32[m]; c: f32[m]; }", "State"),
    ("initialiser normal", "param E: f32[vocab, d] = normal(0, 0.7);", "E"),
    ("initialiser uniform", "param b0: f32[d] = uniform(-1, 1);", "b0"),
    ("initialiser number", "param b1: f32[d] = 0.25;", "b1"),
    ("initialiser uniform", "param c0: f32[e] = uniform(-1, 1);", "c0"),
    ("param", "param M: f32[d, d];", "M"),
    ("initialiser glorot", "param K: f32[ops, d, d] = glorot();", "K"),
    ("param", "param W2: f32[d, d2];", "W2"),
    ("param", "param We: f32[d, e + d];", "We"),
    ("param", "param V: f32[e, d];", "V"),
    ("layer", "param lin: nn.Linear[d, d];", "lin"),
    ("layer", "param emb: nn.Embedding[vocab, d];", "emb"),
    ("layer", "param norm: nn.LayerNorm[d];", "norm"),
    ("layer", "param gru: nn.GRU[d, d];", "gru"),
    ("layer", "param run: nn.LSTM[d, d];", "run"),
    ("layer", "param both: nn.BiLSTM[d, d];", "both"),
    ("layer", "param two: nn.TreeLSTM[d];", "two"),
    ("layer", "param kin: nn.ChildSum[d, d];", "kin"),
    ("layer", "param nary: nn.NaryTreeLSTM[d, 12, d];", "nary"),
    ("layer", "param att: nn.Attention[d, 2, 3];", "att"),
    ("layer", "param near: nn.GraphConv[d, d];", "near"),
    ("layer", "param crf: nn.CRF[d];", "crf"),
    ("layer", "param own: Own[d];", "own"),
    (
        "cell+cell without nodes",
        "cell place(i in 0..4, k: index[ops]) -> f32[d] { if i == 0 { b0 } else { tanh(K[k] @ place(i - 1, k) + b1) } }",
        "place",
    ),
    ("table of layers", "param banks: [nn.Linear[d, d]; ops];", "banks"),
    (
        "own layer",
        "layer Own[m] { param A: f32[m, m], a: f32[m] = 0.1; const s = 0.5; fn call(x: f32[m]) -> f32[m] { tanh(A @ x + s * a) } }",
        "Own",
    ),
    ("fn with dims", "fn blend[n](x: f32[n], y: f32[n]) -> f32[n] { sigmoid(x @ y) * x + y }", "blend"),
    ("fn with dims", "fn weigh[n](x: f32[n], y: f32[n]) -> f32[n] { let w = softmax(y); x * w }", "weigh"),
    ("fn of records", "fn swap(s: State[d]) -> State[d] { State { h = s.c, c = s.h } }", "swap"),
    ("fn of lists", "fn lower(xs: [f32[d]]) -> [f32[d]] { map(x in xs) { x - mean(x) } }", "lower"),
]

PLAIN = {
    "vec": [
        ("param", "b0"),
        ("param", "b1"),
        ("zeros", "zeros(d)", 0.3),
        ("ones", "ones(d)", 0.3),
        ("fill", "fill(0.5, d)", 0.3),
        ("row of a param", "E[$idx]", 6),
        ("tensor const", "C[$idx]", 2),
        ("nn.Embedding", "emb($idx)", 2),
        ("record field", "$rec.h", 3),
        ("record field", "$rec.c", 3),
        ("record field", "$lst.h", 4),
        ("row of a matrix", "M[$lab]", 2),
    ],
    "wec": [("param", "c0"), ("ones", "ones(e)"), ("fill", "fill(0.5, e)")],
    "mat": [("param", "M"), ("fill", "fill(0.5, d, d)"), ("row of a param", "K[$ops]", 3)],
    "rec": [("record", "State { h = <vec.>, c = b0 }")],
    "lst": [("nn.LSTM start", "run.start()"), ("record", "nn.State { h = <vec.>, c = b0 }")],
    "tup": [("tuple", "(<vec.>, <f32.>)")],
    "list": [("map", "map(#x in @xs) {vec.|x:elem}", 3), ("range", "map(#i in 0..3) {vec.|i:int}")],
    "f32": [
        ("literal", "0.5", 0.3),
        ("literal", "1.5", 0.3),
        ("literal", "0.25", 0.3),
        ("number const", "half"),
        ("int to f32", "clip(f32($int) * 0.1, -2.0, 2.0)", 2),
        ("index to f32", "(f32($idx) * 0.1)"),
        ("int arithmetic", "(0.1 * f32(minimum(maximum($int, 0) + 1, 3) - 1))"),
        ("div", "(0.1 * f32(div($int, 2)))"),
        ("remainder", "(0.1 * f32($int % 3))"),
        ("index conversion", "E[index[vocab](($int * $int) % 2), 0]"),
        ("bool to number", "f32(int($bool))"),
        ("tensor of indices", "tanh(sum(f32($tags)))", 4),
        ("element of tensor", "$vec[0]"),
        ("element from the end", "$vec[-1]"),
        ("element by index", "$vec[$lab]", 3),
    ],
    "bool": [
        ("literal", "true", 0.2),
        ("bool of the input", "$bool", 6),
        ("comparison of ints", "($int <= 1)", 2),
        ("comparison of ints", "($int > 2)", 2),
        ("comparison of ints", "($int != 0)", 2),
        ("comparison of indices", "($idx < 1)"),
        ("comparison of indices", "($ops == 1)"),
        ("comparison of indices", "($lab >= 1)"),
        ("len of a list", "(len(@xs) > 1)", 2),
    ],
}

# Elementwise functions, of vectors and of numbers.
_ELEMENTWISE = [
    ("add", "(<T> + <T>)"),
    ("subtract", "(<T> - <T>)"),
    ("multiply", "(<T> * <T>)"),
    ("divide", "(<T> / (1.5 + square(<T>)))"),
    ("negate", "(-<T>)"),
    ("exp", "exp(clip(<T>, -2.0, 1.0))"),
    ("log", "log(1.0 + abs(<T>))"),
    ("sqrt", "sqrt(abs(<T>) + 0.1)"),
    ("tanh", "tanh(<T>)"),
    ("sigmoid", "sigmoid(<T>)"),
    ("relu", "relu(<T>)"),
    ("gelu", "gelu(<T>)"),
    ("softplus", "softplus(<T>)"),
    ("sin", "sin(<T>)"),
    ("cos", "cos(<T>)"),
    ("abs", "abs(<T>)"),
    ("square", "square(tanh(<T>))"),
    ("pow", "pow(sigmoid(<T>) + 0.5, 1.5)"),
    ("maximum", "maximum(<T>, <T>)"),
    ("minimum", "minimum(<T>, <T>)"),
    ("clip", "clip(<T>, -1.0, 1.5)"),
    ("detach", "detach(<T>)"),
    ("select by structure", "select(<bool.>, <T>, <T>)"),
    ("select by value", "select(<T> > 0.123, <T>, <T>)"),
]


def _of(kind, productions):
    return [(tags, template.replace("<T>", f"<{kind}>"), *weight) for tags, template, *weight in productions]


# Out of a list that a let has named; it may be empty.
_OF_LIST = [
    (tag, f"(if <bool> {{ let #v = <list>; if len(#v) == 0 {{vec.}} else {{ {text} }} }} else {{vec.}})")
    for tag, text in [
        ("sum(xs)", "sum(#v)"),
        ("max(xs)", "max(#v)"),
        ("mean(xs)", "mean(#v)"),
        ("element of list", "#v[0]"),
        ("element of list from the end", "#v[-1]"),
        ("element of list by len", "#v[len(#v) - 1]"),
        ("list from a place", "sum(#v[1..])"),
        ("list up to a place", "sum(#v[..-1])"),
        ("zip of lists", "sum((#p, #q) in zip(#v, reverse(#v))) { #p * #q }"),
        ("nn.attend", "nn.attend(b0, #v, #v)"),
        ("nn.Attention", "tanh(att(<vec>, #v))"),
        ("nn.CRF", "(b1 * tanh(crf.log_z(#v)))"),
    ]
]

DEEP = {
    "vec": _of("vec", _ELEMENTWISE)
    + _OF_LIST
    + [
        ("product", "tanh(M @ <vec>)", 6),
        ("grouped product", "tanh(K[$ops] @ <vec>)", 6),
        ("vector times matrix", "tanh(<vec> @ M)"),
        ("product of stacked matrices", "tanh(sum(K @ <vec>, axis = 0))"),
        ("scale", "(<f32> * <vec>)", 6),
        ("broadcast", "sum(reshape(<vec>, d, 1) * tanh(<vec>), axis = 1)"),
        ("join", "tanh(W2 @ [<vec>, <vec>])", 2),
        ("join", "tanh(We @ [<wec>, <vec>])"),
        ("join of numbers", "([<f32>, b0[1..]] * <vec>)"),
        ("slice of tensor", "tanh([<vec>[1..], b0[0..1]])"),
        ("slice of matrix", "(reshape(M[0..d, 0..1], d) + <vec>)"),
        ("transpose", "(transpose(M) @ tanh(<vec>))"),
        ("reshape", "sum(reshape([<vec>, <vec>], 2, d), axis = 0)"),
        ("iota", "(f32(iota(d)) * 0.1 + <vec>)"),
        ("sum along an axis", "tanh(sum(M * <vec>, axis = 0))"),
        ("mean along an axis", "mean(M + <vec>, axis = 1)"),
        ("max along an axis", "max(M * <vec>, axis = 0)"),
        ("min along an axis", "min(M * <vec>, axis = 1)"),
        ("logsumexp along an axis", "logsumexp(reshape([<vec>, <vec>], 2, d), axis = 0)"),
        ("argmax along an axis", "(f32(argmax(M + <vec>, axis = 1)) * 0.1)"),
        ("softmax along an axis", "sum(softmax(M * <vec>, axis = 0) * M, axis = 1)"),
        ("log_softmax along an axis", "(0.3 * mean(log_softmax(M + <vec>, axis = 1), axis = 0))"),
        ("any along an axis", "select(any(M * <vec> > 0.21, axis = 0), <vec>, b1)"),
        ("all along an axis", "select(all(M < <vec> + 0.513, axis = 1), b1, <vec>)"),
        ("softmax", "softmax(<vec>)"),
        ("log_softmax", "(0.5 * log_softmax(<vec>))"),
        ("logic of tensors", "select(<vec> > 0.113 && !(<vec> > 0.917), <vec>, b0)"),
        ("matrix of a value", "tanh(<mat> @ <vec>)", 2),
        ("fn call+fn with dims", "blend(<vec>, <vec>)", 3),
        ("fn call+fn with dims", "weigh(<vec>, <vec>)", 3),
        ("own layer", "own(<vec>)"),
        ("nn.Linear", "tanh(lin(<vec>))"),
        ("layer of a table", "tanh(banks[$ops](<vec>))"),
        ("layer of a table", "banks[argmax(0.5 * <vec> + b0) % ops].b", 0.5),
        ("fold over a table", "fold(#l in banks, #s = <vec.>) { tanh(#l(#s)) }"),
        ("nn.LayerNorm", "norm(<vec>)"),
        ("nn.GRU", "gru.step(<vec>, <vec>)"),
        ("nn.GRU start", "(gru.start() + <vec>)"),
        ("record field", "<rec>.h"),
        ("record field", "<lst>.h", 2),
        ("record field", "<lst>.c"),
        ("nn.LSTM last", "run.last(<list>)"),
        ("nn.LSTM last", "run.last_back(<list>)"),
        ("nn.BiLSTM ends", "tanh(W2 @ both.ends(<list>))"),
        ("nn.GraphConv", "tanh(near(<vec>, <list>))"),
        ("nn.LSTM step", "run.step(<vec>, <lst>).h"),
        ("sum over a list", "sum(#x in @xs) {vec|x:elem}", 5),
        ("zip with a range", "sum((#x, #i) in zip(@xs, 0..len(@xs))) {vec|x:elem,i:int}"),
        ("range", "sum(#i in 0..3) {vec|i:int}"),
        ("zip of two lists", "sum((#x, #y) in zip(@xs, @ys)) {vec|x:elem,y:elem2}", 0.5),
        ("reverse", "sum(#x in reverse(@xs)) {vec|x:elem}"),
        ("fold of a tensor", "fold(#x in @xs, #s = <vec.>) {vec!|x:elem,s:vec}", 3),
        (
            "fold of a tuple",
            "(if <bool> { let (#a, #b) = fold(#x in @xs, (#p, #q) = (<vec.>, f32(0.5))) {tup!|x:elem,p:vec,q:f32}; #a * #b } else {vec})",
            2,
        ),
        (
            "fold in a fold",
            "(if <bool> { let (#a, #b) = fold(#x in @xs, (#p, #q) = (<vec.>, <vec.>)) { "
            "(tanh(#p + fold(#i in 0..2, #v = #q) { tanh(#v + #p * <vec.|x:elem,q:vec>) }), <vec!|x:elem,q:vec>) }; "
            "#a - #b } else {vec})",
            2,
        ),
        ("while on a fold", "fold(#x in @xs, #s = <vec.> while sum(#s) < 0.6173) {vec!|x:elem,s:vec}", 2),
        (
            "while on a fold",
            "(if <bool> { let (#a, #b) = fold(#x in @xs, (#p, #q) = (<vec.>, f32(0.5)) while #q + sum(#p) > -0.4127) "
            "{tup!|x:elem,p:vec,q:f32}; #a * #b } else {vec})",
        ),
        (
            "while on a scan",
            "tanh(sum(#r in scan(#x in @xs, #s = <vec.> while sum(#s) < 0.8171) {vec!|x:elem,s:vec}) {vec|r:vec})",
            2,
        ),
        (
            "while on a scan",
            "tanh(sum(map(#r in scan(#i in 0..4, #s = <rec.> while #s.h[0] < 0.3191) {rec!|i:int,s:rec}) { #r.c }))",
        ),
        (
            "list of lists",
            "sum(#p in map(#x in @xs) map(#y in @ys) {vec|x:elem,y:elem2}) { tanh(sum(#q in #p) {vec|q:vec,p:vecs}) }",
            2,
        ),
        (
            "list of lists",
            "sum((#p, #x) in zip(map(#x in @xs) <list.|x:elem>, @xs)) { tanh(sum(#p)) * <vec|x:elem,p:vecs> }",
        ),
        ("cell without nodes", "place(minimum(maximum($int, 0), 3), $ops)", 2),
        ("computed if", "(if <f32> > 0.0437 {vec} else {vec})", 2),
        ("computed index of a tensor", "M[argmax(0.5 * <vec> + b0)]"),
        ("put", "put(<vec>, $lab, <f32>)"),
        ("put+transpose", "transpose(put(transpose(<mat>), $lab, <vec>))[0]", 0.5),
        ("slice", "slice([<vec>, <vec>], $lab, d)"),
        ("topk", "(if <bool> { let (#a, _) = topk(0.5 * <vec> + b0, d); #a } else {vec})"),
        ("dropout", "dropout(<vec>, 0.3)"),
        (
            "computed index of a list",
            "(if len(@xs) == 0 {vec.} else { let #l = map(#x in @xs) {vec|x:elem}; "
            "#l[argmax((#v, #i) in zip(#l, 0..len(#l))) { 0.3 * f32(#i) + tanh(sum(#v)) }] })",
            2,
        ),
    ]
    + [
        (f"{how} over a list", f"(if len(@xs) == 0 {{vec.}} else {{ {how}(#x in @xs) {{vec|x:elem}} }})", 2)
        for how in ("mean", "max", "min", "logsumexp")
    ],
    "wec": [("product", "tanh(V @ <vec>)"), ("add", "(<wec> + <f32>)")],
    "mat": [
        ("matrix state", "tanh(M @ <mat>)"),
        ("transpose", "transpose(<mat>)"),
        ("broadcast", "(reshape(<vec>, d, 1) * <vec>)"),
        ("add", "(0.5 * (<mat> + <mat>))"),
        ("product of matrices", "tanh(<mat> @ <mat>)"),
        ("grouped product", "tanh(K[$ops] @ <mat>)", 2),
        ("sum over a list", "sum(#x in @xs) {mat|x:elem}", 3),
        ("fold of a matrix", "fold(#x in @xs, #s = M) {mat!|x:elem,s:mat}"),
    ],
    "rec": [
        ("record", "State { h = <vec>, c = <vec> }", 3),
        ("fn of records", "swap(<rec>)"),
        ("fold of a record", "fold(#x in @xs, #s = <rec.>) {rec!|x:elem,s:rec}", 2),
    ],
    "lst": [
        ("record", "nn.State { h = <vec>, c = <vec> }"),
        ("nn.LSTM step", "run.step(<vec>, <lst>)", 2),
        ("nn.TreeLSTM", "two(<lst>, <lst>)", 3),
        ("nn.ChildSum", "kin(<vec>, map(#x in @xs) {lst|x:elem})", 3),
        ("nn.NaryTreeLSTM", "nary(<vec>, map(#x in @xs) {lst|x:elem})", 3),
        ("fold of a record", "fold(#x in @xs, #s = run.start()) { run.step(<vec|x:elem,s:lst>, #s) }"),
    ],
    "tup": [("tuple", "(<vec>, <f32>)")],
    "list": [
        ("map", "map(#x in @xs) {vec|x:elem}", 4),
        ("reverse", "reverse(<list>)"),
        ("fold of a list", "fold(#i in 0..2, #hs = <list>) { map(#h in #hs) {vec!|h:vec,hs:vecs,i:int} }", 2),
        (
            "fold of a list",
            "(if <bool> { let (#a, #b) = fold(#x in @xs, (#p, #hs) = (<vec.>, <list.>)) "
            "{ (<vec!|x:elem,p:vec,hs:vecs>, map(#h in #hs) {vec!|h:vec,p:vec}) }; map(#v in #b) { #v + #a } } else {list})",
        ),
        ("fn of lists", "lower(<list>)"),
        ("zip of two lists", "map((#x, #y) in zip(@xs, @ys)) {vec|x:elem,y:elem2}", 0.5),
        ("scan of a tensor", "scan(#x in @xs, #s = <vec.>) {vec!|x:elem,s:vec}", 2),
        ("scan_back of a tensor", "scan_back(#x in @xs, #s = <vec.>) {vec!|x:elem,s:vec}", 2),
        ("scan of a record", "map(#r in scan(#x in @xs, #s = <rec.>) {rec!|x:elem,s:rec}) { #r.h }"),
        ("scan_back of a record", "map(#r in scan_back(#x in @xs, #s = <lst.>) {lst!|x:elem,s:lst}) { #r.c }"),
        (
            "scan of a tuple",
            "map((#r, #q) in scan(#x in @xs, (#a, #b) = (<vec.>, f32(0.5))) {tup!|x:elem,a:vec,b:f32}) { #r * #q }",
        ),
        (
            "scan_back of a tuple",
            "map((#r, _) in scan_back(#x in @xs, (#a, #b) = (<vec.>, f32(0.5))) {tup!|x:elem,a:vec,b:f32}) { #r }",
        ),
        (
            "softmax over a list+attention",
            "map(#x in @xs) { sum((#w, #v) in zip(softmax(#y in @xs) {f32|x:elem,y:elem}, @xs)) { #w * <vec|v:elem> } }",
        ),
        ("nn.LSTM run", "run.run(<list>)"),
        ("nn.LSTM run", "run.run_back(<list>)"),
        ("nn.BiLSTM", "map(#x in both(<list>)) { tanh(W2 @ #x) }"),
    ],
    "f32": _of("f32", _ELEMENTWISE)
    + [
        ("dot", "tanh(<vec> @ <vec>)", 2),
        ("sum of tensor", "tanh(sum(<vec>))"),
        ("mean of tensor", "mean(<vec>)"),
        ("max of tensor", "max(<vec>)"),
        ("min of tensor", "min(<vec>)"),
        ("logsumexp of tensor", "logsumexp(<vec>)"),
        ("argmax of tensor", "(f32(argmax(0.5 * <vec> + b0)) * 0.1)"),
        ("any of tensor", "f32(int(any(<vec> > 0.37)))"),
        ("all of tensor", "f32(int(all(<vec> < 0.73)))"),
        ("element of tensor", "<vec>[0]"),
        ("element of matrix", "<mat>[0, -1]"),
        ("element by index", "<vec>[$lab]", 2),
        ("bilinear form", "tanh(<vec> @ M @ <vec>)"),
        ("cross_entropy of an index", "(0.2 * cross_entropy(tanh(<vec>), $lab))"),
        ("cross_entropy of a distribution", "(0.2 * cross_entropy(tanh(<vec>), softmax(<vec>)))"),
        ("binary_cross_entropy", "(0.2 * binary_cross_entropy(tanh(<f32>), 1.0))"),
        ("nn.CRF nll", "(if len($labs) == 0 {f32.} else { tanh(crf.nll(map(#x in $labs) {vec|x:lab}, $labs)) })", 2),
        ("sum over a list", "sum(#x in @xs) {f32|x:elem}", 2),
        ("range", "tanh(sum(#i in 0..3) {f32|i:int})", 2),
        ("zip with a range", "sum((#x, #i) in zip(@xs, 0..len(@xs))) {f32|x:elem,i:int}", 4),
        ("len of a list", "(f32(len(@xs)) * 0.1)"),
        ("fold of a number", "fold(#x in @xs, #s = f32(0.25)) {f32!|x:elem,s:f32}"),
        (
            "argmax under a filter",
            "(if len(@xs) == 0 {f32.} else { (f32(argmax((#x, #i) in zip(@xs, 0..len(@xs)) if #i % 2 == 0) "
            "{ 0.3 * f32(#i) + <f32|x:elem> }) * 0.1) })",
        ),
        ("computed if", "(if <f32> > 0.0437 {f32} else {f32})"),
        ("computed index of a tensor", "<vec>[argmax(0.5 * <vec> + b0)]"),
        (
            "argmax over a list",
            "(if len(@xs) == 0 {f32.} else { (f32(argmax((#x, #i) in zip(@xs, 0..len(@xs))) { 0.3 * f32(#i) + <f32|x:elem> }) * 0.1) })",
        ),
    ],
    "bool": [
        ("and", "(<bool> && <bool>)"),
        ("or", "(<bool> || <bool>)"),
        ("not", "(!<bool>)"),
        ("any over a list", "any(#x in @xs) {bool.|x:elem}", 3),
        ("all over a list", "all(#x in @xs) {bool.|x:elem}", 3),
    ],
}

# In a block whose values must stay small however often it is repeated.
TAMED = {
    "vec": [("tanh", "tanh(<vec>)"), ("sigmoid", "sigmoid(<vec>)"), ("nn.GRU", "gru.step(<vec>, tanh(<vec>))", 0.3)],
    "f32": [("tanh", "tanh(<f32>)"), ("sigmoid", "sigmoid(<f32>)")],
    "mat": [("matrix state", "tanh(<mat>)")],
    "rec": [("record", "State { h = tanh(<vec>), c = clip(<vec>, -2.0, 2.0) }")],
    "lst": [
        ("record", "nn.State { h = tanh(<vec>), c = clip(<vec>, -2.0, 2.0) }"),
        ("nn.LSTM step", "run.step(<vec>, nn.State { h = tanh(<vec>), c = tanh(<vec>) })", 0.5),
        ("nn.TreeLSTM", "two(<lst!>, <lst!>)", 0.4),
        ("nn.ChildSum", "kin(<vec>, map(#x in @xs) {lst!|x:elem})", 0.5),
        ("nn.NaryTreeLSTM", "nary(<vec>, map(#x in @xs) {lst!|x:elem})", 0.5),
    ],
    "tup": [("tuple", "(tanh(<vec>), tanh(<f32>))")],
}

# What a value of any kind can be; T stands for the kind.
ANY = [
    ("structural if", "(if <bool> {T} else {T})"),
    ("structural else if", "(if <bool> {T} else if <bool> {T} else {T})", 0.5),
    ("equality of nodes", "(if $node == $node2 {T} else {T})", 1),
]

# What a block names: (tags, template, weight, kinds of the names in their order).
LETS = [
    ("let", "let #v = <vec>;", 1, {"v": "vec"}),
    ("let", "let #v = <f32>;", 1, {"v": "f32"}),
    ("let", "let #v = <rec>;", 1, {"v": "rec"}),
    ("let", "let #v = <lst>;", 1, {"v": "lst"}),
    ("let with a type", "let #v: f32[d] = <vec>;", 1, {"v": "vec"}),
    ("let of a list", "let #v = <list>;", 1, {"v": "list"}),
    ("let of a tuple", "let (#a, #b) = <tup>;", 1, {"a": "vec", "b": "f32"}),
    ("let of a tuple", "let (#a, _) = <tup>;", 1, {"a": "vec"}),
    ("split", "let (#a, #b) = split([<vec>, <vec>]);", 1, {"a": "vec", "b": "vec"}),
    ("split", "let (#a, #b) = split([<vec>, <vec>], 2);", 1, {"a": "vec", "b": "vec"}),
]
