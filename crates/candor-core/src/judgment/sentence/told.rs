//! The sentences of a server that is written with the library: what it says of its own calls.

use crate::contract::effect::EffectClass;
use crate::contract::mapping::parts::MOST_PARTS;
use crate::delivery::quote::{escaped, name, quote_long, reference as reference_in};
use crate::delivery::redaction::{KnownSecrets, least};
use crate::judgment::ending::{Scene, Voice};
use crate::judgment::ruling::Ruling;
use crate::judgment::told::Told;
use crate::judgment::verdict::{Effect, Outcome, Part};

/// How many characters of a tool's own message stand in a verdict.
const MESSAGE: usize = 2_000;
/// How many parts of one group a text names.
const NAMED_PARTS: usize = 20;

/// What became of a call, by the tool's own word.
pub(super) fn what_happened(scene: &Scene, tool: &str, told: &Told, ruling: &Ruling) -> String {
    let secrets = &scene.secrets;
    let said = said(told, secrets);
    if ruling.finding.is_some() {
        return format!(
            "{tool} says that it is {} with the effect {}, which can't both be{}.",
            told.outcome,
            told.effect,
            after(": ", &said)
        );
    }
    let ending = match (told.outcome, told.effect) {
        (Outcome::Accepted, _) => {
            let job = told.reference.as_ref().map_or_else(String::new, |job| {
                let value = reference_in(&job.value, secrets);
                match job.noun.as_deref() {
                    Some(noun) => format!(" as {} {value}", name(noun, secrets)),
                    None => format!(", with the reference {value}"),
                }
            });
            return format!("{tool} was taken on{job}; nothing shows yet that it was done.");
        }
        (Outcome::InputRequired, _) => "needs more before it can go on".to_owned(),
        (Outcome::Rejected, _) => "was refused".to_owned(),
        (Outcome::Failed, Effect::Partial) => "failed midway".to_owned(),
        (Outcome::Failed, _) => "failed".to_owned(),
        (Outcome::Partial, _) => match counted(&told.parts) {
            Some(counted) => format!("was done in part, {counted}"),
            None => "was done in part".to_owned(),
        },
        (Outcome::Unknown, _) => "ended, and whether it was done is not known".to_owned(),
        (Outcome::Completed | Outcome::Reported, _) => "was done".to_owned(),
    };
    ended(format!("{tool} {ending}{}", after(": ", &said)))
}

/// The sentence about a tool that broke down. What it broke on stays in the server's log.
pub(super) fn panicked(tool: &str, correlation: &str, secrets: &KnownSecrets) -> String {
    format!(
        "{tool} broke down inside; the server's log has it as {}.",
        name(correlation, secrets)
    )
}

/// The sentence about arguments that are wrong.
pub(super) fn bad_input(tool: &str, total: usize, by_rule: bool) -> String {
    let breaks = if total == 1 { "breaks" } else { "break" };
    let rules = match (total, by_rule) {
        (_, false) => "its schema",
        (1, true) => "one of its rules",
        (_, true) => "its schema or one of its rules",
    };
    format!("{tool} did not run; {total} of its arguments {breaks} {rules}.")
}

/// The tool's message for the verdict: its own words, without what no text may hold.
pub(super) fn message(told: &Told, secrets: &KnownSecrets) -> Option<String> {
    let words = told.message.as_deref()?.trim();
    if words.is_empty() {
        return None;
    }
    let least = least(words, secrets).value;
    Some(escaped(&least, MESSAGE))
}

/// The tool's words about what could be done next, for the verdict.
pub(super) fn next_step(told: &Told, secrets: &KnownSecrets) -> Option<String> {
    let words = told.next_step.as_deref()?.trim();
    (!words.is_empty()).then(|| escaped(&least(words, secrets).value, MESSAGE))
}

