//! What Candor concludes about one call, as a value.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use uuid::Uuid;

use super::how::words;
use crate::arguments::issue::Issue;
use crate::names::OperationId;

words! {
    /// Did a well-formed response to this request arrive?
    Protocol {
        /// A well-formed result arrived.
        Delivered = "delivered",
        /// A JSON-RPC error answered it.
        Error = "error",
        /// Sent; nothing usable came back.
        NoResponse = "no_response",
        /// Never sent.
        NotSent = "not_sent",
    }
}

words! {
    /// Was the business action done?
    Outcome {
        /// The server reported no error; nobody looked.
        Reported = "reported",
        /// Known done.
        Completed = "completed",
        /// Taken on, not done.
        Accepted = "accepted",
        /// The server needs more before it goes on.
        InputRequired = "input_required",
        /// Refused as asked.
        Rejected = "rejected",
        /// Tried and failed.
        Failed = "failed",
        /// Done in part.
        Partial = "partial",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// What changed in the world.
    Effect {
        /// Nothing.
        NotApplied = "not_applied",
        /// What was asked for.
        Applied = "applied",
        /// A part of it.
        Partial = "partial",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// How outcome and effect are known.
    Evidence {
        /// Nothing left Candor.
        NotSent = "not_sent",
        /// Nothing was heard.
        None = "none",
        /// The server merely flagged, or did not flag, an error.
        Asserted = "asserted",
        /// A structured field or code that a contract or the protocol defines.
        Declared = "declared",
        /// Candor looked.
        ReadBack = "read_back",
        /// A person settled it.
        Operator = "operator",
    }
}

words! {
    /// Whose fault, and of what sort.
    Kind {
        /// The arguments.
        InvalidInput = "invalid_input",
        /// Not allowed.
        PermissionDenied = "permission_denied",
        /// The tool's own rules.
        BusinessRule = "business_rule",
        /// Something the tool needs is not there.
        DependencyUnavailable = "dependency_unavailable",
        /// Too many calls.
        RateLimited = "rate_limited",
        /// The answer was lost.
        OutcomeUnknown = "outcome_unknown",
        /// The server broke its own contract.
        ContractBroken = "contract_broken",
        /// The caller gave up.
        Cancelled = "cancelled",
        /// A fault inside.
        Internal = "internal",
        /// A server's own flag without more.
        Unclassified = "unclassified",
    }
}

words! {
    /// What a repeat of the same request would mean.
    Repeat {
        /// It gets the same answer.
        SameAnswer = "same_answer",
        /// It is harmless and may succeed.
        MayHelp = "may_help",
        /// It may do the thing twice.
        MayDuplicate = "may_duplicate",
    }
}

/// What went wrong, where the outcome is `rejected`, `failed`, `partial` or `unknown`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// A stable code: a tool's own where a contract names it, else Candor's (`CANDOR_…`).
    pub code: String,
    /// Of what sort.
    pub kind: Kind,
    /// One sentence.
    pub message: String,
    /// May the very same request be sent again without harm, and with hope?
    pub retry_same_request: bool,
    /// What a repeat would mean.
    pub repeat: Repeat,
    /// Seconds to wait before a repeat, where somebody said so.
    pub retry_after: Option<u64>,
    /// What is wrong with the arguments, for bad input.
    pub issues: Vec<Issue>,
}

/// One item of a batch, or one step of a compound, judged by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What the server calls it.
    pub name: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// What it changed.
    pub effect: Effect,
    /// A stable code, where something went wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// What Candor concludes about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The operation it is about.
    pub operation: OperationId,
    /// The protocol's layer.
    pub protocol: Protocol,
    /// The tool's layer: was it done?
    pub outcome: Outcome,
    /// The tool's layer: what did it change?
    pub effect: Effect,
    /// How the last two are known.
    pub evidence: Evidence,
    /// What went wrong, if something did.
    pub error: Option<Failure>,
    /// Something to follow: a task id, a ticket, a URL.
    pub reference: Option<String>,
    /// Items or steps, each with its own outcome and effect.
    pub parts: Vec<Part>,
    /// How often the request was really sent.
    pub attempts: u32,
    /// What could be done next, described, never ordered.
    pub suggested_next_step: Option<String>,
}

impl Verdict {
    /// The verdict as it stands in `_meta["candor/verdict"]` and in the ledger (DESIGN section 3b). On a success
    /// (no error) null and empty members are left out.
    pub fn to_json(&self, recorded: bool) -> Value {
        // Names that are texts, and values that JSON has: nothing in it can fail to be written.
        let recorded = if recorded { OnDisk::Yes } else { OnDisk::No };
        serde_json::to_value(self.told(recorded)).unwrap_or_default()
    }

