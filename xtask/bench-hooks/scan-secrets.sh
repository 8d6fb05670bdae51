#!/usr/bin/env bash
# PreToolUse Write, Edit: credentials in the text that would be written.
text=$(jq -r '.tool_input | .content // .new_string // .new_source // (.edits // [] | map(.new_string) | join("\n"))')

pattern='AKIA[0-9A-Z]{16}'
pattern+='|gh[pousr]_[A-Za-z0-9]{36}'
pattern+='|sk-ant-[A-Za-z0-9_-]{20,}'
pattern+='|sk-[A-Za-z0-9]{40,}'
pattern+='|xox[abprs]-[A-Za-z0-9-]{10,}'
pattern+='|-----BEGIN ([A-Z]+ )?PRIVATE KEY-----'
pattern+='|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}'
pattern+='|(postgres|postgresql|mysql|mongodb|redis)://[^:@ ]+:[^@ ]+@'
if grep -qE -e "$pattern" <<<"$text"; then
    echo "BLOCKED: the text holds a credential. Read it from the environment." >&2
    exit 2
fi
exit 0