/// Parts by what became of them, in one line; `None` where there are none.
pub(crate) fn parts(parts: &[Part], secrets: &KnownSecrets) -> Option<String> {
    let groups = Group::ALL.map(|group| (group, parts.iter().filter(move |part| Group::of(part) == group)));
    let lines: Vec<String> = groups
        .into_iter()
        .filter_map(|(group, parts)| {
            let mut names: Vec<String> = parts.map(|part| named(part, secrets)).collect();
            let more = names.len().saturating_sub(NAMED_PARTS);
            names.truncate(NAMED_PARTS);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            (!names.is_empty()).then(|| format!("{}: {}{more}.", group.words(), names.join(", ")))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Whether anything changed, for calls of a server that speaks for itself; `None` where the usual words fit.
pub(crate) fn whether_changed(scene: &Scene, told: Option<&Told>, ruling: &Ruling) -> Option<&'static str> {
    let own_word = told.is_some();
    Some(match (ruling.outcome, ruling.effect) {
        (_, Effect::NotApplied)
            if scene.voice == Voice::Library && scene.class == EffectClass::Read && scene.attempts > 0 =>
        {
            "The tool only reads: nothing changed."
        }
        (Outcome::Accepted | Outcome::InputRequired, _) if own_word => "",
        (Outcome::Rejected, Effect::Unknown) if own_word => "Whether anything was done first is not known.",
        (Outcome::Failed, Effect::Partial) if own_word => "A part of it is done.",
        (Outcome::Partial, _) if own_word => "",
        // The sentence before says it already.
        (Outcome::Unknown, _) if own_word && ruling.finding.is_none() => "",
        _ => return None,
    })
}

/// What a wait and a suggestion of the tool add to the last line.
pub(crate) fn tail(told: &Told, ruling: &Ruling, secrets: &KnownSecrets) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(seconds) = told.retry_after {
        out.push(format!("It names a wait of {seconds} s before a repeat."));
    }
    if let Some(words) = &told.next_step {
        out.push(ended(format!(
            "The tool's suggestion, in its words: {}",
            quote_long(words, secrets)
        )));
    }
    if ruling.outcome != Outcome::Accepted
        && let Some(reference) = &told.reference
    {
        let noun = name(reference.noun.as_deref().unwrap_or("reference"), secrets);
        out.push(format!(
            "Its {noun}: {}.",
            reference_in(&reference.value, secrets)
        ));
    }
    out
}

/// The tool's code and words.
fn said(told: &Told, secrets: &KnownSecrets) -> String {
    let words = told.message.as_deref().filter(|words| !words.trim().is_empty());
    match (&told.code, words) {
        (Some(code), Some(words)) => format!("{}, {}", name(code, secrets), quote_long(words, secrets)),
        (Some(code), None) => name(code, secrets),
        (None, Some(words)) => quote_long(words, secrets),
        (None, None) => String::new(),
    }
}

/// A sentence with its full stop, unless the words that are quoted last have one.
fn ended(mut sentence: String) -> String {
    let by_itself = [".\"", "!\"", "?\""].iter().any(|end| sentence.ends_with(end));
    if !by_itself {
        sentence.push('.');
    }
    sentence
}

fn after(between: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{between}{text}")
    }
}

fn named(part: &Part, secrets: &KnownSecrets) -> String {
    let code = part
        .code
        .as_deref()
        .map_or_else(String::new, |code| format!(" ({})", name(code, secrets)));
    format!("{}{code}", name(&part.name, secrets))
}

/// "7 of 10 done", "7 of the first 199 done"; `None` where there are no parts.
pub(crate) fn counted(parts: &[Part]) -> Option<String> {
    // The last of so many may stand for all others: those before it are counted.
    let is_cut = parts.len() >= MOST_PARTS;
    let counted = parts.get(..parts.len().min(MOST_PARTS - 1)).unwrap_or_default();
    let done = counted
        .iter()
        .filter(|part| Group::of(part) == Group::Done)
        .count();
    let first = if is_cut { "the first " } else { "" };
    (!parts.is_empty()).then(|| format!("{done} of {first}{} done", counted.len()))
}

/// What a repeat of a batch that is done in part would mean, and what a call for the rest.
pub(crate) fn repeat_of_parts(parts: &[Part]) -> String {
    let of = |group| parts.iter().filter(|part| Group::of(part) == group).count();
    let done = of(Group::Done);
    let mut text = match done {
        0 => "Repeating the whole call would act again on what is already done.".to_owned(),
        _ if parts.len() >= MOST_PARTS => {
            "Repeating the whole call would act again on those that are done".to_owned()
        }
        1 => "Repeating the whole call would act again on the one that is done".to_owned(),
        done => format!("Repeating the whole call would act again on the {done} that are done"),
    };
    if done > 0 {
        text.push_str(match of(Group::NotDone) {
            0 => ".",
            _ => "; a call for what is not done alone does not touch that.",
        });
    }
    if of(Group::Unknown) > 0 {
        text.push_str(" What is not known may be done already.");
    }
    text
}

/// What became of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Done,
    InPart,
    TakenOn,
    NotDone,
    Unknown,
}

impl Group {
    const ALL: [Self; 5] = [
        Self::Done,
        Self::InPart,
        Self::TakenOn,
        Self::NotDone,
        Self::Unknown,
    ];

    fn of(part: &Part) -> Self {
        match (part.outcome, part.effect) {
            (Outcome::Completed, Effect::Applied | Effect::NotApplied) => Self::Done,
            (Outcome::Partial, _) | (_, Effect::Partial) => Self::InPart,
            (Outcome::Accepted, _) => Self::TakenOn,
            (Outcome::Rejected | Outcome::Failed | Outcome::InputRequired, Effect::NotApplied) => {
                Self::NotDone
            }
            _ => Self::Unknown,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::InPart => "Done in part",
            Self::TakenOn => "Taken on, not yet done",
            Self::NotDone => "Not done",
            Self::Unknown => "Unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_last_part_may_stand_for_many_only_those_before_it_are_counted() {
        let parts = |many: usize| {
            let part = Part {
                name: "p".to_owned(),
                outcome: Outcome::Completed,
                effect: Effect::Applied,
                code: None,
            };
            vec![part; many]
        };
        assert_eq!(counted(&parts(199)).unwrap(), "199 of 199 done");
        assert_eq!(counted(&parts(200)).unwrap(), "199 of the first 199 done");
        assert!(repeat_of_parts(&parts(199)).contains("the 199 that"));
        assert!(repeat_of_parts(&parts(200)).contains("those that are done"));
        assert_eq!(counted(&[]), None);
    }
}
