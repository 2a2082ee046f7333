# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# Completion of dbc's commands and options in bash: what they are is asked of `dbc --help` itself.

# The words that begin lines of a part of what a help says, and of its further part.
_dbc_listed() { # PART COMMAND..
  local part=$1
  shift
  { "$@" --help-all || "$@" --help; } 2>/dev/null |
    awk -v part="$part:" '/^[A-Z]/ { within = tolower($0) ~ "^(further )?" tolower(part) "$" } within && /^  [^ ]/ { print $1 }' | tr , '\n'
}

_dbc() {
  local current=${COMP_WORDS[COMP_CWORD]} command=("${COMP_WORDS[0]}") word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _dbc_listed Subcommands "${command[@]}" | grep -qx -e "$word" && command+=("$word")
  done
  local choices
  if [[ $current == -* ]]; then
    choices=$(_dbc_listed Options "${command[@]}")
  else
    choices=$(_dbc_listed Subcommands "${command[@]}")
  fi
  if [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -o bashdefault -F _dbc dbc
