//! Reading a tool result by the request that asked for it: which ending it is, and what a contract makes of it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::believed;
use super::members::Members;
use super::sign::{self, Sign};
use crate::arguments::issue::Issue;
use crate::contract::effect::{EffectClass, Sourced};
use crate::contract::lower::{self, Found, LowerClause};
use crate::contract::mapping::{Document, MappedReading, Mapping, Reading, Reference};
use crate::contract::rules::Seen;
use crate::contract::schema::Schema;
use crate::contract::text::{self, LoweredReading, TextClause};
use crate::judgment::finding::{Finding, FindingCode};
use crate::judgment::how::How;
use crate::wire::envelope::text_of;
use crate::wire::members::{Opened, is_ambiguous, object};
use crate::wire::revision::{Era, Revision};

/// Structure above this size is not parsed: a mapping reads nothing from it.
const PARSED_BYTES: usize = 16 * 1024 * 1024;
/// Structure above this size is not checked against its schema on the way through.
const CHECKED_BYTES: usize = 4 * 1024 * 1024;
/// Issues of an output that are kept for a finding.
const KEPT_ISSUES: usize = 8;
/// How much of a server's own text is kept for a message.
const KEPT_TEXT: usize = 600;

/// What was asked, as far as the answer must be read by it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The revision in force.
    pub revision: Revision,
    /// Did the request ask for a task (`params.task`, 2025-11-25)?
    pub as_task: bool,
    /// Does the tool declare an `outputSchema`?
    pub promises_structure: bool,
    /// The compiled `outputSchema`, where it is usable.
    pub output: Option<&'a Schema>,
    /// The contract's mapping.
    pub mapping: Option<&'a Mapping>,
    /// The contract's clauses about texts.
    pub text: &'a [Sourced<TextClause>],
    /// The tool's class, where a verdict that the server puts under Candor's key is believed.
    pub believed: Option<EffectClass>,
}

/// What a result says in structured facts.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultReading {
    /// Which ending it is.
    pub how: How,
    /// What the contract's mapping read.
    pub mapped: Option<MappedReading>,
    /// What a clause about its text made of it, where no field was read.
    pub lowered: Option<LoweredReading>,
    /// A member that would mean failure if a contract read it.
    pub sign: Option<Sign>,
    /// What is wrong with the structure, the first few.
    pub shape: Vec<Issue>,
    /// How much is wrong with it in all.
    pub shape_total: usize,
    /// Clauses found broken or unverifiable on the way.
    pub findings: Vec<Finding>,
    /// The server's first text, cut: its own words, for quoting.
    pub first_text: Option<String>,
    /// A task to follow.
    pub reference: Option<Reference>,
    /// The structured `count` is 0.
    pub count_is_zero: bool,
    /// Why it is no result, or of no known type.
    pub why: Option<String>,
    /// What was read is the server's own verdict, which is trusted.
    pub believed: bool,
}

impl ResultReading {
    fn of(how: How) -> Self {
        Self {
            how,
            mapped: None,
            lowered: None,
            sign: None,
            shape: Vec::new(),
            shape_total: 0,
            findings: Vec::new(),
            first_text: None,
            reference: None,
            count_is_zero: false,
            why: None,
            believed: false,
        }
    }

    /// Lowers it where one of the contract's expressions holds of a result that is not flagged. A field that a mapping
    /// read, a verdict that is believed and a clause about texts stand over them.
    /// Without `seen` there is too much of it to be looked into, which is a finding.
    pub fn lower(&mut self, clauses: &[Sourced<LowerClause>], seen: Option<&Seen<'_>>) {
        let unflagged = matches!(self.how, How::Ok | How::OkBadShape | How::OkNoStructure);
        if !unflagged || self.mapped.is_some() || self.lowered.is_some() || clauses.is_empty() {
            return;
        }
        match seen.map_or(Found::TooMuch, |seen| lower::read(clauses, seen)) {
            Found::Nothing => {}
            Found::TooMuch => self.findings.push(Finding::new(
                FindingCode::NotChecked,
                "the result is too large for the contract's expressions over it (lower)",
            )),
            Found::Holds(lowered) => {
                self.lowered = Some(lowered);
                self.sign = None;
                let text = seen.map_or("", |seen| seen.text);
                if self.first_text.is_none() && !text.trim().is_empty() {
                    self.first_text = Some(text.chars().take(KEPT_TEXT).collect());
                }
            }
        }
    }

    /// The first words of the result it was read from, where it has none yet: for who quotes a success too.
    pub fn take_words(&mut self, result: &Opened<'_>) {
        let texts = Members::of(result).map(|members| members.texts());
        let words = texts.iter().flatten().find(|text| !text.trim().is_empty());
        if self.first_text.is_none() {
            self.first_text = words.map(|text| text.chars().take(KEPT_TEXT).collect());
        }
    }

