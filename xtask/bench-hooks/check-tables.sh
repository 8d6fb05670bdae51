#!/usr/bin/env bash
# PostToolUse Write, Edit: every row of a table has as many cells as its heading.
path=$(jq -r '.tool_input.file_path // empty')
[[ $path == */.factory/*.md && -f $path ]] || exit 0

row=$(awk -F'|' '/^\|/ { if (cells && NF != cells) { print NR; exit } cells = NF; next } { cells = 0 }' "$path")
if [[ -n $row ]]; then
    echo "BLOCKED: $path:$row has another number of cells than the row above." >&2
    exit 2
fi
exit 0
