#!/usr/bin/env bash
# Stop: who claims success has run the tests. Reads the end of the transcript.
input=$(cat)
[[ $(jq -r '.stop_hook_active' <<<"$input") == true ]] && exit 0
jq -r '.last_assistant_message // empty' <<<"$input" | grep -qiE '\b(all tests pass|tests are green|done|works|fixed)\b' || exit 0

transcript=$(jq -r '.transcript_path // empty' <<<"$input")
[[ -f $transcript ]] || exit 0
commands=$(tail -n 200 "$transcript" |
    jq -r 'select(.type == "assistant") | .message.content[]? | select(.type == "tool_use" and .name == "Bash") | .input.command')
if ! grep -qE '\b(cargo (test|nextest)|npm (run )?test|pytest|go test|make (test|check))\b' <<<"$commands"; then
    echo "BLOCKED: success is claimed, but no test was run. Run them, or say that they were not." >&2
    exit 2
fi
exit 0
