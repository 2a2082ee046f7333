# Mutants of rules.py that change no gradient: (file, rule, what is changed), each a pattern -> why.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
EQUIVALENT = {}
