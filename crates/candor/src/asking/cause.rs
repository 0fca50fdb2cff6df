//! Why a tool halted, and what its caller is told where the call does not go on.

use super::form::FormFault;
use super::question::Means;
use super::rounds;
use super::way::Asking;
use crate::outcome::{Effect, Kind, Reason, Repeat};

/// Why a tool halted: what the wrapper has to make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It asked, and the round ends: `rounds::close`.
    Asked,
    /// It asked, and in this call nobody can be: an `input_required` task, or NEEDS INPUT. Nothing was done.
    Unable(Unable),
    /// It wants to go on as a task: run it again, as one.
    AsTask,
    /// It asks what must not or can't be asked: a fault of the server.
    Faulty(FormFault),
    /// The caller left or cancelled while the user was asked. Nothing was done.
    Left,
    /// No answer fitted, however often it was asked for. Nothing was done.
    Misfits,
}

/// Why nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unable {
    /// The client didn't say that it can be asked so.
    NotOffered(Means),
    /// It said so and refused with this JSON-RPC code; -32601 is the usual one.
    Refused { code: i32 },
    /// Its revision doesn't know forms of this shape.
    Shape,
    /// The task's board can't show it.
    Board,
}

impl Unable {
    fn words(self) -> String {
        match self {
            Self::NotOffered(Means::Form) => "this client did not say that it can show forms".to_owned(),
            Self::NotOffered(Means::Url) => "this client did not say that it can open pages".to_owned(),
            Self::NotOffered(Means::Sampling) => {
                "this client did not say that it can ask its model".to_owned()
            }
            Self::NotOffered(Means::Roots) => "this client did not say that it lists its roots".to_owned(),
            Self::Refused { code } => {
                format!("this client said that it can be asked, and answered with error {code}")
            }
            Self::Shape => "this client's revision doesn't know forms of this shape".to_owned(),
            Self::Board => "the task can't show the question".to_owned(),
        }
    }
}

impl Cause {
    /// What the caller is told where the call ends here: nothing was done, for no answer is no consent, and what would be
    /// needed. `None` where it goes on (a round, a task) or where the server is at fault, whose words are masked.
    pub(crate) fn reason(&self, asking: &Asking) -> Option<Reason> {
        let (code, kind, message) = match self {
            Self::Asked | Self::AsTask | Self::Faulty(_) => return None,
            Self::Unable(why) => {
                let why = why.words();
                let message = format!("The user has to be asked first and can't be: {why}.");
                ("INPUT_UNAVAILABLE", Kind::PermissionDenied, message)
            }
            Self::Misfits => {
                let message = "The user was asked; no answer fitted what was asked for.".to_owned();
                ("INPUT_UNUSABLE", Kind::InvalidInput, message)
            }
            Self::Left => {
                let message = "The call was cancelled while the user was asked.".to_owned();
                ("CALL_CANCELLED", Kind::Cancelled, message)
            }
        };
        let reason = Reason::new(code, message)
            .kind(kind)
            .effect(Effect::NotApplied)
            .repeat(Repeat::SameAnswer);
        let needed = rounds::needed(asking);
        if needed.is_empty() || *self == Self::Left {
            return Some(reason);
        }
        let needed: Vec<String> = needed
            .into_iter()
            .map(|(_, message, schema)| {
                match schema.get("properties").and_then(serde_json::Value::as_object) {
                    Some(fields) if !fields.is_empty() => {
                        let fields: Vec<&str> = fields.keys().map(String::as_str).collect();
                        format!("{message} ({})", fields.join(", "))
                    }
                    _ => message,
                }
            })
            .collect();
        Some(reason.next_step(format!("What it asks the user: {}", needed.join("; "))))
    }
}
