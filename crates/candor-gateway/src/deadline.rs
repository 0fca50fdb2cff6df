//! How long Candor waits for an answer: less than the host, so that an honest "unknown" can still be delivered.

use std::time::Duration;

/// No wait is longer than this, whatever progress is reported.
pub const MAXIMUM: Duration = Duration::from_secs(15 * 60);
/// The wait for a host nobody knows: 60 s is the default of the official SDKs that have one.
pub const UNKNOWN_HOST: Duration = Duration::from_secs(55);
/// How much earlier than the host Candor gives up.
const AHEAD: Duration = Duration::from_secs(2);
/// No deadline is shorter than this: it would end calls that the server is just answering.
const LEAST: Duration = Duration::from_millis(500);

/// The longest a call that is a task may take, and how long it may where nobody said.
const TASK: Duration = Duration::from_hours(1);
/// What is kept back for looking again.
const LOOKING: Duration = Duration::from_secs(5);

/// How long a host waits for one tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// It gives up after this time.
    Limit(Duration),
    /// It has no limit of its own.
    None,
    /// It has none unless `MCP_TOOL_TIMEOUT` (milliseconds) is set, which its servers inherit.
    FromEnvironment,
}

/// Known hosts by `clientInfo.name`, with the limits their documentation or sources state (November 2026).
const HOSTS: &[(&str, Patience)] = &[
    ("claude-code", Patience::FromEnvironment),
    ("claude-ai", Patience::Limit(Duration::from_secs(60))),
    ("codex-mcp-client", Patience::Limit(Duration::from_secs(60))),
    ("Codex", Patience::Limit(Duration::from_secs(60))),
    ("gemini-cli-mcp-client", Patience::Limit(Duration::from_secs(600))),
    ("goose", Patience::Limit(Duration::from_secs(300))),
    ("Cline", Patience::Limit(Duration::from_secs(60))),
    ("Roo-Code", Patience::Limit(Duration::from_secs(60))),
    ("Zed", Patience::Limit(Duration::from_secs(60))),
    ("Visual Studio Code", Patience::None),
    ("Visual-Studio-Code", Patience::None),
];

/// A deadline, and whether progress renews it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// From the call's opening to giving up.
    pub wait: Duration,
    /// Does reported progress start the wait anew (never past [`MAXIMUM`])? A limit that an operator set holds as it
    /// is.
    pub renewable: bool,
    /// What is kept back of the whole for a look at what the call left behind, once the wait is over.
    pub looking: Duration,
}

impl Deadline {
    /// That of a call that is a task: nobody waits at the other end, so only what an operator said counts.
    pub fn of_task(said: Option<Duration>) -> Self {
        Self {
            wait: said.map_or(TASK, |said| said.max(LEAST).min(TASK)),
            renewable: false,
            looking: Duration::ZERO,
        }
    }

    /// The same, for a call that is looked after: its answer is waited for so much shorter that a look fits in before the
    /// host gives up. Half of a short deadline, and never more than 5 s.
    #[must_use]
    pub fn with_look(self) -> Self {
        let looking = LOOKING.min(self.wait / 2);
        Self {
            wait: self.wait.saturating_sub(looking),
            looking,
            ..self
        }
    }
}

/// The deadline of one call: what an operator said (command line over contract), else what the host can bear.
/// `tool_timeout` is the value of `MCP_TOOL_TIMEOUT`, where it is inherited.
pub fn deadline(said: Option<Duration>, host: Option<&str>, tool_timeout: Option<Duration>) -> Deadline {
    if let Some(wait) = said {
        return Deadline {
            wait: wait.max(LEAST).min(MAXIMUM),
            renewable: false,
            looking: Duration::ZERO,
        };
    }
    let known = host
        .and_then(|name| HOSTS.iter().find(|(host, _)| *host == name))
        .map(|(_, patience)| *patience);
    let wait = match known {
        Some(Patience::Limit(limit)) => ahead_of(limit),
        Some(Patience::None) => MAXIMUM,
        Some(Patience::FromEnvironment) => tool_timeout.map_or(MAXIMUM, ahead_of),
        None => UNKNOWN_HOST,
    };
    Deadline {
        wait: wait.min(MAXIMUM),
        renewable: true,
        looking: Duration::ZERO,
    }
}

fn ahead_of(limit: Duration) -> Duration {
    limit.saturating_sub(AHEAD).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(host: &str, tool_timeout: Option<u64>) -> u64 {
        deadline(None, Some(host), tool_timeout.map(Duration::from_secs))
            .wait
            .as_secs()
    }

    #[test]
    fn hosts_are_beaten_by_two_seconds() {
        assert_eq!(wait("codex-mcp-client", None), 58);
        assert_eq!(wait("gemini-cli-mcp-client", None), 598);
        assert_eq!(wait("somebody-new", None), 55);
        assert_eq!(deadline(None, None, None).wait, UNKNOWN_HOST);
    }

    #[test]
    fn the_environment_counts_only_for_the_host_that_reads_it() {
        assert_eq!(wait("claude-code", Some(30)), 28);
        assert_eq!(wait("claude-code", None), 900);
        assert_eq!(wait("somebody-new", Some(30)), 55);
    }

    #[test]
    fn nothing_passes_the_maximum_and_an_operators_word_is_not_renewed() {
        let hour = Duration::from_secs(3600);
        let said = deadline(Some(hour), Some("claude-code"), None);
        assert_eq!((said.wait, said.renewable), (MAXIMUM, false));
        assert_eq!(deadline(None, Some("claude-code"), Some(hour)).wait, MAXIMUM);
        assert!(deadline(None, Some("goose"), None).renewable);
    }
}
