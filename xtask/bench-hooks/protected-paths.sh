#!/usr/bin/env bash
# PreToolUse Write, Edit: workflows, lock files and .env files are the human's.
path=$(jq -r '.tool_input.file_path // .tool_input.notebook_path // empty')

case $path in
*/.github/workflows/* | *.lock | */.env | */.env.*)
    echo "BLOCKED: $path is protected. Ask for the change." >&2
    exit 2
    ;;
esac
exit 0
