//! The first text block, by situation: the opening words, then at most three short lines (what happened, whether
//! anything changed, what a repeat would mean). Descriptive, complete, bounded, and no orders: TEXTS has the measure.

use crate::arguments::{lines, lines_of_code};
use crate::asking::confirmation::{Answer, Obstacle};
use crate::contract::effect::EffectClass;
use crate::delivery::quote::quote;
use crate::judgment::ending::{Ending, Scene, Voice};
use crate::judgment::judge::Judgment;
use crate::judgment::ruling::Opening;
use crate::judgment::sentence::{state_of, told, what_happened};
use crate::judgment::verdict::{Effect, Repeat};

/// How many bytes the lines about arguments may have.
const ISSUE_BYTES: usize = 3_000;

/// Candor's block for a judged call; `None` where it writes none.
pub fn block(scene: &Scene, ending: &Ending, judgment: &Judgment) -> Option<String> {
    let ruling = &judgment.ruling;
    if ruling.opening == Opening::Silent {
        return None;
    }
    if let Some(lines) = looked::lines(scene, ending, judgment) {
        return Some(lines.join("\n"));
    }
    let first = format!("{}: {}", ruling.opening, what_happened(scene, ending, ruling));
    let mut lines = vec![join([first, whether_changed(scene, ending, judgment)])];
    lines.extend(looked::in_vain(scene, judgment));
    lines.extend(detail(scene, ending, judgment));
    lines.push(join([
        what_repeat_means(scene, ending, judgment),
        asked_wait(ending, judgment),
        tail(scene, ending, judgment),
    ]));
    // Sentences that begin a line of their own leave a blank at the end of the line before.
    Some(lines.join("\n").replace(" \n", "\n"))
}

fn join<const N: usize>(sentences: [String; N]) -> String {
    let kept: Vec<String> = sentences
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .collect();
    kept.join(" ")
}

/// Whether anything changed, in the words of the case.
fn whether_changed(scene: &Scene, ending: &Ending, judgment: &Judgment) -> String {
    let ruling = &judgment.ruling;
    let own = match ending {
        Ending::Told(own) => Some(own.as_ref()),
        _ => None,
    };
    if let Some(words) = told::whether_changed(scene, own, ruling) {
        return words.to_owned();
    }
    let text = match (ending, ruling.effect) {
        (Ending::Replied(_), Effect::NotApplied) if scene.class != EffectClass::Read => {
            "By this tool's contract nothing changed."
        }
        (
            Ending::Refused {
                changes_nothing: true,
                ..
            },
            Effect::NotApplied,
        ) if scene.class != EffectClass::Read => "By this tool's contract nothing changed.",
        (_, Effect::NotApplied) if scene.class == EffectClass::Read && scene.attempts > 0 => {
            "The operator counts it as read-only: nothing changed."
        }
        (_, Effect::NotApplied) => "Nothing changed.",
        (Ending::Refused { .. }, Effect::Unknown) => "It did not say whether anything was done first.",
        (Ending::Timeout | Ending::KeyUnknown { running: true }, _) => {
            "It may be done, not done, or still running."
        }
        (Ending::Replied(_), Effect::Unknown) if ruling.opening == Opening::AcceptedNotYetDone => "",
        (Ending::Replied(_), Effect::Partial) => "",
        (_, _) => "It may or may not be done.",
    };
    text.to_owned()
}

/// The line with the particulars: what is wrong with the arguments.
fn detail(scene: &Scene, ending: &Ending, judgment: &Judgment) -> Option<String> {
    match ending {
        Ending::BadInput { issues, total, .. } if scene.voice == Voice::Library => {
            Some(lines_of_code(issues, *total, ISSUE_BYTES))
        }
        Ending::BadInput { issues, total, .. } => Some(lines(issues, *total, ISSUE_BYTES)),
        Ending::Told(own) if !own.issues.is_empty() => {
            Some(lines_of_code(&own.issues, own.issues.len(), ISSUE_BYTES))
        }
        Ending::Told(own) => told::parts(&own.parts, &scene.secrets),
        Ending::Replied(_) => told::parts(&judgment.verdict.parts, &scene.secrets),
        _ => None,
    }
}

