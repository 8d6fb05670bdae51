#!/usr/bin/env bash
# PreToolUse Bash: forced deletions, hard resets, dropped tables, downloads piped into a shell.
command=$(jq -r '.tool_input.command // empty')

stop() {
    echo "BLOCKED: $1" >&2
    exit 2
}

if grep -qE '\brm[[:space:]]+(-[a-zA-Z]*r[a-zA-Z]*f|-[a-zA-Z]*f[a-zA-Z]*r|-r +-f|-f +-r)' <<<"$command"; then
    stop "forced deletion. Delete single files, or ask."
fi
if grep -qE '\bgit[[:space:]]+(reset[[:space:]]+--hard|clean[[:space:]]+-[a-zA-Z]*f)' <<<"$command"; then
    stop "this throws uncommitted work away. Use git stash."
fi
if grep -qiE '\bdrop[[:space:]]+(table|database|schema)\b' <<<"$command"; then
    stop "this drops data. Ask first."
fi
if grep -qE '\b(curl|wget)\b[^|;&]*\|[[:space:]]*(sudo[[:space:]]+)?(ba|z|da)?sh\b' <<<"$command"; then
    stop "a download is run unread. Save it, read it, then run it."
fi
if grep -qE '\bchmod[[:space:]]+(-R[[:space:]]+)?0?777\b' <<<"$command"; then
    stop "everybody could write. Grant what is needed."
fi
exit 0
