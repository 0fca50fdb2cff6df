//! What happened, in one sentence: the verdict's message, and the line that follows the opening words.

pub(crate) mod looked;
pub(crate) mod told;

use std::time::Duration;

use super::ending::{Ending, Scene, Voice};
use super::finding::FindingCode;
use super::how::How;
use super::judge::reference;
use super::ruling::{Opening, Ruling};
use super::verdict::Outcome;
use crate::arguments::check::lines;
use crate::asking::confirmation::{Answer, Obstacle};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::{Document, MappedReading, Reading};
use crate::contract::recovery::Lowered;
use crate::contract::text::{Clause, LoweredReading};
use crate::delivery::quote::{name, quote, reference as reference_in};
use crate::delivery::redaction::{KnownSecrets, escape_invisible, least};
use crate::reading::result::ResultReading;
use crate::reading::sign::Sign;

/// How much of a broken shape a sentence names, in bytes.
const SHAPE_BYTES: usize = 400;

/// What happened to this call, as one sentence without the opening words.
pub fn what_happened(scene: &Scene, ending: &Ending, ruling: &Ruling) -> String {
    let secrets = &scene.secrets;
    let tool = called(scene.tool.as_str(), secrets);
    let server = format!("server \"{}\"", name(scene.server.as_str(), secrets));
    let to = format!("\"{}\"", name(scene.server.as_str(), secrets));
    match ending {
        Ending::Malformed { why, .. } => {
            let instead = match scene.voice {
                Voice::Gateway => "It was not sent.",
                Voice::Library => "No tool ran.",
            };
            format!("This tools/call is malformed: {why}. {instead}")
        }
        Ending::UnknownTool { nearest } => {
            let (who, instead) = match scene.voice {
                Voice::Gateway => (server.as_str(), "The call was not sent."),
                Voice::Library => ("this server", "Nothing ran."),
            };
            unknown_tool(scene.tool.as_str(), (who, instead), nearest, secrets)
        }
        Ending::BadInput { issues, .. } if issues.iter().any(|issue| issue.rule == "idempotency_key") => {
            format!("{tool} was not sent to {server}; its idempotency key can't be used.")
        }
        Ending::BadInput { total, by_rule, .. } if scene.voice == Voice::Library => {
            told::bad_input(&tool, *total, *by_rule)
        }
        Ending::BadInput { total, by_rule, .. } => {
            let arguments = if *total == 1 {
                "1 argument"
            } else {
                &format!("{total} arguments")
            };
            let (breaks, rules) = match (*total, by_rule) {
                (1, false) => ("breaks", "the tool's schema"),
                (1, true) => ("breaks", "a rule of this tool's contract"),
                (_, false) => ("break", "the tool's schema"),
                (_, true) => ("break", "the tool's schema or a rule of its contract"),
            };
            format!("{tool} was not sent to {server}; Candor found {arguments} that {breaks} {rules}.")
        }
        Ending::Unconfirmed { answer, waited } => {
            format!(
                "{tool} was not sent to {server}: it needs a person's consent, and {}.",
                unconfirmed(*answer, *waited)
            )
        }
        Ending::Unrecorded { why } => {
            format!("{tool} was not sent: the record of calls can't be written ({why}).")
        }
        Ending::ConnectFailed { why, .. } => {
            let why = least(why, secrets).value;
            format!("{tool} was not sent: {server} {}.", escape_invisible(&why))
        }
        Ending::KeyConflict { first } => format!(
            "{tool} was not sent to {server}: its idempotency key was used before with other arguments (call {}).",
            first.short()
        ),
        Ending::KeyUnknown { running: true } => format!(
            "{tool} was called before with this idempotency key (call {}), and that call has no answer yet. It was not sent \
             again.",
            scene.operation.short()
        ),
        Ending::KeyUnknown { running: false } => format!(
            "{tool} was called before with this idempotency key (call {}), and what came of that call is not known. It was \
             not sent again.",
            scene.operation.short()
        ),
        Ending::Resting { seconds, failures } => format!(
            "{tool} was not sent: {server} failed {} in a row and is left alone for {seconds} s more.",
            times(*failures)
        ),
        Ending::CancelledUnsent => {
            format!("{tool} was cancelled by the caller before it was sent to {server}.")
        }
        Ending::CancelledSent => {
            format!(
                "{tool} was sent {} to {to}; the caller gave up before an answer came.",
                times(scene.attempts)
            )
        }
        Ending::Crashed => {
            format!("{tool} may have been sent to {to}; Candor ended before it could record an answer.")
        }
        Ending::Timeout => format!(
            "{tool} was sent {} to {to}; no answer came in {}.",
            times(scene.attempts),
            seconds(scene.elapsed)
        ),
        Ending::Closed { exit, .. } => format!(
            "{server} ended ({}) {} after {tool} was sent, without answering.",
            name(exit, secrets),
            seconds(scene.elapsed)
        ),
        Ending::Oversized { length, limit } => format!(
            "{server} answered {tool} with {length} bytes; the limit for one message is {limit}, and the answer was dropped."
        ),
        Ending::Both { present: true } => {
            format!(
                "{server} answered {tool} with a result and an error at once; which one holds can't be known."
            )
        }
        Ending::Both { present: false } => {
            format!("{server} answered {tool} with neither a result nor an error.")
        }
        Ending::Refused {
            code, message, data, ..
        } => {
            let words = message.as_deref().filter(|text| !text.trim().is_empty());
            let words = words.map_or_else(
                || ", without a message".to_owned(),
                |text| format!(", in its words: {}", quote(text, secrets)),
            );
            let data = data.as_deref().map_or_else(String::new, |data| {
                format!(" (more in its data: {})", quote(data, secrets))
            });
            let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
            if ending.how() == How::EParams {
                format!("{server} refused the arguments of {tool} ({code}){words}{data}.")
            } else {
                format!("{server} answered {tool} with an error ({code}){words}{data}.")
            }
        }
        Ending::Replied(reply) => replied(&tool, &server, reply, ruling, secrets),
        Ending::Told(own) => told::what_happened(scene, &tool, own, ruling),
        Ending::Panicked { correlation } => told::panicked(&tool, correlation, secrets),
    }
}

