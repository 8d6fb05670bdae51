#!/usr/bin/env node
// All checks of the scripts beside this file in one process. CommonJS: it starts faster than a module.
"use strict";

const fs = require("fs");
const path = require("path");

function stop(reason) {
    process.stderr.write(`BLOCKED: ${reason}\n`);
    process.exit(2);
}

function command(text) {
    const rules = [
        [/\brm\s+(-[a-zA-Z]*r[a-zA-Z]*f|-[a-zA-Z]*f[a-zA-Z]*r|-r +-f|-f +-r)/, "forced deletion. Delete single files, or ask."],
        [/\bgit\s+(reset\s+--hard|clean\s+-[a-zA-Z]*f)/, "this throws uncommitted work away. Use git stash."],
        [/\bdrop\s+(table|database|schema)\b/i, "this drops data. Ask first."],
        [/\b(curl|wget)\b[^|;&\n]*\|\s*(sudo\s+)?(ba|z|da)?sh\b/, "a download is run unread. Save it, read it, then run it."],
        [/\bchmod\s+(-R\s+)?0?777\b/, "everybody could write. Grant what is needed."],
        [/\b(cat|less|more|head|tail|grep|source|cp|base64)\b.*\.env(\.[a-z]+)?\b/, "this reads a file of secrets."],
        [/\b(echo|printf)\b.*\$\{?[A-Z_]*(SECRET|TOKEN|PASSWORD|API_KEY)/, "this prints a secret variable."],
        [/\bgit\b.*\bpush\b.*(\s--force(\s|$)|\s-[a-zA-Z]*f\b)/m, "force push. Use --force-with-lease on a branch of your own."],
        [/\bgit\b.*\bpush\b.*[\s:](main|master|develop)(\s|$)/m, "push to a protected branch. Open a pull request."],
    ];
    for (const [pattern, reason] of rules) {
        if (pattern.test(text)) stop(reason);
    }
    const attribution = /co-authored-by:.*(claude|gpt|copilot|gemini)|generated (with|by).*(claude|gpt|copilot|gemini)/i;
    if (/\bgit\b.*\bcommit\b/.test(text) && attribution.test(text)) {
        stop("the commit names an AI as its author. Remove the line.");
    }
}

const SECRET = new RegExp(
    [
        "AKIA[0-9A-Z]{16}",
        "gh[pousr]_[A-Za-z0-9]{36}",
        "sk-ant-[A-Za-z0-9_-]{20,}",
        "sk-[A-Za-z0-9]{40,}",
        "xox[abprs]-[A-Za-z0-9-]{10,}",
        "-----BEGIN ([A-Z]+ )?PRIVATE KEY-----",
        "eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}",
        "(postgres|postgresql|mysql|mongodb|redis)://[^:@ \\n]+:[^@ \\n]+@",
    ].join("|"),
);

function write(input) {
    const edits = (input.edits ?? []).map((edit) => edit.new_string).join("\n");
    if (SECRET.test(input.content ?? input.new_string ?? input.new_source ?? edits)) {
        stop("the text holds a credential. Read it from the environment.");
    }
    const file = input.file_path ?? input.notebook_path ?? "";
    if (/\/\.github\/workflows\/|\.lock$|\/\.env(\.[^/]*)?$/.test(file)) stop(`${file} is protected. Ask for the change.`);
}

function written(file) {
    if (!/\/\.factory\/.*\.md$/.test(file) || !fs.existsSync(file)) return;
    const text = fs.readFileSync(file, "utf8");
    if (/\/\.factory\/stories\/[^/]*\.md$/.test(file)) {
        const [, front = "", ...rest] = text.split(/^---$/m);
        const body = rest.join("---");
        for (const contract of (front.match(/^(bcs|behavioral_contracts):.*$/m)?.[0] ?? "").match(/BC-[0-9.]+/g) ?? []) {
            if (!body.includes(`| ${contract} |`)) {
                stop(`${file} lists ${contract}, but its table of contracts does not. Add the row.`);
            }
        }
    }
    let cells = 0;
    for (const [number, line] of text.split("\n").entries()) {
        const here = line.startsWith("|") ? line.split("|").length : 0;
        if (here && cells && here !== cells) stop(`${file}:${number + 1} has another number of cells than the row above.`);
        cells = here;
    }
}

/** The last bytes of a file, without the line that they begin in. */
function tail(file, bytes) {
    const handle = fs.openSync(file, "r");
    const start = Math.max(0, fs.fstatSync(handle).size - bytes);
    const buffer = Buffer.alloc(bytes);
    const read = fs.readSync(handle, buffer, 0, bytes, start);
    const text = buffer.toString("utf8", 0, read);
    return start ? text.slice(text.indexOf("\n") + 1) : text;
}

function claims(event) {
    const claim = /\b(all tests pass|tests are green|done|works|fixed)\b/i;
    if (event.stop_hook_active || !claim.test(event.last_assistant_message ?? "") || !fs.existsSync(event.transcript_path)) return;
    const commands = [];
    for (const line of tail(event.transcript_path, 1 << 20).split("\n")) {
        if (!line.includes('"tool_use"')) continue;
        for (const part of JSON.parse(line).message?.content ?? []) {
            if (part.type === "tool_use" && part.name === "Bash") commands.push(part.input.command);
        }
    }
    if (!/\b(cargo (test|nextest)|npm (run )?test|pytest|go test|make (test|check))\b/.test(commands.join("\n"))) {
        stop("success is claimed, but no test was run. Run them, or say that they were not.");
    }
}

function log(event) {
    const directory = path.join(process.env.CLAUDE_PROJECT_DIR, ".foundry/metrics");
    fs.mkdirSync(directory, { recursive: true });
    const line = { time: new Date().toISOString(), event: "session_end", session: event.session_id, reason: event.reason };
    fs.appendFileSync(path.join(directory, "hooks.jsonl"), `${JSON.stringify(line)}\n`);
}

const event = JSON.parse(fs.readFileSync(0, "utf8"));
const input = event.tool_input ?? {};
const writes = /^(Write|Edit|MultiEdit|NotebookEdit)$/.test(event.tool_name ?? "");
switch (event.hook_event_name) {
    case "PreToolUse":
        if (event.tool_name === "Bash") command(input.command ?? "");
        if (writes) write(input);
        break;
    case "PostToolUse":
        if (writes) written(input.file_path ?? "");
        break;
    case "SubagentStop":
        if ((event.last_assistant_message ?? "").length > 24000) {
            stop("the summary is too long. Write it to a file and return the path.");
        }
        break;
    case "Stop":
        claims(event);
        break;
    case "SessionEnd":
        log(event);
        break;
}