    /// What came in the place of a result, and why it is none.
    pub fn no_result(why: impl Into<String>) -> Self {
        Self {
            why: Some(why.into()),
            ..Self::of(How::NotAResult)
        }
    }
}

/// Reads a result. Total: whatever came is one of the endings.
pub fn read(result: &Opened<'_>, asked: &Asked<'_>) -> ResultReading {
    let Some(members) = Members::of(result) else {
        return ResultReading::no_result(if result.is_object() {
            "it names a member twice"
        } else {
            "it is not an object"
        });
    };
    match kind(&members, asked) {
        ResultKind::Complete => read_complete(&members, asked),
        ResultKind::Task(id) => ResultReading {
            reference: id.map(|value| Reference {
                value,
                noun: Some("task".to_owned()),
                state: None,
            }),
            ..ResultReading::of(How::Task)
        },
        ResultKind::InputRequired => ResultReading::of(How::InputRequired),
        ResultKind::Odd(name) => ResultReading {
            why: Some(format!("its resultType is {name}")),
            ..ResultReading::of(How::OddType)
        },
    }
}

enum ResultKind {
    Complete,
    Task(Option<String>),
    InputRequired,
    Odd(String),
}

/// `resultType` decides in the modern era; an absent one means complete. In the legacy era it is no member of the
/// protocol, but the two words that mean "not finished" must not pass for a finished call.
fn kind(members: &Members<'_>, asked: &Asked<'_>) -> ResultKind {
    let named = members
        .result_type
        .map(|raw| text_of(raw).unwrap_or_else(|_| raw.into()));
    match (asked.revision.era(), named.as_deref()) {
        (Era::Modern, Some("input_required")) => ResultKind::InputRequired,
        (Era::Modern, Some("task")) => ResultKind::Task(members.task_id.and_then(short_text)),
        (Era::Modern, None | Some("complete")) => ResultKind::Complete,
        // Without content it is no result of that era at all, and read as such.
        (Era::Legacy, Some(name @ ("input_required" | "task"))) if members.content.is_some() => {
            ResultKind::Odd(format!("{name:?}"))
        }
        (Era::Modern, Some(name)) => ResultKind::Odd(format!("{name:?}")),
        (Era::Legacy, _) => match members.task {
            Some(task) if asked.as_task => ResultKind::Task(task_id(task)),
            _ => ResultKind::Complete,
        },
    }
}

fn task_id(task: &str) -> Option<String> {
    let task: Value = serde_json::from_str(task).ok()?;
    Some(task.get("taskId")?.as_str()?.chars().take(200).collect())
}

fn short_text(raw: &str) -> Option<String> {
    Some(text_of(raw).ok()?.chars().take(200).collect())
}

fn read_complete(members: &Members<'_>, asked: &Asked<'_>) -> ResultReading {
    let flagged = match members.is_error {
        None | Some("false" | "null") => false,
        Some("true") => true,
        Some(_) => return ResultReading::no_result("its isError is not a boolean"),
    };
    let structured = structure(members, asked.revision);
    let content_is_list = members.content.is_some_and(|raw| raw.starts_with('['));
    if !content_is_list && structured.is_none() {
        return ResultReading::no_result(match members.content {
            None => "it has neither content nor structuredContent",
            Some(_) => "its content is not a list",
        });
    }
    // Its own words are for quoting a failure; a mapping may read them as a document.
    let reads_text = asked
        .mapping
        .is_some_and(|mapping| mapping.document == Document::Text);
    let may_lower = !flagged && asked.mapping.is_none() && !asked.text.is_empty();
    let texts = if flagged || reads_text || may_lower {
        members.texts()
    } else {
        Vec::new()
    };
    // Only what is looked into is parsed: a large structure that nobody checks costs one scan.
    let looked_into =
        asked.mapping.is_some() || (!flagged && asked.promises_structure && asked.output.is_some());
    let parsed = structured
        .filter(|raw| looked_into && raw.len() <= PARSED_BYTES)
        .map(serde_json::from_str::<Value>);
    let value = parsed.as_ref().and_then(|parsed| parsed.as_ref().ok());
    let text_refs: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let own = asked
        .believed
        .and_then(|class| believed::read(members.meta?, class, flagged));
    let believed = own.is_some();
    let mapped = own.or_else(|| {
        let mapping = asked.mapping?;
        read_mapping(mapping, structured, value, &text_refs, flagged)
    });
    // A declared field stands over a text, whatever it says; a verdict that is believed does too.
    let lowered = (may_lower && mapped.is_none())
        .then(|| text::read(asked.text, &text_refs))
        .flatten();
    let unread = !flagged && asked.mapping.is_none() && mapped.is_none() && lowered.is_none();
    let sign = unread.then(|| sign::look(members, structured)).flatten();
    let first_text = match &lowered {
        Some(lowered) => texts.get(lowered.block),
        None => texts.iter().find(|text| !text.trim().is_empty()),
    };
    let mut reading = ResultReading {
        believed,
        mapped,
        lowered,
        sign,
        first_text: first_text.map(|text| text.chars().take(KEPT_TEXT).collect()),
        count_is_zero: structured.is_some_and(counts_zero),
        ..ResultReading::of(if flagged { How::Flagged } else { How::Ok })
    };
    // Error results are exempt from the schema: it describes successes (MCP 2025-11-25, server/tools).
    if !flagged {
        check_shape(&mut reading, asked, structured, value);
    }
    reading
}

