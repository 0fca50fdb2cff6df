//! Accepted work, followed to its end: what is asked, when, and what an answer makes of the operation. A declared end is
//! final; what a server says after it is not asked for any more.

pub mod state;

use std::time::Duration;

use serde_json::{Value, json};

use self::state::{State, judged};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::Reading;
use crate::contract::rules::Seen;
use crate::contract::terms::ToolTerms;
use crate::delivery::redaction::KnownSecrets;
use crate::judgment::ending::{Ending, Scene, Voice};
use crate::judgment::how::How;
use crate::judgment::judge::{Judgment, judge_late};
use crate::judgment::verdict::{Outcome, Verdict};
use crate::names::{OperationId, ServerName, ToolName, UnixMillis};
use crate::reading::result::{Asked, read as read_result};
use crate::record::bodies::{self, VerdictFacts};
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};
use crate::recovery::read_back::{moment, structure_of};
use crate::wire::decode::ErrorObject;
use crate::wire::members::Opened;
use crate::wire::reply::{Carried, Reply};
use crate::wire::revision::Revision;

/// From its acceptance on, nothing is followed longer.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The first wait where the server names none; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(2);
/// The longest of these.
const RAREST: Duration = Duration::from_secs(60);
/// However often a server wants to be asked: no oftener.
const OFTENEST: Duration = Duration::from_millis(200);
/// However rarely: no more rarely.
const SELDOMEST: Duration = Duration::from_secs(10 * 60);
/// References that long may have been cut when they were read: nothing can be asked by them.
const WHOLE: usize = 190;
/// "Invalid params": what a server says of a task that it does not know.
const UNKNOWN_TASK: i64 = -32602;

/// How the state of something accepted is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// By `tasks/get`.
    Task,
    /// By a tool that the contract names.
    Tool {
        /// The tool.
        tool: String,
        /// The argument that takes the reference.
        argument: String,
    },
}

/// Accepted work that can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The operation.
    pub operation: OperationId,
    /// The server.
    pub server: ServerName,
    /// The tool that was called.
    pub tool: ToolName,
    /// What the call may change.
    pub class: EffectClass,
    /// How often it was sent.
    pub attempts: u32,
    /// When it was recorded as accepted.
    pub accepted: UnixMillis,
    /// The task id or the ticket.
    pub reference: String,
    /// How its state is asked for.
    pub way: Way,
    /// How often the server wants to be asked.
    pub interval: Option<Duration>,
    /// How long the server keeps it, from its acceptance.
    pub kept: Option<Duration>,
}

/// The columns beside the body of a record.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The operation.
    pub operation: OperationId,
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// When it was made.
    pub at: UnixMillis,
    /// The body.
    pub body: &'a [u8],
}

impl Followed {
    /// What the record of an accepted call leaves to follow; `None` where nothing can be asked for its state. `terms` are
    /// the contract of its tool as it is now.
    pub fn of_record(record: &Recorded<'_>, class: EffectClass, terms: &ToolTerms) -> Option<Self> {
        let body: Value = serde_json::from_slice(record.body).ok()?;
        let verdict = Verdict::from_json(body.get("verdict")?)?;
        if verdict.outcome != Outcome::Accepted {
            return None;
        }
        let reference = verdict
            .reference
            .filter(|text| !text.is_empty() && text.len() < WHOLE)?;
        let state = terms
            .mapping
            .as_ref()
            .and_then(|mapping| mapping.value.reference.as_ref()?.state.as_ref());
        let way = match (body.get("how").and_then(Value::as_str), state) {
            (Some("task"), _) => Way::Task,
            (_, Some(state)) => Way::Tool {
                tool: state.tool.clone(),
                argument: state.argument.clone(),
            },
            _ => return None,
        };
        let reply = body.get("reply");
        let task = reply.map(|reply| reply.get("task").unwrap_or(reply));
        let kept = |task: &Value| millis(task, "ttl").or_else(|| millis(task, "ttlMs"));
        Some(Self {
            operation: record.operation,
            server: ServerName::from(record.server),
            tool: ToolName::from(record.tool),
            class,
            attempts: verdict.attempts,
            accepted: record.at,
            reference,
            interval: task.filter(|_| way == Way::Task).and_then(interval),
            kept: task.filter(|_| way == Way::Task).and_then(kept),
            way,
        })
    }

    /// How long to wait before look number `look` (from 0), at the server's own pace where it named one.
    pub fn wait(&self, look: u32) -> Duration {
        match self.interval {
            Some(asked) => asked.clamp(OFTENEST, SELDOMEST),
            None => FIRST.saturating_mul(1 << look.min(5)).min(RAREST),
        }
    }

