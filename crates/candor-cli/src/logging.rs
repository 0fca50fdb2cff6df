//! Logs: to stderr only, since stdout is the protocol's.

use std::env;
use std::io::{self, IsTerminal, Write, stderr};

use candor_core::delivery::redaction::KnownSecrets;
use candor_gateway::config::LogLevel;
use tracing_subscriber::EnvFilter;

use crate::args::{LogArgs, LogFormat};
use crate::masked;

/// stderr without credentials: each write is one line.
struct Masking(KnownSecrets);

impl Write for Masking {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let masked = masked::line(&String::from_utf8_lossy(line), &self.0);
        stderr().write_all(masked.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// Starts logging: flag, then RUST_LOG, then LOG_LEVEL, then the configuration, then `warn`.
pub(crate) fn start(args: &LogArgs, configured: Option<LogLevel>, secrets: KnownSecrets) {
    let filter = match (args.log_level, env::var("RUST_LOG"), env::var("LOG_LEVEL")) {
        (Some(level), _, _) => EnvFilter::new(level.as_str()),
        (None, Ok(directives), _) if !directives.is_empty() => EnvFilter::new(directives),
        (None, _, Ok(level)) if !level.is_empty() => EnvFilter::new(level.to_lowercase()),
        _ => EnvFilter::new(configured.map_or("warn", LogLevel::as_str)),
    };
    let format = args.log_format.unwrap_or(if stderr().is_terminal() {
        LogFormat::Text
    } else {
        LogFormat::Json
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || Masking(secrets.clone()));
    match format {
        LogFormat::Text => builder
            .with_ansi(stderr().is_terminal() && env::var_os("NO_COLOR").is_none())
            .init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}