/// The message of a verdict: a tool's own words where it has some, else what happened.
pub fn message(scene: &Scene, ending: &Ending, ruling: &Ruling) -> String {
    let own = match ending {
        Ending::Told(own) if ruling.finding.is_none() => told::message(own, &scene.secrets),
        _ => None,
    };
    own.unwrap_or_else(|| what_happened(scene, ending, ruling))
}

/// Which of the ends it was, as the rest of a sentence.
fn unconfirmed(answer: Answer, waited: Duration) -> String {
    let why = match answer {
        // No ending of a call that was agreed to; said without a claim.
        Answer::Accepted => "the consent did not count",
        Answer::Declined => "the user declined",
        Answer::Cancelled => "the user closed the question without an answer",
        Answer::Expired => return format!("the user did not answer within {}", seconds(waited)),
        Answer::Blocked(obstacle) => match obstacle {
            Obstacle::NoForms => {
                "nobody could be asked: this host does not say that it can show its user a form"
            }
            Obstacle::Refused { code: Some(code) } => {
                return format!("nobody could be asked: the host refused the question ({code})");
            }
            Obstacle::Refused { code: None } => "nobody could be asked: the host refused the question",
            Obstacle::Misfit => "what came back is no answer to the question",
            Obstacle::TooMany => "nobody could be asked: too many questions are open already",
            Obstacle::Unable => "nobody could be asked: the question could not be put to the host",
        },
    };
    why.to_owned()
}

fn unknown_tool(
    tool: &str,
    (who, instead): (&str, &str),
    nearest: &[String],
    secrets: &KnownSecrets,
) -> String {
    let nearest: Vec<String> = nearest.iter().map(|near| name(near, secrets)).collect();
    let hint = match nearest.as_slice() {
        [] => String::new(),
        [only] => format!(" Did you mean {only}?"),
        several => format!(" The nearest names are {}.", several.join(", ")),
    };
    let which = match nameless(tool) {
        Some(words) => words.to_owned(),
        None => quote(&name(tool, secrets), secrets),
    };
    format!("Unknown tool: {who} lists no tool {which}. {instead}{hint}")
}

/// A tool inside a sentence. One whose name shows nothing is said to be such, or the sentence would have a hole.
fn called(tool: &str, secrets: &KnownSecrets) -> String {
    match nameless(tool) {
        Some(words) => format!("a tool {words}"),
        None => name(tool, secrets),
    }
}

/// What to say of a name that shows nothing; `None` for any other.
pub(crate) fn nameless(tool: &str) -> Option<&'static str> {
    match (tool, tool.trim()) {
        ("", _) => Some("with an empty name"),
        (_, "") => Some("with a blank name"),
        _ => None,
    }
}