    /// The same while its caller waits for the end: soon at first, and each time twice as long.
    pub fn soon(look: u32) -> Duration {
        OFTENEST.saturating_mul(1 << look.min(8))
    }

    /// Is it still to be followed?
    pub fn is_due(&self, now: UnixMillis) -> bool {
        Duration::from_millis(now.since(self.accepted)) < LONGEST
    }

    /// The server's time for it is over, where it named one.
    fn is_past_its_time(&self, now: UnixMillis) -> bool {
        self.kept
            .is_some_and(|kept| Duration::from_millis(now.since(self.accepted)) > kept)
    }

    /// The scene that its end is judged in.
    fn scene(&self, secrets: &KnownSecrets, now: UnixMillis) -> Scene {
        Scene {
            operation: self.operation,
            server: self.server.clone(),
            tool: self.tool.clone(),
            class: self.class,
            claims_read_only: false,
            attempts: self.attempts,
            elapsed: Duration::from_millis(now.since(self.accepted)),
            strict_shape: false,
            recorded: true,
            voice: Voice::Gateway,
            secrets: secrets.clone(),
        }
    }
}

fn interval(task: &Value) -> Option<Duration> {
    millis(task, "pollInterval").or_else(|| millis(task, "pollIntervalMs"))
}

fn millis(task: &Value, member: &str) -> Option<Duration> {
    task.get(member)?.as_u64().map(Duration::from_millis)
}

/// What one look showed.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// It goes on.
    GoesOn {
        /// How often the server wants to be asked from now on, where it says so.
        interval: Option<Duration>,
    },
    /// It has ended.
    Ended {
        /// The entry that says so.
        entry: Box<Entry>,
        /// What a state tool's answer says, where one was asked: for a caller who still waits.
        ending: Option<Box<Ending>>,
    },
    /// The look showed nothing.
    Nothing {
        /// Why not.
        why: String,
    },
}

/// The amendment says what was asked: its reply is not the answer to the call.
fn of_look(body: &str, way: &Way) -> String {
    let asked = match way {
        Way::Task => "tasks/get",
        Way::Tool { tool, .. } => tool,
    };
    match body.strip_prefix('{') {
        Some(rest) => format!("{{\"followedBy\":{},{rest}", Value::from(asked)),
        None => body.to_owned(),
    }
}

/// What is needed to read a look at followed work.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The revision in force.
    pub revision: Revision,
    /// The contract of the tool whose result is read: the followed tool's for a task, the state tool's for a mapped state.
    pub terms: &'a ToolTerms,
    /// Values that are masked.
    pub secrets: &'a KnownSecrets,
    /// Now.
    pub now: UnixMillis,
}