/// What a repeat would mean.
fn what_repeat_means(scene: &Scene, ending: &Ending, judgment: &Judgment) -> String {
    let read = scene.class == EffectClass::Read;
    let repeat = judgment
        .verdict
        .error
        .as_ref()
        .map(|error| error.repeat)
        .or(judgment.ruling.repeat);
    let text = match (ending, repeat) {
        (Ending::BadInput { issues, .. }, _)
            if issues.iter().any(|issue| issue.rule == "idempotency_key") =>
        {
            "The same call gets the same answer. Its arguments are checked once the key is one, or is left out."
        }
        (
            Ending::BadInput {
                total, issues, times, ..
            },
            _,
        ) => return bad_input_again(scene.voice, *total, issues.len(), *times),
        (
            Ending::Unconfirmed {
                answer: Answer::Blocked(Obstacle::NoForms | Obstacle::Refused { .. }),
                ..
            },
            _,
        ) => {
            "The same call gets the same answer while nobody can be asked. An operator decides which tools ask (confirm)."
        }
        (Ending::Unconfirmed { .. }, _) => {
            "The same call asks the user again; without consent it gets the same answer."
        }
        (Ending::KeyConflict { .. }, _) => {
            "The same call gets the same answer. The key with its first arguments gets the first call's answer; \
             another key makes a new call."
        }
        (Ending::KeyUnknown { .. }, _) => {
            "The same call with this key is never sent a second time; once it is known what came of the first, it gets \
             that answer. The present state of the target shows which it was."
        }
        (Ending::Unrecorded { .. }, _) => {
            "Every such call gets this answer until a person makes the record of calls writable again."
        }
        (
            Ending::Refused {
                code: Some(-32602),
                listed: true,
                ..
            },
            _,
        ) => {
            "The arguments fit the published schema; the rule is the server's own.\n\
             The same arguments will probably be refused again; changed arguments make a new call and undo nothing."
        }
        (Ending::ConnectFailed { lasts: true, .. }, _) => {
            "Every call gets this answer until the host starts the server again."
        }
        (Ending::Timeout | Ending::Closed { .. }, _) if read => {
            "No data came back; this does not mean that there is none.\nA repeat is harmless and may succeed."
        }
        (Ending::Replied(_) | Ending::Told(_), _)
            if judgment.ruling.opening == Opening::AcceptedNotYetDone =>
        {
            "A second identical call may start a second job."
        }
        (Ending::Replied(_), _)
            if judgment.ruling.opening == Opening::PartlyDone && !judgment.verdict.parts.is_empty() =>
        {
            return told::repeat_of_parts(&judgment.verdict.parts);
        }
        (Ending::Replied(_), _) if judgment.ruling.opening == Opening::PartlyDone => {
            "Repeating the whole call would act again on what is already done."
        }
        (Ending::Told(_), _) if judgment.ruling.opening == Opening::PartlyDone && !read => {
            "Repeating the whole call would act again on what is already done."
        }
        (Ending::Replied(_) | Ending::Told(_), Some(Repeat::SameAnswer)) => {
            "The same call gets the same answer while that holds."
        }
        (_, Some(Repeat::SameAnswer)) => "The same call gets the same answer.",
        (_, Some(Repeat::MayHelp)) => "A repeat is harmless and may succeed.",
        (_, Some(Repeat::MayDuplicate)) => {
            "A second identical call may do it twice. The present state of the target shows which it was."
        }
        (_, None) => "",
    };
    text.to_owned()
}

/// How long a server's error or refusal asks to wait: a tool written with the library says it in its own words.
fn asked_wait(ending: &Ending, judgment: &Judgment) -> String {
    let asked = judgment
        .verdict
        .error
        .as_ref()
        .and_then(|error| error.retry_after);
    match (ending, asked) {
        (Ending::Refused { .. } | Ending::Replied(_), Some(seconds)) => {
            format!("The server asks to wait {seconds} s before a repeat.")
        }
        (Ending::Resting { .. }, Some(seconds)) => format!("After {seconds} s one call tries it again."),
        _ => String::new(),
    }
}

fn bad_input_again(voice: Voice, total: usize, shown: usize, times: u32) -> String {
    let other = match voice {
        _ if total > shown => "",
        Voice::Gateway => "Candor found no other problem. ",
        // The tool's rules wait for its schema, and its types for its rules: there may be more.
        Voice::Library => "",
    };
    let mut text =
        format!("{other}The same arguments get the same answer; corrected arguments are checked afresh.");
    if times >= 3 {
        text.push_str(&format!("\nThese very arguments were refused {times} times now"));
        text.push_str(match voice {
            Voice::Gateway => {
                ", each time by Candor and not by the server. \
                 An operator can let them through (--arguments warn)."
            }
            Voice::Library => ".",
        });
    }
    text
}

/// What else there is to know: where the answer stands, who can look, what the server suggests.
fn tail(scene: &Scene, ending: &Ending, judgment: &Judgment) -> String {
    let mut out: Vec<String> = Vec::new();
    let unverified = "The server's own annotation calls the tool read-only; that is not verified.";
    let op = scene.operation.short();
    match ending {
        Ending::Timeout if scene.class != EffectClass::Read => {
            if scene.claims_read_only {
                out.push(unverified.to_owned());
            }
            if scene.recorded {
                out.push(format!("\nA late answer goes to the record: candor show {op}."));
            }
        }
        Ending::Closed { restarts, .. } => {
            if scene.claims_read_only && scene.class != EffectClass::Read {
                out.push(unverified.to_owned());
            }
            let next = if *restarts {
                "The next call starts the server anew; what it held only in memory is lost."
            } else {
                "The server is gone for this session."
            };
            out.push(format!("\n{next}"));
            if scene.recorded {
                out.push(format!("Record: candor show {op}."));
            }
        }
        Ending::Replied(reply) => {
            if let Some(words) = reply
                .mapped
                .as_ref()
                .and_then(|mapped| mapped.suggestion.as_deref())
            {
                out.push(format!(
                    "The server's suggestion, in its words: {}.",
                    quote(words, &scene.secrets)
                ));
            }
            if judgment.ruling.opening == Opening::AcceptedNotYetDone {
                out.extend(state_of(scene, ending).map(|text| format!("\n{text}")));
            }
            if judgment.ruling.bytes == crate::judgment::ruling::Bytes::Prefixed {
                out.push("\nThe server's own answer follows.".to_owned());
            }
        }
        Ending::Told(own) => {
            out.extend(told::tail(own, &judgment.ruling, &scene.secrets));
            if judgment.ruling.opening == Opening::AcceptedNotYetDone {
                out.extend(state_of(scene, ending).map(|text| format!("\n{text}")));
            }
        }
        _ => {}
    }
    out.join(" ")
}

pub(super) mod followed;
mod looked;

#[cfg(test)]
mod library_tests;
#[cfg(test)]
mod tests;