/// What the contract's mapping reads. A document that names a member twice says two things at once: it is read as a
/// value that no contract knows.
fn read_mapping(
    mapping: &Mapping,
    raw: Option<&str>,
    structured: Option<&Value>,
    texts: &[&str],
    flagged: bool,
) -> Option<MappedReading> {
    let ambiguous = match mapping.document {
        Document::Structured => raw
            .zip(structured)
            .is_some_and(|(raw, value)| is_ambiguous(raw, value)),
        Document::Text => texts
            .iter()
            .filter(|text| text.trim_start().starts_with('{'))
            .any(|text| serde_json::from_str(text).is_ok_and(|value| is_ambiguous(text, &value))),
    };
    if ambiguous {
        return Some(MappedReading {
            reading: Reading::Unlisted,
            value: Some("a member named twice".to_owned()),
            code: None,
            message: None,
            reference: None,
            suggestion: None,
            retry_after: None,
            parts: Vec::new(),
        });
    }
    let mut read = mapping.read(structured, texts)?;
    // The server flagged it, and its code says that nothing was done: no other field has to say so too.
    if flagged
        && matches!(read.reading, Reading::Missing | Reading::Unlisted)
        && mapping.says_nothing_done(read.code.as_deref())
    {
        read.reading = Reading::FailedUnapplied;
    }
    Some(read)
}

fn check_shape(reading: &mut ResultReading, asked: &Asked<'_>, raw: Option<&str>, value: Option<&Value>) {
    let (Some(schema), true) = (asked.output, asked.promises_structure) else {
        if asked.promises_structure && raw.is_none() {
            reading.how = How::OkNoStructure;
        }
        return;
    };
    let not_checked = |why: &str| Finding::new(FindingCode::NotChecked, format!("structuredContent: {why}"));
    match (raw, value) {
        (None, _) => reading.how = How::OkNoStructure,
        (Some(raw), _) if raw.len() > CHECKED_BYTES => {
            reading.findings.push(not_checked("over 4 MiB"));
        }
        (Some(_), None) => reading
            .findings
            .push(not_checked("it holds a value that JSON text can't carry exactly")),
        (Some(_), Some(value)) => {
            let validation = schema.violations(value, KEPT_ISSUES);
            if validation.total > 0 {
                reading.how = How::OkBadShape;
                reading.shape = validation.issues;
                reading.shape_total = validation.total;
            }
            reading.findings.extend(
                validation
                    .not_checked
                    .iter()
                    .map(|part| not_checked(&format!("{}: {}", part.path, part.why))),
            );
        }
    }
}

/// `structuredContent`, where the revision has it. A null is a value in 2026-07-28 and nothing before.
fn structure<'a>(members: &Members<'a>, revision: Revision) -> Option<&'a str> {
    members
        .structured
        .filter(|raw| *raw != "null" || revision.era() == Era::Modern)
}

fn counts_zero(structured: &str) -> bool {
    // Most structures have no such member, and some are large: those are not read for it.
    if !structured.contains("\"count\"") {
        return false;
    }
    #[derive(Deserialize)]
    struct Counted<'a> {
        #[serde(borrow)]
        count: Option<&'a RawValue>,
    }
    object::<Counted<'_>>(structured)
        .is_some_and(|counted| counted.count.is_some_and(|count| count.get() == "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_complete_only_by_its_type_or_without_one() {
        let asked = Asked {
            revision: Revision::V2026_07_28,
            as_task: false,
            promises_structure: false,
            output: None,
            mapping: None,
            text: &[],
            believed: None,
        };
        for (result, how) in [
            (
                r#"{"resultType":"input_required","requestState":"s"}"#,
                How::InputRequired,
            ),
            (
                r#"{"resultType":"input_required","inputRequests":{}}"#,
                How::InputRequired,
            ),
            (
                r#"{"resultType":"input_required","content":[]}"#,
                How::InputRequired,
            ),
            (r#"{"resultType":"partial","content":[]}"#, How::OddType),
            (r#"{"resultType":7,"content":[]}"#, How::OddType),
            (r#"{"resultType":"complete","content":[]}"#, How::Ok),
            (r#"{"content":[]}"#, How::Ok),
        ] {
            assert_eq!(read(&Opened::whole(result), &asked).how, how, "{result}");
        }
    }
}
