#!/usr/bin/env bash
# PreToolUse Bash: .env files and secret variables stay unread.
command=$(jq -r '.tool_input.command // empty')

if grep -qE '\b(cat|less|more|head|tail|grep|source|cp|base64)\b.*\.env(\.[a-z]+)?\b' <<<"$command"; then
    echo "BLOCKED: this reads a file of secrets." >&2
    exit 2
fi
if grep -qE '\b(echo|printf)\b.*\$\{?[A-Z_]*(SECRET|TOKEN|PASSWORD|API_KEY)' <<<"$command"; then
    echo "BLOCKED: this prints a secret variable." >&2
    exit 2
fi
exit 0
