//! What a look showed, in one sentence.

use super::{called, seconds, times, what_happened};
use crate::delivery::quote::{escaped, name};
use crate::delivery::redaction::{KnownSecrets, least};
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::looked::Before;
use crate::judgment::ruling::Ruling;
use crate::recovery::read_back::{Look, Shown};

/// How much is said of why a look showed nothing, in characters.
const WHY: usize = 300;

/// What Candor saw when it looked.
pub(crate) fn sentence(look: &Look, secrets: &KnownSecrets) -> String {
    let tool = called(&look.tool, secrets);
    match look.shown {
        Shown::Applied => format!("{tool} shows that it was done."),
        Shown::NotApplied => format!(
            "{tool}, asked {} after it was sent, shows that nothing changed.",
            seconds(look.since_sent)
        ),
        Shown::Nothing if look.times == 0 => {
            format!("Candor could not look with {tool}: {}.", why(look, secrets))
        }
        Shown::Nothing => format!(
            "Candor looked {} with {tool}, which did not settle it: {}.",
            times(look.times),
            why(look, secrets)
        ),
    }
}

fn why(look: &Look, secrets: &KnownSecrets) -> String {
    escaped(&least(&look.why, secrets).value, WHY)
}

/// What happened to a call that was looked after, without the opening words.
pub(crate) fn after(scene: &Scene, ending: &Ending, ruling: &Ruling, before: Before, look: &Look) -> String {
    if before.is_a_success() && look.shown == Shown::NotApplied {
        return belied(scene, look);
    }
    format!(
        "{} {}",
        what_happened(scene, ending, ruling),
        sentence(look, &scene.secrets)
    )
}

/// A success that a look belies: what happened.
fn belied(scene: &Scene, look: &Look) -> String {
    let secrets = &scene.secrets;
    format!(
        "server \"{}\" reported no error for {}, but {}",
        name(scene.server.as_str(), secrets),
        called(scene.tool.as_str(), secrets),
        sentence(look, secrets)
    )
}
