//! The message of a broken rule: text with `{{ expression }}` in it.

use jiff::tz::TimeZone;

use super::expression::{Expression, Scene, tidy};
use super::fault::FaultKind;
use super::tree::OF_A_RULE;
use super::value;
use crate::delivery::redaction::is_secret_name;

/// Most placeholders in one message.
const PLACEHOLDER_LIMIT: usize = 16;
/// Most characters that one placeholder contributes.
const SHOWN_LIMIT: usize = 80;
/// Most characters of a whole message.
const MESSAGE_LIMIT: usize = 500;
/// Strings of a secret's name are masked from this length on (DESIGN 3b).
pub(super) const SECRET_LENGTH: usize = 8;
/// What stands for a masked string.
pub(super) const MASKED: &str = "[masked]";

/// A message, cut at its placeholders.
#[derive(Debug)]
pub(super) struct Message(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(String),
    Shown(Expression),
}

impl Message {
    /// Compiles a message, or says what is wrong and at which byte.
    pub(super) fn compile(text: &str) -> Result<Self, (Option<usize>, FaultKind)> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some((before, rest)) = text.get(at..).and_then(|rest| rest.split_once("{{")) {
            let open = at + before.len();
            let Some((expression, _)) = rest.split_once("}}") else {
                return Err((Some(open), FaultKind::OpenPlaceholder));
            };
            let start = open + 2;
            let leading = expression.len() - expression.trim_start().len();
            let compiled = Expression::compile(expression.trim(), OF_A_RULE)
                .map_err(|(inner, kind)| (Some(start + leading + inner.unwrap_or(0)), kind))?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Shown(compiled));
            if pieces.len() > PLACEHOLDER_LIMIT * 2 {
                return Err((
                    Some(open),
                    FaultKind::TooManyPlaceholders {
                        limit: PLACEHOLDER_LIMIT,
                    },
                ));
            }
            at = start + expression.len() + 2;
        }
        pieces.push(Piece::Text(text.get(at..).unwrap_or_default().to_owned()));
        Ok(Self(pieces))
    }

    /// The message for one call. A placeholder without a value shows as "(unknown)": a message must not fail.
    pub(super) fn render(&self, scene: &Scene<'_>, zone: &TimeZone) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Shown(expression) => out.push_str(&shown(expression, scene, zone)),
            }
        }
        tidy(&out, MESSAGE_LIMIT)
    }
}

fn shown(expression: &Expression, scene: &Scene<'_>, zone: &TimeZone) -> String {
    let Ok(found) = expression.evaluate(scene) else {
        return "(unknown)".to_owned();
    };
    let words = value::to_words(&found, zone);
    let secret = expression.field().is_some_and(is_secret_name) && words.len() >= SECRET_LENGTH;
    if secret && matches!(found, cel::Value::String(_)) {
        MASKED.to_owned()
    } else {
        tidy(&words, SHOWN_LIMIT)
    }
}