impl Reader<'_> {
    /// Reads the answer to a question about followed work.
    pub fn look(&self, followed: &Followed, reply: &Reply) -> Look {
        match followed.way {
            Way::Task => self.task(followed, reply),
            Way::Tool { .. } => self.mapped(followed, reply),
        }
    }

    fn task(&self, followed: &Followed, reply: &Reply) -> Look {
        let task = match reply.carried() {
            Carried::Result(result) => result,
            Carried::Error(raw) => {
                let code = ErrorObject::read(raw).code;
                if code == Some(UNKNOWN_TASK) || followed.is_past_its_time(self.now) {
                    return self.ended(followed, State::Gone, None, reply);
                }
                let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
                return Look::Nothing {
                    why: format!("tasks/get was answered with an error ({code})"),
                };
            }
            Carried::Both | Carried::Neither => {
                return Look::Nothing {
                    why: "tasks/get was answered with neither or both of result and error".to_owned(),
                };
            }
        };
        let facts: Value = serde_json::from_str(task.raw()).unwrap_or_default();
        // Another task's state would settle the wrong operation.
        let own = facts.get("taskId").and_then(Value::as_str) == Some(followed.reference.as_str());
        let state = match facts.get("status").and_then(Value::as_str) {
            Some("working" | "input_required") if own => State::Working,
            Some(status) if own && State::parse(status).is_some_and(|state| state != State::Gone) => {
                State::parse(status).unwrap_or(State::Working)
            }
            _ => {
                return Look::Nothing {
                    why: "tasks/get was answered without a status of this task".to_owned(),
                };
            }
        };
        let words = facts.get("statusMessage").and_then(Value::as_str);
        match state {
            State::Working => Look::GoesOn {
                interval: interval(&facts),
            },
            State::Completed => match task
                .member("result")
                .and_then(|raw| self.of_result(followed, raw))
            {
                Some(judgment) => self.entry(followed, &judgment, reply),
                None => self.ended(followed, state, words, reply),
            },
            _ => self.ended(followed, state, words, reply),
        }
    }

    /// What the result inside a completed task says, where it says more than that it was delivered.
    fn of_result(&self, followed: &Followed, raw: &str) -> Option<Judgment> {
        let opened = Opened::whole(raw);
        let mut reading = read_result(&opened, &self.asked());
        let structure = structure_of(&opened);
        // What was asked is not at hand here: a clause that needs it does not hold.
        let seen = structure.as_ref().map(|(result, text)| Seen {
            args: &Value::Null,
            result,
            answer: &Value::Null,
            text,
            now: moment(self.now),
        });
        reading.lower(&self.terms.lower, seen.as_ref());
        let judgment = judge_late(
            &followed.scene(self.secrets, self.now),
            &Ending::Replied(Box::new(reading)),
        );
        (judgment.verdict.outcome != Outcome::Reported).then(|| with_reference(judgment, followed))
    }

    fn mapped(&self, followed: &Followed, reply: &Reply) -> Look {
        let Carried::Result(result) = reply.carried() else {
            return Look::Nothing {
                why: "the tool that shows its state answered with an error".to_owned(),
            };
        };
        let mut reading = read_result(&result, &self.asked());
        let meaning = reading.mapped.as_ref().map(|mapped| mapped.reading);
        match (reading.how, meaning) {
            (How::Ok | How::OkBadShape | How::OkNoStructure, Some(Reading::Accepted)) => {
                Look::GoesOn { interval: None }
            }
            (
                How::Ok | How::OkBadShape | How::OkNoStructure,
                Some(Reading::Completed | Reading::Rejected | Reading::Failed | Reading::Partial),
            ) => {
                let scene = followed.scene(self.secrets, self.now);
                reading.take_words(&result);
                let ending = Ending::Replied(Box::new(reading));
                let judgment = judge_late(&scene, &ending);
                match self.entry(followed, &with_reference(judgment, followed), reply) {
                    Look::Ended { entry, .. } => Look::Ended {
                        entry,
                        ending: Some(Box::new(ending)),
                    },
                    other => other,
                }
            }
            (_, None) => Look::Nothing {
                why: "the tool that shows its state has no outcome mapping, so its answer can't be read"
                    .to_owned(),
            },
            _ => Look::Nothing {
                why: "the tool that shows its state gave an answer that its contract does not know"
                    .to_owned(),
            },
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            revision: self.revision,
            as_task: false,
            promises_structure: false,
            output: None,
            mapping: self.terms.mapping.as_ref().map(|mapping| &mapping.value),
            text: &self.terms.text,
            believed: None,
        }
    }

    fn ended(&self, followed: &Followed, state: State, words: Option<&str>, reply: &Reply) -> Look {
        let judgment = judged(&followed.scene(self.secrets, self.now), followed, state, words);
        self.entry(followed, &judgment, reply)
    }

    fn entry(&self, followed: &Followed, judgment: &Judgment, reply: &Reply) -> Look {
        let scene = followed.scene(self.secrets, self.now);
        let facts = VerdictFacts {
            reply: reply.said(),
            ..VerdictFacts::default()
        };
        let entry = Box::new(Entry {
            operation: followed.operation,
            phase: Phase::Amendment,
            at: self.now,
            server: followed.server.clone(),
            tool: bodies::tool(&scene),
            concluded: Some(Concluded::of(&judgment.verdict)),
            body: of_look(
                &bodies::verdict(&scene, self.now, judgment, &facts),
                &followed.way,
            ),
        });
        Look::Ended { entry, ending: None }
    }
}

fn with_reference(mut judgment: Judgment, followed: &Followed) -> Judgment {
    judgment
        .verdict
        .reference
        .get_or_insert_with(|| followed.reference.clone());
    judgment
}

/// The parameters that ask for the state of followed work. A tool's argument is a text unless `as_number` holds and it is
/// the text of a whole number.
pub fn parameters(followed: &Followed, as_number: bool) -> Value {
    match &followed.way {
        Way::Task => json!({ "taskId": followed.reference }),
        Way::Tool { argument, .. } => {
            let number = followed.reference.parse::<i64>().ok();
            let number = number.filter(|number| as_number && number.to_string() == followed.reference);
            let value = number.map_or_else(|| json!(followed.reference), |number| json!(number));
            Value::Object(std::iter::once((argument.clone(), value)).collect())
        }
    }
}

#[cfg(test)]
mod tests;
