//! Log messages to the client while a tool runs (`notifications/message`).

use candor_core::delivery::redaction::{self, KnownSecrets};
use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ProtocolVersion,
    ServerNotification,
};
use rmcp::service::RequestContext;
use serde_json::Value;

/// How weighty a log message is (RFC 5424), the lightest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// What happens.
    Info,
    /// What happens and matters.
    Notice,
    /// What may become a fault.
    Warning,
    /// What went wrong.
    Error,
    /// What went wrong and stops something.
    Critical,
    /// What a person must see to at once.
    Alert,
    /// The system can't be used.
    Emergency,
}

impl From<Level> for LoggingLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Notice => Self::Notice,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
            Level::Critical => Self::Critical,
            Level::Alert => Self::Alert,
            Level::Emergency => Self::Emergency,
        }
    }
}

impl From<LoggingLevel> for Level {
    fn from(level: LoggingLevel) -> Self {
        match level {
            LoggingLevel::Debug => Self::Debug,
            LoggingLevel::Info => Self::Info,
            LoggingLevel::Notice => Self::Notice,
            LoggingLevel::Warning => Self::Warning,
            LoggingLevel::Error => Self::Error,
            LoggingLevel::Critical => Self::Critical,
            LoggingLevel::Alert => Self::Alert,
            LoggingLevel::Emergency => Self::Emergency,
        }
    }
}

/// Sends a message with its credentials masked, if this client wants messages of that level.
pub(crate) async fn send(context: &RequestContext<RoleServer>, level: Level, data: &Value) {
    let modern = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let wanted = match context.meta.log_level() {
        Some(least) => level >= Level::from(least),
        None => !modern,
    };
    if !wanted {
        return;
    }
    let data = redaction::json(data, &KnownSecrets::default()).value;
    let message = LoggingMessageNotification::new(LoggingMessageNotificationParam::new(level.into(), data));
    // Nobody is left to tell where the caller has gone.
    let _ = context
        .peer
        .send_notification(ServerNotification::LoggingMessageNotification(message))
        .await;
}