fn replied(
    tool: &str,
    server: &str,
    reply: &ResultReading,
    ruling: &Ruling,
    secrets: &KnownSecrets,
) -> String {
    if let Some(why) = &reply.why {
        return format!(
            "{server} answered {tool} with something that is no finished tool result: {}.",
            name(why, secrets)
        );
    }
    let lost_by_shape =
        ruling.finding == Some(FindingCode::OutputShape) && ruling.outcome == Outcome::Unknown;
    if let (Some(lowered), false) = (&reply.lowered, lost_by_shape) {
        return by_text(tool, server, lowered, reply, secrets);
    }
    match (&reply.mapped, ruling.outcome) {
        _ if lost_by_shape => {
            format!(
                "{server} answered {tool}, but not in the shape it promises: {}",
                shape(reply)
            )
        }
        (Some(mapped), _) if mapped.reading != Reading::Missing || reply.how != How::Flagged => {
            by_mapping(tool, server, mapped, reply, ruling, secrets)
        }
        _ => match &reply.first_text {
            Some(text) => format!(
                "{server} reported an error for {tool}, in its words: {}.",
                quote(text, secrets)
            ),
            None => format!("{server} reported an error for {tool}, without a word about it."),
        },
    }
}

fn by_mapping(
    tool: &str,
    server: &str,
    mapped: &MappedReading,
    reply: &ResultReading,
    ruling: &Ruling,
    secrets: &KnownSecrets,
) -> String {
    let said = said(mapped, secrets);
    // Of a batch the count says more than that no field says more.
    let by_parts = match told::counted(&mapped.parts) {
        Some(counted) if mapped.code.is_none() && mapped.message.is_none() => format!(", {counted}"),
        Some(counted) => format!(", {counted}: {said}"),
        None => format!(": {said}"),
    };
    match (mapped.reading, ruling.outcome) {
        (Reading::Missing, _) => {
            format!(
                "{server} answered {tool} without the field that this tool's contract reads the outcome from."
            )
        }
        (Reading::Unlisted, _) => {
            format!("{server} answered {tool} with {said}, a value that this tool's contract does not know.")
        }
        (reading, Outcome::Unknown) if reading != Reading::Unknown => {
            format!("{server} flagged its answer to {tool} as an error, yet its own field says {said}.")
        }
        (Reading::Rejected, _) => format!("{server} refused {tool}{by_parts}."),
        (Reading::Failed | Reading::FailedUnapplied, _) => {
            format!("{server} reports that {tool} failed{by_parts}.")
        }
        (Reading::Partial, _) if !mapped.parts.is_empty() => {
            format!("{server} reports that {tool} was done in part{by_parts}.")
        }
        (Reading::Unknown | Reading::Lowered(_), _) => {
            format!("{server} answered {tool}, and whether it was done is not known.")
        }
        (Reading::Partial, _) => format!("{server} reports that {tool} was done in part: {said}."),
        (Reading::Accepted, _) => {
            let reference = mapped.reference.as_ref().or(reply.reference.as_ref());
            let job = reference.map_or_else(String::new, |job| {
                format!(
                    " as {} {}",
                    name(job.noun.as_deref().unwrap_or("reference"), secrets),
                    reference_in(&job.value, secrets)
                )
            });
            format!("{server} took on {tool}{job}; nothing shows yet that it was done.")
        }
        (Reading::Completed, _) => format!("{server} reports that {tool} was done: {said}."),
    }
}

/// What a clause about the text says, with the text.
fn by_text(
    tool: &str,
    server: &str,
    lowered: &LoweredReading,
    reply: &ResultReading,
    secrets: &KnownSecrets,
) -> String {
    let means = match lowered.means {
        Lowered::Failed => "a failure",
        Lowered::Rejected => "a refusal",
        Lowered::Unknown => "an open end",
    };
    let words = reply.first_text.as_deref().unwrap_or_default();
    let what = match &lowered.clause {
        Clause::Pattern(_) => "text",
        Clause::Expression(_) => "answer",
    };
    format!(
        "{server} flagged no error for {tool}, but by this tool's contract its {what} means {means}: {}.",
        quote(words, secrets)
    )
}

/// The clause that a sign of failure asks for, written out.
pub fn failure_sign(scene: &Scene, sign: &Sign) -> String {
    let secrets = &scene.secrets;
    let quoted = |text: &str| serde_json::Value::from(name(text, secrets)).to_string();
    let table = format!(
        "[servers.{}.tools.{}.outcome]",
        quoted(scene.server.as_str()),
        quoted(scene.tool.as_str())
    );
    let (place, from) = match sign.document {
        Document::Structured => ("structuredContent", ""),
        Document::Text => ("a text block that is JSON", " from = \"text\""),
    };
    let member = sign.member;
    let clause = match member {
        "error" => format!("failed_where = [\"/{member}\"]"),
        _ => format!("pointer = \"/{member}\" completed = [true] failed = [false]"),
    };
    format!(
        "{place} holds \"{member}\": {}, in an answer that is not flagged and that no contract reads. If that means \
         failure here, a contract can say so, in lines of their own: {table}{from} {clause}",
        name(&sign.value, secrets)
    )
}