    /// The verdict as it is told.
    pub(crate) fn told(&self, recorded: OnDisk) -> Told<'_> {
        Told {
            verdict: self,
            recorded,
        }
    }

    /// Does it consist of fixed words and numbers, so that no secret can stand in it?
    pub(crate) fn has_no_text(&self) -> bool {
        self.error.is_none()
            && self.suggested_next_step.is_none()
            && self.reference.is_none()
            && self.parts.is_empty()
    }

    /// Reads what [`Verdict::to_json`] writes: the value of `_meta["candor/verdict"]`. `None` where a member that a verdict
    /// can't be without is missing, or one is of another type or a word that the design does not know. Unknown members
    /// are left out; what is coherent about it is for the reader to judge.
    pub fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            operation: OperationId::new(Uuid::parse_str(text(value, "operationId")?).ok()?),
            protocol: Protocol::parse(text(value, "protocol")?)?,
            outcome: Outcome::parse(text(value, "outcome")?)?,
            effect: Effect::parse(text(value, "effect")?)?,
            evidence: Evidence::parse(text(value, "evidence")?)?,
            error: optional(value, "error", Failure::from_json)?,
            reference: optional(value, "reference", owned)?,
            parts: list(value, "parts", Part::from_json)?,
            attempts: value.get("attempts")?.as_u64()?.try_into().ok()?,
            suggested_next_step: optional(value, "suggestedNextStep", owned)?,
        })
    }

    /// Does somebody still have to find out what happened? True where the effect of something that was sent is open
    /// and a better answer can exist. A server's bare flag (`asserted`) leaves the effect unknown by nature: listing
    /// every flagged error as open would bury the calls that really are.
    pub fn is_unsettled(&self) -> bool {
        match self.outcome {
            Outcome::Unknown | Outcome::Accepted => self.effect != Effect::NotApplied,
            Outcome::Failed | Outcome::Rejected => {
                self.effect == Effect::Unknown && self.evidence != Evidence::Asserted
            }
            Outcome::Reported | Outcome::Completed | Outcome::Partial | Outcome::InputRequired => false,
        }
    }
}

/// See [`Verdict::told`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'v> {
    verdict: &'v Verdict,
    recorded: OnDisk,
}

/// Is the verdict on disk?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It is on its way: nothing is claimed of it.
    NotYet,
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { verdict, recorded } = self;
        let whole = verdict.error.is_some();
        let mut out = to.serialize_map(None)?;
        out.serialize_entry("outcome", &verdict.outcome)?;
        if let Some(error) = &verdict.error {
            out.serialize_entry("error", error)?;
        }
        out.serialize_entry("effect", &verdict.effect)?;
        out.serialize_entry("operationId", &verdict.operation)?;
        if whole || verdict.suggested_next_step.is_some() {
            out.serialize_entry("suggestedNextStep", &verdict.suggested_next_step)?;
        }
        out.serialize_entry("protocol", &verdict.protocol)?;
        out.serialize_entry("evidence", &verdict.evidence)?;
        out.serialize_entry("attempts", &verdict.attempts)?;
        match recorded {
            OnDisk::Yes | OnDisk::No => out.serialize_entry("recorded", &(*recorded == OnDisk::Yes))?,
            OnDisk::NotYet if whole => out.serialize_entry("recorded", &())?,
            OnDisk::NotYet => {}
        }
        if whole || verdict.reference.is_some() {
            out.serialize_entry("reference", &verdict.reference)?;
        }
        if whole || !verdict.parts.is_empty() {
            out.serialize_entry("parts", &verdict.parts)?;
        }
        out.end()
    }
}

impl Failure {
    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            code: text(value, "code")?.to_owned(),
            kind: Kind::parse(text(value, "kind")?)?,
            message: text(value, "message")?.to_owned(),
            retry_same_request: value.get("retrySameRequest")?.as_bool()?,
            repeat: Repeat::parse(text(value, "repeat")?)?,
            retry_after: optional(value, "retryAfter", Value::as_u64)?,
            issues: list(value, "issues", |issue| Issue::deserialize(issue).ok())?,
        })
    }
}

impl Part {
    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            name: text(value, "name")?.to_owned(),
            outcome: Outcome::parse(text(value, "outcome")?)?,
            effect: Effect::parse(text(value, "effect")?)?,
            code: optional(value, "code", owned)?,
        })
    }
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

fn owned(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A member that may be absent or null: `Some(None)` where it is, `None` where it is there and can't be read.
fn optional<T>(value: &Value, member: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    match value.get(member) {
        None | Some(Value::Null) => Some(None),
        Some(there) => read(there).map(Some),
    }
}

/// A list that may be absent or null; one item that can't be read spoils it.
fn list<T>(value: &Value, member: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let items = optional(value, member, |list| {
        list.as_array()?.iter().map(&read).collect::<Option<Vec<T>>>()
    })?;
    Some(items.unwrap_or_default())
}

#[cfg(test)]
mod tests;
