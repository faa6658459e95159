#!/usr/bin/env bash
# Prints what bash completes the last of some words to: complete.sh FILE WORD...
compopt() { :; }
# shellcheck source=/dev/null
. "$1"
shift
COMP_WORDS=(anec "$@")
COMP_CWORD=$#
_anec
printf '%s\n' "${COMPREPLY[@]}"
