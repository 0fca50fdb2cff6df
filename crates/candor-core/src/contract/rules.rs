//! Rules on arguments that a schema can't say: CEL expressions with a message.
//!
//! A rule sees `args` (the arguments), `principal` (who calls: `principal.name`, empty where nobody said), `now` (the time of the call) and `today` (the start of that day in the rule's
//! time zone), and adds two functions to CEL's own: `date(text, 'dd/mm/yyyy')` and `format(time, 'dd/mm/yyyy')`.
//! Only an operator's configuration may hold rules, never a server: still everything is bounded before it runs.

mod date;
mod expression;
mod fault;
mod message;
mod outline;
mod term;
mod tree;
mod value;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use self::expression::{Expression, Scene, WhyNot, tidy};
use self::message::{MASKED, Message, SECRET_LENGTH};
use self::tree::OF_A_RULE;
use super::mapping::pointer::Pointer;
use crate::arguments::issue::Issue;
use crate::delivery::redaction::is_secret_name;

pub use self::date::DatePatternFault;
pub use self::fault::{FaultKind, Part, RuleFault};
pub use self::term::{NoValue, Seen, Term};

/// Most characters of a received value in an issue.
const RECEIVED_LIMIT: usize = 80;

/// A compiled rule. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rule(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    name: String,
    check: Expression,
    message: Message,
    path: Pointer,
    zone: TimeZone,
}

/// What a rule says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleAnswer {
    /// The arguments are as the rule wants them.
    Holds,
    /// They are not.
    Broken(Issue),
    /// The rule has no answer for these arguments. The call is refused, and the issue says why (decisions.toml,
    /// `bad_input`).
    CannotTell(Issue),
}

/// The time zone in which a rule's days begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone with this IANA name, such as `Europe/Zurich`, from the table compiled into the program.
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self)
    }

    /// Coordinated Universal Time, for who says nothing.
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Rule {
    /// Compiles a rule: `check` must give true for good arguments, `message` says what is wanted otherwise, `path` is
    /// the argument it is about (`""` for the whole), and dates are read and written in `zone`.
    ///
    /// # Errors
    /// What is wrong with the two texts: one fault of each at most.
    pub fn compile(
        name: &str,
        check: &str,
        message: &str,
        path: &Pointer,
        zone: &Zone,
    ) -> Result<Self, Vec<RuleFault>> {
        let fault = |part| move |(at, kind)| RuleFault { part, at, kind };
        let check = Expression::compile(check, OF_A_RULE).map_err(fault(Part::Check));
        let message = Message::compile(message).map_err(fault(Part::Message));
        match (check, message) {
            (Ok(check), Ok(message)) => Ok(Self(Arc::new(Parts {
                name: name.to_owned(),
                check,
                message,
                path: path.clone(),
                zone: zone.0.clone(),
            }))),
            (check, message) => Err(check.err().into_iter().chain(message.err()).collect()),
        }
    }

    /// The rule's name, which is the `rule` of its issues.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Checks `args` as of `now`, for a caller that nobody named.
    pub fn check(&self, args: &Value, now: Timestamp) -> RuleAnswer {
        self.check_for("", args, now)
    }

    /// Checks `args` of a call by `principal` as of `now`. Never fails and never runs long: what can't be decided is said to
    /// be so.
    pub fn check_for(&self, principal: &str, args: &Value, now: Timestamp) -> RuleAnswer {
        let parts = &self.0;
        let principal = json!({ "name": principal });
        let seen = [("args", args), ("principal", &principal)];
        let scene = match Scene::of(&seen, now, &parts.zone) {
            Ok(scene) => scene,
            Err(why) => return RuleAnswer::CannotTell(self.undecided(args, &why, None)),
        };
        let why = match parts.check.evaluate(&scene) {
            Ok(cel::Value::Bool(true)) => return RuleAnswer::Holds,
            Ok(cel::Value::Bool(false)) => {
                return RuleAnswer::Broken(self.issue(args, parts.message.render(&scene, &parts.zone), None));
            }
            Ok(other) => WhyNot::NotABoolean(value::kind(&other)),
            Err(why) => why,
        };
        RuleAnswer::CannotTell(self.undecided(args, &why, Some(parts.message.render(&scene, &parts.zone))))
    }

    fn undecided(&self, args: &Value, why: &WhyNot, message: Option<String>) -> Issue {
        let expected = format!("arguments on which rule {:?} can be checked: {why}", self.0.name);
        self.issue(
            args,
            expected,
            message.map(|message| format!("the rule says: {message}")),
        )
    }

    fn issue(&self, args: &Value, expected: String, hint: Option<String>) -> Issue {
        let path = self.0.path.as_str();
        let received = if path.is_empty() {
            None
        } else {
            self.0.path.find(args)
        };
        Issue {
            path: path.to_owned(),
            rule: self.0.name.clone(),
            expected,
            received: received.map(|value| received_text(path, value)),
            hint,
        }
    }
}

fn received_text(path: &str, value: &Value) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    match value {
        Value::String(text) if text.len() >= SECRET_LENGTH && is_secret_name(name) => MASKED.to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("\"{}\"", tidy(text, RECEIVED_LIMIT)),
        other => tidy(&other.to_string(), RECEIVED_LIMIT),
    }
}

#[cfg(test)]
mod tests;
