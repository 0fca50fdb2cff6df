//! Logs: to stderr only, since stdout is the protocol's.

use std::env;
use std::io::{IsTerminal, stderr};

use candor_gateway::config::LogLevel;
use tracing_subscriber::EnvFilter;

use crate::args::{LogArgs, LogFormat};

/// Starts logging: flag, then RUST_LOG, then LOG_LEVEL, then the configuration, then `warn`.
pub(crate) fn start(args: &LogArgs, configured: Option<LogLevel>) {
    let filter = match (args.log_level, env::var("RUST_LOG"), env::var("LOG_LEVEL")) {
        (Some(level), _, _) => EnvFilter::new(level.as_str()),
        (None, Ok(directives), _) if !directives.is_empty() => EnvFilter::new(directives),
        (None, _, Ok(level)) if !level.is_empty() => EnvFilter::new(level.to_lowercase()),
        _ => EnvFilter::new(configured.map_or("warn", LogLevel::as_str)),
    };
    let format = args.log_format.unwrap_or(if stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json });
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    match format {
        LogFormat::Text => builder.with_ansi(stderr().is_terminal() && env::var_os("NO_COLOR").is_none()).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}
