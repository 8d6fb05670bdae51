//! The rules as one table; what each matches is in one file per family of commands.

mod deletion;
mod find;
mod github;
mod history;
mod permissions;
mod remote_code;
mod sources;
mod working_tree;

use crate::Rule;

/// The rules, in the order they are reported.
pub static RULES: [Rule; 27] = [
    Rule {
        code: "catastrophic_root",
        reason: "Catastrophic deletion: rm would recurse into {} (root, home, project root or unscoped wildcard)",
        fix: "name the one directory that should go, such as `rm -r build/cache`",
        matches: |line| line.first(deletion::removes_everything),
    },
    Rule {
        code: "protected_path_delete",
        reason: "recursive rm would destroy protected path {}; nothing brings it back",
        fix: "list the single files that may go and remove those, such as `rm src/old.rs`",
        matches: |line| line.first(deletion::removes_protected),
    },
    Rule {
        code: "sot_delete",
        reason: "{} is a source-of-truth artifact; removing it loses what everything else refers to",
        fix: "change its content with Edit instead of removing it",
        matches: |line| line.first(sources::removes),
    },
    Rule {
        code: "sot_clobber_redirect",
        reason: "Clobbering redirect: {} is a source-of-truth artifact and would be overwritten",
        fix: "add lines with `>>` (`tee -a`), or change it with Edit or `sed -i`",
        matches: |line| line.first(sources::overwrites),
    },
    Rule {
        code: "sot_truncate_colon",
        reason: "Truncating {} with a no-op redirect would empty a source-of-truth artifact",
        fix: "change it with Edit",
        matches: |line| line.first(sources::empties_by_redirection),
    },
    Rule {
        code: "sot_truncate_cmd",
        reason: "Truncating {} would cut a source-of-truth artifact",
        fix: "change it with Edit",
        matches: |line| line.first(sources::truncates),
    },
    Rule {
        code: "sot_clobber_cpnull",
        reason: "copying the null device over {} would empty a source-of-truth artifact",
        fix: "change it with Edit",
        matches: |line| line.first(sources::copies_nothing_over),
    },
    Rule {
        code: "find_delete_protected",
        reason: "find deletes below protected path {}",
        fix: "print the matches first (the same find without its delete action), then remove the ones you mean by name",
        matches: find::deletes_protected,
    },
    Rule {
        code: "git_reset_hard",
        reason: "git reset --hard throws away uncommitted work for good",
        fix: "git stash first, or git reset --soft",
        matches: |line| line.any(working_tree::resets_hard),
    },
    Rule {
        code: "git_clean_force",
        reason: "forced git clean removes untracked files for good, specs and stories included",
        fix: "look first with git clean -n, then remove single files",
        matches: |line| line.any(working_tree::cleans),
    },
    Rule {
        code: "git_checkout_dot",
        reason: "this git checkout -- {} would throw away every change in the working tree",
        fix: "git stash keeps it; otherwise name one file, such as git checkout -- src/main.rs",
        matches: |line| line.first(working_tree::checks_out_everything),
    },
    Rule {
        code: "git_restore_dot",
        reason: "git restore {} would throw away every change in the working tree",
        fix: "restore one named file, such as git restore src/main.rs",
        matches: |line| line.first(working_tree::restores_everything),
    },
    Rule {
        code: "git_stash_discard",
        reason: "dropping or clearing the stash destroys work that was set aside",
        fix: "look at it with git stash show -p; the user may discard it",
        matches: |line| line.any(working_tree::discards_stash),
    },
    Rule {
        code: "git_branch_d_protected",
        reason: "force-deleting protected branch {}",
        fix: "switch branches instead, such as git switch -c feature/STORY-001",
        matches: |line| line.first(history::deletes_branch),
    },
    Rule {
        code: "git_filter_history",
        reason: "rewrites the history of all refs",
        fix: "use a fresh clone, with the user's consent",
        matches: |line| line.any(history::filters),
    },
    Rule {
        code: "git_reflog_expire",
        reason: "expiring the reflog at once removes the way back to lost commits",
        fix: "the normal schedule (90 days) is enough: git gc follows it",
        matches: |line| line.any(history::expires_reflog),
    },
    Rule {
        code: "git_gc_prune_now",
        reason: "gc with immediate prune leaves no recovery window",
        fix: "plain git gc keeps two weeks",
        matches: |line| line.any(history::prunes_now),
    },
    Rule {
        code: "git_worktree_force",
        reason: "forced removal of worktree {} outside .worktrees/ loses uncommitted changes",
        fix: "commit or git stash first and remove it without force, or target .worktrees/",
        matches: |line| line.first(working_tree::forces_worktree_away),
    },
    Rule {
        code: "git_no_verify",
        reason: "--no-verify switches off the checks this project relies on (attribution, artifacts, waves)",
        fix: "repair what the check complains about, or the check itself",
        matches: |line| line.any(history::skips_checks),
    },
    Rule {
        code: "git_no_gpg_sign",
        reason: "skips commit signing",
        fix: "repair the signing key configuration",
        matches: |line| line.any(history::skips_signing),
    },
    Rule {
        code: "git_rm_protected",
        reason: "git rm on a living spec, story or state file {}",
        fix: "use lifecycle status fields (retired, deprecated)",
        matches: |line| line.first(working_tree::removes_living),
    },
    Rule {
        code: "gh_repo_delete",
        reason: "gh repo delete cannot be undone and hits shared state",
        fix: "leave it to the user in the web interface",
        matches: |line| line.any(github::deletes_repository),
    },
    Rule {
        code: "gh_release_delete",
        reason: "gh release delete withdraws something others may depend on",
        fix: "leave it to the user",
        matches: |line| line.any(github::deletes_release),
    },
    Rule {
        code: "gh_pr_close",
        reason: "gh pr close abandons the work and cuts its review trail",
        fix: "say why in a comment (gh pr comment); the user decides",
        matches: |line| line.any(github::closes_pull_request),
    },
    Rule {
        code: "gh_issue_delete",
        reason: "deleting an issue erases its history",
        fix: "use gh issue close",
        matches: |line| line.any(github::deletes_issue),
    },
    Rule {
        code: "rce_pipe_to_shell",
        reason: "remote content would run unread",
        fix: "Download first (curl -o), read the file, run it as a separate step",
        matches: remote_code::runs_download,
    },
    Rule {
        code: "recursive_permission_change",
        reason: "recursive chmod/chown on protected path {}",
        fix: "change the specific files, such as chmod +x src/run.sh",
        matches: |line| line.first(permissions::changes_recursively),
    },
];

/// What the rules find in a text, for their tests.
#[cfg(test)]
fn line(text: &str) -> crate::CommandLine {
    let context = portcullis_shell::Context {
        cwd: "/home/dev/project".into(),
        project_root: "/home/dev/project".into(),
        home: Some("/home/dev".into()),
    };
    let commands = portcullis_shell::analyze(text, &context).commands;
    crate::CommandLine { commands, root: context.project_root }
}
