# Mutants of rules.py that change no gradient: (file, rule, change), each a pattern -> why.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
NAMES = "names of symbols alone"
FIXED_POINT = "repeated until nothing grows, in whatever order"
LARGER = "more is held for active than is; what nothing reads is erased"
EITHER_WAY = "the parameter is turned or it is not: two ways to one product"

EQUIVALENT = {
    ("Derivatives.cpp", "reshape", r"getRank\(\) > 1 -> .*getRank\(\) >= 1"): "one axis that is collapsed is the axis",
    ("Derivatives.cpp", "along", r"-> axis \|\| isa"): "what has lost all axes is a number, with whatever axis",
    ("Derivatives.cpp", "pad", r"-> extent >= 0"): "no zeros in front are none",
    ("Derivatives.cpp", "spread", r"is_sorted|TransposeOp|std::reverse"): "what is spread are vectors: products of matrices have a sum",
    ("Derivatives.cpp", "ofSelect", r"&& !scalar"): "a condition, or what is no float, is not active",
    ("Derivatives.cpp", "ofPatches", r"\{channels, height, width\}\); -> ;"): "what lies in the picture is cut out behind it",
    ("Derivatives.cpp", "ofContract", r"^get && maps"): EITHER_WAY,
    ("Derivatives.cpp", "ofContract", r"^maps\[1 - operand\]\.getResult\(0\) -> maps\[1 \+ operand\]"): "the condition above says that both are the same",
    ("Activity.cpp", "Activity|findUseful", r"llvm::reverse"): FIXED_POINT,
}
