# complete.bash SCRIPT WORD..: what the script completes the last word to, one a line.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_dbc
printf '%s\n' "${COMPREPLY[@]}"
