//! The block of a call that was taken on, and whose caller waited for its end.

use super::{asked_wait, detail, join, what_repeat_means, whether_changed};
use crate::contract::effect::EffectClass;
use crate::delivery::quote::{name, quote};
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::judge::Judgment;
use crate::judgment::ruling::Opening;
use crate::judgment::sentence::what_happened;
use crate::judgment::verdict::Outcome;

/// What the end was, and by which tool it was seen.
pub(in crate::delivery) fn block(scene: &Scene, ending: &Ending, judgment: &Judgment, by: &str) -> String {
    let ruling = &judgment.ruling;
    let done = ruling.outcome == Outcome::Completed;
    let opening = match ruling.opening {
        Opening::Silent if done => Opening::Done,
        opening => opening,
    };
    let first = format!("{opening}: {}", what_happened(scene, ending, ruling));
    let seen = format!(
        "It was taken on first; {} showed its end.",
        name(by, &scene.secrets)
    );
    let changed = if done {
        String::new()
    } else {
        whether_changed(scene, ending, judgment)
    };
    let repeat = match scene.class {
        EffectClass::Write if done => "A second identical call may do it twice.".to_owned(),
        _ if done => "A repeat is harmless.".to_owned(),
        _ => what_repeat_means(scene, ending, judgment),
    };
    let mut lines = vec![join([first, changed]), join([seen, words(scene, ending, by)])];
    lines.extend(detail(scene, ending, judgment));
    lines.push(join([repeat, asked_wait(ending, judgment)]));
    lines.push("The server's first answer, from when it took the call on, follows.".to_owned());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// What the tool that showed the end says of it.
fn words(scene: &Scene, ending: &Ending, by: &str) -> String {
    let text = match ending {
        Ending::Replied(reading) => reading.first_text.as_deref(),
        _ => None,
    };
    text.filter(|text| !text.trim().is_empty())
        .map_or_else(String::new, |text| {
            let by = name(by, &scene.secrets);
            format!("{by}, in its words: {}.", quote(text, &scene.secrets))
        })
}
