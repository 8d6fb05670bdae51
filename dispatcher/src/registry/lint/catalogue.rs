//! Every rule of the linter. Its id is what people search for, so it never changes.

use super::finding::{Rule, Severity};

const fn error(id: &'static str, about: &'static str) -> Rule {
    Rule { id, severity: Severity::Error, about }
}

const fn warning(id: &'static str, about: &'static str) -> Rule {
    Rule { id, severity: Severity::Warning, about }
}

const fn note(id: &'static str, about: &'static str) -> Rule {
    Rule { id, severity: Severity::Note, about }
}

macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(#[doc = "See its `about`."] pub static $name: Rule = $rule;)*
        /// All of them.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    TOML_SYNTAX = error("toml-syntax", "The file is not TOML.");
    UNKNOWN_KEY = error("unknown-key", "A key that the schema does not know; it would be ignored silently if it were allowed.");
    DUPLICATE_KEY = error("duplicate-key", "The same setting under two names.");
    MISSING_KEY = error("missing-key", "A key that its table cannot do without.");
    WRONG_TYPE = error("wrong-type", "A value of another type than its key wants.");
    OUT_OF_RANGE = error("out-of-range", "A number that its key cannot take.");
    UNKNOWN_VALUE = error("unknown-value", "A word that is none of those that its key knows.");
    EMPTY_VALUE = error("empty-value", "An empty text or list where something must be named.");
    SCHEMA_VERSION = error("schema-version", "The registry was written for another version of the schema.");
    UNKNOWN_EVENT = error("unknown-event", "An event that the agent never sends: the gate would never run.");
    DUPLICATE_STANZA = error("duplicate-stanza", "Two stanzas with the same name, event, tool and matcher: one gate would run twice.");
    ASYNC_STOPS = error("async-stops", "A stanza whose verdict is ignored, with an on_error that wants to stop.");
    UNDEFINED_JOURNAL = error("undefined-journal", "A journal that the registry does not define.");
    INVALID_DIGEST = error("invalid-digest", "A pinned digest that is none.");
    REFUSED = error("refused", "The loader refuses the registry.");
    NO_GATES = warning("no-gates", "A registry without a stanza guards nothing.");

    INVALID_PATTERN = error("invalid-pattern", "A `tool` or `matcher` that is no valid pattern.");
    INVALID_GLOB = error("invalid-glob", "A glob that cannot be read; it matches nothing.");
    NEVER_MATCHES = error("never-matches", "A pattern or glob that nothing can match: the gate would never run.");
    UNKNOWN_TOOL = warning("unknown-tool", "A tool name that is close to a known one, but is none.");
    MATCHES_MORE = warning("matches-more", "A pattern that also selects tools which it does not seem to mean.");
    MATCHER_IGNORED = warning("matcher-ignored", "A matcher on an event that has none.");

    CANNOT_BLOCK = warning("cannot-block", "A gate that is to stop on an event that cannot be stopped.");
    CANNOT_ASK = warning("cannot-ask", "A gate that is to ask on an event that has no question.");
    ADVICE_DROPPED = warning("advice-dropped", "A gate that only advises, on an event where nobody reads advice.");
    TIMEOUT_TOO_LONG = warning("timeout-too-long", "A timeout beyond the moment at which the dispatcher must have answered.");
    NO_EFFECT = warning("no-effect", "A key that changes nothing here.");

    PLUGIN_MISSING = error("plugin-missing", "The component file cannot be read.");
    NOT_A_COMPONENT = error("not-a-component", "The plugin file is not a WebAssembly component.");
    WRONG_CONTRACT = error("wrong-contract", "The component speaks another version of the contract, or is no gate.");
    DIGEST_MISMATCH = error("digest-mismatch", "The component is not the one that the stanza pins.");
    NOT_GRANTED = warning("not-granted", "The component asks for a capability that the stanza does not grant: it will be refused.");
    NOT_USED = warning("not-used", "The stanza grants a capability that the component cannot use.");

    SHELL_UNACKNOWLEDGED = error("shell-unacknowledged", "A shell may run only with an acknowledgement.");
    UNSANDBOXED = note("unsandboxed", "A program that runs whatever it is given: the sandbox ends where it starts.");
    NOT_A_PROGRAM_NAME = error("not-a-program-name", "Programs are run by name only, so a path is never run.");
    LEAVES_PROJECT = warning("leaves-project", "A grant beyond the project.");
    TOO_WIDE = warning("too-wide", "A grant of everything.");
    GRANTS_NOTHING = warning("grants-nothing", "A grant that is empty or cannot apply.");

    NEVER_RUNS = warning("never-runs", "A gate that can never run, because of what it requires.");
    SWITCHED_OFF = note("switched-off", "A gate that is switched off.");
    UNUSED_JOURNAL = note("unused-journal", "A journal that no stanza names.");

    NOT_IN_HOOKS_JSON = error("not-in-hooks-json", "hooks.json does not call the dispatcher for this: the gate would never run.");
    ONLY_IN_HOOKS_JSON = warning("only-in-hooks-json", "hooks.json calls the dispatcher for an event that no gate is for.");
    HOOKS_JSON_TIMEOUT = warning("hooks-json-timeout", "hooks.json lets the agent give up before the dispatcher answers.");
    HOOKS_JSON_INVALID = error("hooks-json-invalid", "hooks.json cannot be read.");
    UNTRUSTED_LAYER = warning("untrusted-layer", "A project's own layer that the user has not trusted.");
}