/// The server's code and words, as far as the contract names them.
fn said(mapped: &MappedReading, secrets: &KnownSecrets) -> String {
    match (&mapped.code, &mapped.message, &mapped.value) {
        (Some(code), Some(message), _) => format!("{}, {}", name(code, secrets), quote(message, secrets)),
        (Some(code), None, _) => name(code, secrets),
        (None, Some(message), _) => quote(message, secrets),
        (None, None, Some(value)) => quote(value, secrets),
        (None, None, None) => "nothing more".to_owned(),
    }
}

/// What is wrong with a structure, the first few issues.
pub fn shape(reply: &ResultReading) -> String {
    lines(&reply.shape, reply.shape_total, SHAPE_BYTES)
}

/// What could be done next, described and never ordered; `None` where nothing special could.
pub fn next_step(scene: &Scene, ending: &Ending, ruling: &Ruling) -> Option<String> {
    let suggestion = match ending {
        Ending::Replied(reply) => reply
            .mapped
            .as_ref()
            .and_then(|mapped| mapped.suggestion.as_deref()),
        _ => None,
    };
    let secrets = &scene.secrets;
    if let Some(words) = suggestion {
        return Some(format!(
            "The server's suggestion, in its words: {}.",
            quote(words, secrets)
        ));
    }
    if let Ending::Told(own) = ending
        && let Some(words) = told::next_step(own, secrets)
    {
        return Some(words);
    }
    match ending {
        Ending::BadInput { .. } => Some("Corrected arguments are checked afresh.".to_owned()),
        Ending::UnknownTool { nearest } if !nearest.is_empty() => {
            let nearest: Vec<String> = nearest.iter().map(|near| name(near, secrets)).collect();
            Some(format!("Tools with near names: {}.", nearest.join(", ")))
        }
        _ if ruling.outcome == Outcome::Accepted => state_of(scene, ending),
        _ if ruling.opening == Opening::Unknown && scene.class != EffectClass::Read => {
            Some("The present state of the target shows whether it was done.".to_owned())
        }
        _ => None,
    }
}

/// Where the state of something accepted can be seen. A server that knows no such place has nothing to say; the gateway
/// says that it knows none.
pub fn state_of(scene: &Scene, ending: &Ending) -> Option<String> {
    let secrets = &scene.secrets;
    let silent = scene.voice == Voice::Library;
    let text = match reference(ending) {
        Some(job) => {
            let what = format!(
                "{} {}",
                name(job.noun.as_deref().unwrap_or("reference"), secrets),
                reference_in(&job.value, secrets)
            );
            match &job.state {
                Some(state) => format!(
                    "State of {what}: tool {}, argument {}.",
                    name(&state.tool, secrets),
                    name(&state.argument, secrets)
                ),
                None if job.noun.as_deref() == Some("task") => format!("State of {what}: tasks/get."),
                None if silent => return None,
                None => format!("No tool known to Candor shows the state of {what}."),
            }
        }
        None if silent => return None,
        None => "No tool known to Candor shows its state.".to_owned(),
    };
    Some(text)
}

/// "once", "2 times".
pub fn times(attempts: u32) -> String {
    match attempts {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

/// "55 s", "2.1 s", "40 ms": as many digits as say something.
pub fn seconds(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    match elapsed.as_millis() {
        0 => "less than 1 ms".to_owned(),
        millis @ 1..1000 => format!("{millis} ms"),
        _ if seconds >= 10.0 || seconds.fract() < 0.05 => format!("{seconds:.0} s"),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_shows_nothing_leaves_no_hole_in_a_sentence() {
        let none = KnownSecrets::default();
        assert_eq!(
            ["", " \t", "book_room"].map(|tool| called(tool, &none)),
            [
                "a tool with an empty name",
                "a tool with a blank name",
                "book_room"
            ]
        );
        let unknown = |tool| {
            let words = ("server \"rooms\"", "The call was not sent.");
            unknown_tool(tool, words, &[], &none)
        };
        assert_eq!(
            unknown(""),
            "Unknown tool: server \"rooms\" lists no tool with an empty name. The call was not sent."
        );
        assert_eq!(
            unknown("bok"),
            "Unknown tool: server \"rooms\" lists no tool \"bok\". The call was not sent."
        );
    }

    #[test]
    fn times_have_as_many_digits_as_say_something() {
        let told = |millis| seconds(Duration::from_millis(millis));
        assert_eq!(
            [told(0), told(40), told(2_000), told(2_130), told(55_400)],
            ["less than 1 ms", "40 ms", "2 s", "2.1 s", "55 s"]
        );
        assert_eq!((times(1), times(3)), ("once".to_owned(), "3 times".to_owned()));
    }
}
