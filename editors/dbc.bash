# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#
# Completion of dbc's commands, options, what options take, and files in bash. What there is is asked of dbc itself: of its
# helps, and of what it says of a name that there is none of.

# The words that begin lines of a part of what a help says, and of its further part.
_dbc_listed() { # PART COMMAND..
  local part=$1
  shift
  { "$@" --help-all || "$@" --help; } 2>/dev/null |
    awk -v part="$part:" '/^[A-Z]/ { within = tolower($0) ~ "^(further )?" tolower(part) "$" } within && /^  [^ ]/ { print $1 }' | tr , '\n'
}

# Whether an option takes a value.
_dbc_takes_value() { # OPTION COMMAND..
  local option=$1
  shift
  { "$@" --help-all || "$@" --help; } 2>/dev/null | grep -qE -e "^  ([^ ]*,)?$option [A-Z[]"
}

# The names of which an option takes one, where there are only so many.
_dbc_names() { # COMMAND.. OPTION
  local said
  said=$("$@" '?' /dev/null/none.dyn 2>&1 </dev/null | head -n 1)
  case $said in
    *': takes `'*', not `?`') grep -oE '`[^`]+`' <<<"${said%, not*}" | tr -d '`' ;;
  esac
}

_dbc() {
  local current=${COMP_WORDS[COMP_CWORD]} command=("${COMP_WORDS[0]}") word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _dbc_listed Subcommands "${command[@]}" | grep -qx -e "$word" && command+=("$word")
  done
  local before=${COMP_WORDS[COMP_CWORD-1]}
  if [[ $current == = ]]; then # bash makes three words of `--option=value`
    current=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  local choices
  if [[ $before == -* ]] && _dbc_takes_value "$before" "${command[@]}"; then
    choices=$(_dbc_names "${command[@]}" "$before")
    if [[ -z $choices ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
    fi
  elif [[ $current == -* ]]; then
    choices=$(_dbc_listed Options "${command[@]}")
  elif [[ ${command[1]} == explain-error ]]; then
    choices=$("${command[@]}" '?' 2>&1 | sed -n 's/.*the rules are //p')
  else
    choices=$(_dbc_listed Subcommands "${command[@]}")
  fi
  if [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  else # a model
    mapfile -t COMPREPLY < <(compgen -f -X '!*.dyn' -- "$current"; compgen -d -- "$current")
  fi
}
complete -o filenames -o bashdefault -F _dbc dbc
