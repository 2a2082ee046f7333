#!/bin/sh
# Real inputs: compiled code gives what the interpreter gives, and the same bits in every batch.
# usage: same.sh DBC PYTHON INPUT MODEL ENTRY [-Dname=n ..]     leaves what it made beside INPUT
set -e
dbc=$1 python=$2 in=$3 model=$4 entry=$5
shift 5
"$dbc" run "$model" "$@" --entry "$entry" --input "$in" --output "$in.run" --batch 64
"$dbc" interpret "$model" "$@" --entry "$entry" --input "$in" --output "$in.interpret"
"$python" "$(dirname "$0")/../compare.py" "$in.run" "$in.interpret"
"$dbc" run "$model" "$@" --entry "$entry" --input "$in" --output "$in.one" --batch 1
"$dbc" run "$model" "$@" --entry "$entry" --input "$in" --output "$in.two" --batch 37 --threads 2
cmp "$in.run" "$in.one"
cmp "$in.run" "$in.two"
