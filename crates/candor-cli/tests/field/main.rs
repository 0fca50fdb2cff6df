//! Real servers from the package registries, bare and through Candor: what `subjects/subjects.toml` says of each is played,
//! held against the decision table, and written down in `docs/field-report.md`. `scripts/subjects.sh` installs them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod answer;
mod discover;
#[path = "../it/harness/mod.rs"]
#[expect(dead_code, reason = "the other test program uses the rest of it")]
mod harness;
mod hidden;
mod isolation;
mod play;
mod report;
mod subject;

use harness::scene::Way;
use report::Row;
use subject::Subject;

/// One test for each subject, so that they run beside each other and fail by their own name. Each wait in them ends.
macro_rules! subjects {
    ($($test:ident = $name:literal),+ $(,)?) => {
        $(#[test] fn $test() { hold($name); })+

        /// Each once more, with contract packs.
        mod hidden_failures {
            $(#[test] fn $test() { super::hidden::hold($name); })+
        }

        #[test]
        fn no_subject_is_left_out() {
            assert_eq!([$($name),+][..], subject::names()[..]);
        }
    };
}

subjects!(
    everything = "everything",
    everything_old = "everything-old",
    filesystem = "filesystem",
    filesystem_old = "filesystem-old",
    memory = "memory",
    sequential_thinking = "sequential-thinking",
    github = "github",
    context7 = "context7",
    eslint = "eslint",
    hello_world = "hello-world",
    kubernetes = "kubernetes",
    cron = "cron",
    mcp_time = "mcp-time",
    leanspec = "leanspec",
    time = "time",
    git = "git",
    git_old = "git-old",
    kglite = "kglite",
    nano = "nano",
    multidim = "multidim",
    aws_documentation = "aws-documentation",
    calculator = "calculator",
    mysql = "mysql",
    shell = "shell",
    text_editor = "text-editor",
    sqlite = "sqlite",
    time_old = "time-old",
);

/// Plays one subject both ways, holds what came against what is expected, and its row against the report.
fn hold(name: &str) {
    let Some(subject) = Subject::installed(name) else {
        return;
    };
    let bare = play::calls(&subject, Way::Bare);
    let through = play::calls(&subject, Way::Through);
    let row = Row {
        name: subject.name.clone(),
        package: subject.package.clone(),
        made_with: subject.made_with.clone(),
        list: answer::lists(&subject, &bare, &through),
        good: answer::good(&subject, &bare, &through),
        bad: answer::bad(&subject, &through),
        failures: answer::failures(&subject, &bare, &through),
        honest: answer::honest(&subject, &bare, &through),
        discover: discover::hold(&subject),
        exit: play::end(&subject),
    };
    report::hold(&row);
}
