#!/usr/bin/env bash
# SessionEnd: one line in the project's log.
mkdir -p "$CLAUDE_PROJECT_DIR/.foundry/metrics"
jq -c '{time: (now | todate), event: "session_end", session: .session_id, reason}' >>"$CLAUDE_PROJECT_DIR/.foundry/metrics/hooks.jsonl"
