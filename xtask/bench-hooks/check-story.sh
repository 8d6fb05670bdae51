#!/usr/bin/env bash
# PostToolUse Write, Edit: a story's body names every contract that its front matter lists.
path=$(jq -r '.tool_input.file_path // empty')
[[ $path == */.factory/stories/*.md && -f $path ]] || exit 0

front=$(sed -n '2,/^---$/p' "$path")
body=$(sed '1,/^---$/d' "$path")
for contract in $(grep -E '^(bcs|behavioral_contracts):' <<<"$front" | grep -oE 'BC-[0-9.]+'); do
    if ! grep -qF "| $contract |" <<<"$body"; then
        echo "BLOCKED: $path lists $contract, but its table of contracts does not. Add the row." >&2
        exit 2
    fi
done
exit 0
