//! Why a tool ended without an outcome. A tool that returns `Result<Outcome<T>, Stop>` can use `?` on everything.

use std::fmt::Display;
use std::iter::successors;

use candor_core::delivery::redaction::{KnownSecrets, least};
use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::CallToolResponse;
use uuid::Uuid;

use crate::call::Halt;
use crate::guard;
use crate::principal::Refused;
use crate::said::{Said, leave};

/// Most causes of an error that go to the log.
const CAUSES: usize = 8;

/// A tool ended without an outcome: it halted (the call goes on elsewhere), the caller may not, or something broke that
/// nobody foresaw.
///
/// Any [`std::error::Error`] becomes one with `?`, and is masked: its words and those of its causes go to the log without credentials, the
/// caller gets a correlation id and the effect `unknown`. What the caller should read belongs into
/// [`crate::Outcome::Failed`] or [`crate::Outcome::Rejected`].
#[derive(Debug)]
pub struct Stop(Why);

#[derive(Debug)]
enum Why {
    Halted,
    Broke(String),
    Refused(Refused),
}

impl Stop {
    /// Something broke. For errors that are no [`std::error::Error`], such as `anyhow`'s.
    pub fn broke(what: impl Display) -> Self {
        Self(Why::Broke(what.to_string()))
    }
}

impl From<Halt> for Stop {
    fn from(_: Halt) -> Self {
        Self(Why::Halted)
    }
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self(Why::Refused(refused))
    }
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::broke(with_causes(&error))
    }
}

/// An error's words with those of its causes, which alone say what was wrong where libraries wrap each other's errors.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = successors(error.source(), |cause| cause.source()).take(CAUSES);
    let words = causes.map(|cause| format!(": {cause}"));
    [error.to_string()].into_iter().chain(words).collect()
}

impl IntoCallToolResult for Stop {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Err(match self.0 {
            Why::Halted => pointing(Said::Halted),
            Why::Refused(refused) => pointing(Said::Refused(refused)),
            Why::Broke(what) => {
                let what = least(&what, &KnownSecrets::default()).value;
                let correlation = guard::correlation().map(tracing::field::display);
                tracing::error!(correlation, error = %what, "a tool broke");
                pointing(Said::Broke)
            }
        })
    }
}

impl IntoCallToolResult for Halt {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Err(pointing(Said::Halted))
    }
}

/// An error that only the wrapper reads. Where there is none, it is the masked answer itself.
pub(crate) fn pointing(said: Said) -> ErrorData {
    match leave(said) {
        Ok(pointer) => ErrorData::internal_error("This server is not wrapped in candor.", Some(pointer)),
        Err(Said::Refused(refused)) => refused.into(),
        Err(_) => guard::masked(Uuid::now_v7()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the booking was not sent")]
    struct NotSent(#[source] std::io::Error);

    #[test]
    fn the_log_gets_the_causes_too() {
        let stop = Stop::from(NotSent(std::io::Error::other("disk full")));
        let Why::Broke(words) = stop.0 else {
            panic!("an error is a breakdown");
        };
        assert_eq!(words, "the booking was not sent: disk full");
    }
}
