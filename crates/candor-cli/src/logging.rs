//! Logs: to stderr only, since stdout is the protocol's, and never in the way of a call.
//!
//! Whoever started us may close its end of stderr or never read it. Lines therefore go through a bounded queue and a
//! thread of their own: a full queue loses lines, a broken stderr loses all of them, and no call waits or fails.

use std::env;
use std::io::{self, IsTerminal, Write, stderr};

use candor_core::delivery::redaction::KnownSecrets;
use candor_gateway::config::LogLevel;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::{LogArgs, LogFormat};
use crate::masked;

/// Lines that may wait for a stderr that nobody reads.
const WAITING_LINES: usize = 1_024;

/// stderr, without ever failing: a reader that is gone loses the line and nothing else. Each write is one line, and
/// holds no credentials.
struct Forgiving(KnownSecrets);

impl Write for Forgiving {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A line that can't be written has nobody left who could be told.
        let masked = masked::line(&String::from_utf8_lossy(line), &self.0);
        let _ = stderr().write_all(masked.as_bytes());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts logging: flag, then RUST_LOG, then LOG_LEVEL, then the configuration, then `warn`. What is queued is written
/// until the guard is dropped.
pub(crate) fn start(args: &LogArgs, configured: Option<LogLevel>, secrets: KnownSecrets) -> WorkerGuard {
    let filter = match (args.log_level, env::var("RUST_LOG"), env::var("LOG_LEVEL")) {
        (Some(level), _, _) => targets(level.as_str()),
        (None, Ok(directives), _) if !directives.is_empty() => targets(&directives),
        (None, _, Ok(level)) if !level.is_empty() => targets(&level),
        _ => targets(configured.map_or("warn", LogLevel::as_str)),
    };
    let format = args.log_format.unwrap_or(if stderr().is_terminal() {
        LogFormat::Text
    } else {
        LogFormat::Json
    });
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .finish(Forgiving(secrets));
    let builder = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(writer);
    match format {
        LogFormat::Text => builder
            .with_ansi(stderr().is_terminal() && env::var_os("NO_COLOR").is_none())
            .finish()
            .with(filter)
            .init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().with(filter).init(),
    }
    guard
}

/// A level, or levels by target (`warn,candor_gateway=debug`). What is neither is left out: a variable that other programs
/// read too is no reason not to start.
fn targets(directives: &str) -> Targets {
    directives
        .split(',')
        .filter_map(|directive| directive.trim().parse::<Targets>().ok())
        .fold(Targets::new(), |all, one| {
            let all = match one.default_level() {
                Some(level) => all.with_default(level),
                None => all,
            };
            all.with_targets(one.iter().map(|(target, level)| (target.to_owned(), level)))
        })
}

#[test]
fn levels_are_read_by_target_and_what_is_none_is_left_out() {
    use tracing::Level;
    let lists = |directives: &str, target, level| targets(directives).would_enable(target, &level);
    assert!(lists("warn", "candor", Level::WARN));
    assert!(!lists("warn", "candor", Level::INFO));
    assert!(lists("INFO", "candor", Level::INFO));
    let both = "warn, candor_gateway=debug,[span]=nonsense";
    assert!(lists(both, "candor_gateway::session", Level::DEBUG));
    assert!(!lists(both, "candor", Level::INFO));
    assert!(lists(both, "candor", Level::WARN));
}
