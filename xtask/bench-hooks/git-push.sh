#!/usr/bin/env bash
# PreToolUse Bash: force pushes, and pushes to protected branches.
command=$(jq -r '.tool_input.command // empty')
grep -qE '\bgit\b.*\bpush\b' <<<"$command" || exit 0

if grep -qE '\bpush\b.*([[:space:]]--force([[:space:]]|$)|[[:space:]]-[a-zA-Z]*f\b)' <<<"$command"; then
    echo "BLOCKED: force push. Use --force-with-lease on a branch of your own." >&2
    exit 2
fi
if grep -qE '\bpush\b.*[[:space:]:](main|master|develop)([[:space:]]|$)' <<<"$command"; then
    echo "BLOCKED: push to a protected branch. Open a pull request." >&2
    exit 2
fi
exit 0
