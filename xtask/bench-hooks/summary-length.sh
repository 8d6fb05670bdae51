#!/usr/bin/env bash
# SubagentStop: what a subagent returns stays in the context, so it is kept short.
message=$(jq -r '.last_assistant_message // empty')

if ((${#message} > 24000)); then
    echo "BLOCKED: the summary is too long. Write it to a file and return the path." >&2
    exit 2
fi
exit 0
