//! The block of a call that was looked after.

use crate::contract::effect::EffectClass;
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::judge::{Judgment, judge};
use crate::judgment::looked::Before;
use crate::judgment::ruling::{Bytes, Opening};
use crate::judgment::sentence::looked::{after, sentence};
use crate::judgment::verdict::{Effect, Repeat};
use crate::recovery::read_back::Shown;

/// The lines of a call that a look settled; `None` where none did.
pub(super) fn lines(scene: &Scene, ending: &Ending, judgment: &Judgment) -> Option<Vec<String>> {
    let look = judgment
        .look
        .as_ref()
        .filter(|look| look.shown != Shown::Nothing)?;
    let ruling = &judgment.ruling;
    let own = judge(scene, ending);
    let before = Before::of(&own.ruling, own.how)?;
    let mut lines = vec![format!(
        "{}: {}",
        ruling.opening,
        after(scene, ending, ruling, before, look)
    )];
    lines.push(
        match (ruling.effect, ruling.repeat) {
            (Effect::Applied, _) if scene.class == EffectClass::Idempotent => "A repeat is harmless.",
            (Effect::Applied, _) if ruling.bytes == Bytes::Authored && ruling.opening == Opening::Done => {
                "What it would have answered is not known. A second identical call may do it twice."
            }
            (Effect::Applied, _) => "A second identical call may do it twice.",
            (_, Some(Repeat::MayHelp)) => "A repeat is harmless and may succeed.",
            (_, Some(Repeat::SameAnswer)) => "The same call gets the same answer while that holds.",
            (_, Some(Repeat::MayDuplicate) | None) => "",
        }
        .to_owned(),
    );
    if ruling.bytes == Bytes::Prefixed {
        lines.push("The server's own answer follows.".to_owned());
    } else if scene.recorded {
        lines.push(format!("Record: candor show {}.", scene.operation.short()));
    }
    lines.retain(|line| !line.is_empty());
    Some(lines)
}

/// The line of a look that settled nothing: to have looked in vain is not the same as not to have looked.
pub(super) fn in_vain(scene: &Scene, judgment: &Judgment) -> Option<String> {
    let look = judgment
        .look
        .as_ref()
        .filter(|look| look.shown == Shown::Nothing)?;
    Some(sentence(look, &scene.secrets))
}
