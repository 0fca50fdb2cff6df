//! What a model is told about its arguments: every rule with the case where it fires and the one where it stays quiet.

use serde_json::Value;

use super::{Checked, Mode, Terms, check, lines};
use crate::contract::schema::{Formats, Schema};

mod coercion;
mod issues;
mod names;

fn checked(schema: &Value, arguments: &str, terms: &Terms) -> Checked {
    let schema = Schema::compile(&schema.to_string(), Formats::Annotate).unwrap();
    check(&schema, &serde_json::from_str(arguments).unwrap(), terms)
}

fn in_mode(mode: Mode) -> Terms {
    Terms {
        mode,
        ..Terms::default()
    }
}

/// The text for the model.
fn told(schema: &Value, arguments: &str, terms: &Terms) -> String {
    let checked = checked(schema, arguments, terms);
    assert_eq!(checked.coerced, None, "{arguments}");
    lines(&checked.issues, checked.total, 4000)
}

/// The arguments as they would be sent.
fn sent(schema: &Value, arguments: &str, terms: &Terms) -> String {
    let checked = checked(schema, arguments, terms);
    match checked.coerced {
        Some(coerced) => coerced.arguments.to_string(),
        None if checked.total == 0 => arguments.to_owned(),
        None => format!("refused: {}", lines(&checked.issues, checked.total, 4000)),
    }
}
