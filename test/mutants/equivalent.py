# Mutants of rules.py that change no gradient: (file, rule, "what was -> what is"), each a pattern -> why.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
NAMES = "names of symbols alone"
FIXED_POINT = "repeated until nothing grows, in whatever order"
EITHER_WAY = "two ways to one product or sum"
UNREAD = "what is behind the end of a list that a `while` has ended is read by nothing"
AGAIN = "what is kept is computed again, or read: the same numbers"
MORE = "a buffer more, or one that is cleared before it is written"
ERASED = "what nobody uses is erased behind, too"

EQUIVALENT = {
    ("Derivatives.cpp", "reshape", r"getRank\(\) > 1 -> .*getRank\(\) >= 1"): "one axis that is collapsed is the axis",
    ("Derivatives.cpp", "along", r"-> axis \|\| isa"): "what has lost all axes is a number, with whatever axis",
    ("Derivatives.cpp", "pad", r"-> extent >= 0"): "no zeros in front are none",
    ("Derivatives.cpp", "spread", r"is_sorted|TransposeOp|std::reverse"): "what is spread are vectors: products of matrices have a sum",
    ("Derivatives.cpp", "ofSelect", r"&& !scalar"): "a condition, or what is no float, is not active",
    ("Derivatives.cpp", "ofContract", r"^isOfParam && maps|^other\.getDefiningOp<GetOp>\(\) \|\|"): EITHER_WAY,
    ("Derivatives.cpp", "ofContract", r"^maps\[1 - operand\]\.getResult\(0\) -> maps\[1 \+ operand\]"): "the condition above says that both are the same",
    ("Activity.cpp", "Activity|findUseful", r"llvm::reverse"): FIXED_POINT,
    ("Activity.cpp", "findUseful", r"-> op\.getNumResults\(\) == 1 \|\|"): "more counts as useful; it is active only if it varies, too",
    ("Activity.cpp", "findVarying", r"^continue"): "what writes has no result",
    ("AdjointDeclarations.cpp", "AdjointDeclarations", r"taken\.insert"): NAMES,
    ("AdjointDeclarations.cpp", "elements", r"-> .*NameLoc::get\(b\.getStringAttr\(\"parent\""): NAMES,
    ("AdjointDeclarations.cpp", "elements", r"^isa<kernel::TimeStepLoopInterface>"): "all elements at each step: the last time they are right",
    ("AdjointDeclarations.cpp", "elements", r"-> .*masked=\*/true"): "the stages of elements ask their rows whether they have ended",
    ("AdjointDeclarations.cpp", "elements", r"ReserveMemoryOp"): "memory is counted, which is no number of a gradient",
    ("AdjointDeclarations.cpp", "elements", r"-> .*nested=\*/true"): "elements are of time steps of their rows, nested or not",
    ("AdjointDeclarations.cpp", "lossWeights", r'"weight", 0'): "weights are in no column of the input",
    ("AdjointElements.cpp", "countedShare", r"-> (;|.*(sge, index\(\"length\"|create\(in, loc, index\(\"position\"|::sle))"): UNREAD,
    ("AdjointParams.cpp", "rowNumber", r"-> return row (<= 0|< 1)"): "the first row is then added as part of the whole",
    ("AdjointParams.cpp", "accumulateOperands", r"^product && n < 2"): EITHER_WAY,
    ("AdjointParams.cpp", "accumulateOperands", r"getOperand\(1 \+ n\)"): "of the two that have such a use this one is the first",
    ("AdjointReads.cpp", "contributesByRow", r"-> .*ReduceKind::Mean \|\|"): EITHER_WAY,
    ("AdjointReads.cpp", "addRead", r"-> .*getWhen\(\) \|\||^storesAll = .*-> ;"): MORE,
    ("AdjointReads.cpp", "addRead", r"^false -> |-> .*== rows\.indexSet"): EITHER_WAY,
    ("AdjointParams.cpp", "accumulate", r"FromElementsOp"): "a number and a tensor of rank 0 are spread alike",
    ("AdjointReads.cpp", "inBuffer", r"-> .* != copy"): MORE,
    ("Adjoints.cpp", "run", r"^cleared\.push_back"): "all that is active is contributed to",
    ("Adjoints.cpp", "reverse|reverseStage", r"erase\(\); -> ;"): ERASED,
    ("Adjoints.cpp", "reverseStage", r"setInsertionPointToEnd"): "it is there already",
    ("Adjoints.cpp", "reverseStage", r"setWhenAttr"): "the adjoint of a row that has ended is 0: it gives nothing, later",
    ("DistinctRows.cpp", "add", r"-> row_\[number\] = rows\(\) \+ 1"): "sort() sets it again",
    ("Adjoints.cpp", "throughOp", r"^false -> "): MORE,
    ("BatchDifferentiate.cpp", "runOnOperation", r"differentiatedLosses|recomputedBuffers"): "a statistic",
    ("SparseTables.cpp", "constantRow", r"-> .*-2;$"): "no row has a number below 0",
    ("StageCopy.cpp", "StageCopy|~StageCopy", r"^!keeps|try_emplace.*-> ;|^continue|kept\.push_back|replaceAllUsesWith"): AGAIN,
    ("StageCopy.cpp", "~StageCopy", r"erase\(\)"): ERASED,
}
