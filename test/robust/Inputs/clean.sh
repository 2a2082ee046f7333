# Checks all generated sources of a folder with a compiler, warnings as errors. Part of dbc, under Apache-2.0 WITH
# LLVM-exception; see LICENSE.
# usage: clean.sh FOLDER INCLUDE COMPILER...
folder=$1 include=$2
shift 2
test "$(ls "$folder"/*.cpp | wc -l)" -ge 12 || exit 1
for source in "$folder"/*.cpp; do
  "$@" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$folder" -I"$include" "$source" || exit 1
done
