# usage: roundtrip.sh DBC DBC_OPT FOLDER MODEL OPTION...   prints the model at every level, reads it back, compares
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
set -e
dbc=$1 opt=$2 folder=$3
shift 3
for level in dyn batch kernel; do
  $dbc compile "$@" --emit $level >"$folder/printed.mlir"
  $opt "$folder/printed.mlir" --mlir-print-local-scope >"$folder/again.mlir"
  $opt "$folder/again.mlir" --mlir-print-local-scope >"$folder/third.mlir"
  diff "$folder/again.mlir" "$folder/third.mlir"
  # The meaning is printed with the source's names, which a reader of text may change.
  [ $level = dyn ] || diff "$folder/printed.mlir" "$folder/again.mlir"
done
