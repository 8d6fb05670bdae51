#!/usr/bin/env bash
# PreToolUse Bash: no attribution to an AI in commits.
command=$(jq -r '.tool_input.command // empty')
grep -qE '\bgit\b.*\bcommit\b' <<<"$command" || exit 0

if grep -qiE 'co-authored-by:.*(claude|gpt|copilot|gemini)|generated (with|by).*(claude|gpt|copilot|gemini)' <<<"$command"; then
    echo "BLOCKED: the commit names an AI as its author. Remove the line." >&2
    exit 2
fi
exit 0
