//! Arguments that were unwrapped: they fit the schema, and each change gives exactly what the text said. An input is
//! `schema`, `---`, `arguments`; the arguments are tried as they are, and with every value put into text.

use candor_core::arguments::{Change, Coerced, Mode, Terms, check as check_arguments};
use candor_core::contract::schema::{Formats, Schema};
use serde_json::{Number, Value};

use super::schema::sample;
use crate::broken::{Broken, law};
use crate::input::{parts, text};

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let text = text(input);
    let [raw, value] = parts(&text);
    let Ok(schema) = Schema::compile(raw, Formats::Annotate) else {
        return Ok(());
    };
    let arguments = serde_json::from_str(value).unwrap_or_else(|_| sample());
    for arguments in [wrapped(&arguments), arguments] {
        for drop_nulls in [false, true] {
            let terms = Terms {
                mode: Mode::Coerce,
                strict_names: false,
                drop_nulls,
            };
            if let Some(coerced) = check_arguments(&schema, &arguments, &terms).coerced {
                fits(&schema, &coerced)?;
                lossless(&arguments, &coerced, drop_nulls)?;
            }
        }
    }
    Ok(())
}

/// The arguments as a host sends them that makes text of every value.
fn wrapped(arguments: &Value) -> Value {
    let mut wrapped = arguments.clone();
    if let Value::Object(members) = &mut wrapped {
        for member in members
            .values_mut()
            .filter(|member| !member.is_string() && !member.is_null())
        {
            *member = Value::String(member.to_string());
        }
    }
    wrapped
}

fn fits(schema: &Schema, coerced: &Coerced) -> Result<(), Broken> {
    let found = schema.violations(&coerced.arguments, 3);
    law("coerced arguments fit the schema", found.is_clean(), || {
        format!("{found:?} for {}", coerced.arguments)
    })?;
    law("coerced means changed", !coerced.changes.is_empty(), || {
        coerced.arguments.to_string()
    })
}

/// Does every change again, from the text alone: the same arguments must come out.
fn lossless(arguments: &Value, coerced: &Coerced, drop_nulls: bool) -> Result<(), Broken> {
    let mut redone = arguments.clone();
    for change in &coerced.changes {
        let now = coerced.arguments.pointer(&change.path);
        let kept = redo(&mut redone, change, now, drop_nulls);
        law(
            "a change gives exactly what the text said",
            kept.is_some(),
            || format!("{change:?}: {now:?} from {arguments}"),
        )?;
    }
    law(
        "nothing is changed but what is disclosed",
        redone == coerced.arguments,
        || format!("{} from {arguments} by {:?}", coerced.arguments, coerced.changes),
    )
}

/// One change again; `None` where it lost or invented something.
fn redo(document: &mut Value, change: &Change, now: Option<&Value>, drop_nulls: bool) -> Option<()> {
    let text = match document.pointer(&change.path)? {
        Value::String(text) => text.clone(),
        Value::Null if drop_nulls => {
            let (holder, name) = change.path.rsplit_once('/')?;
            let name = name.replace("~1", "/").replace("~0", "~");
            document
                .pointer_mut(holder)?
                .as_object_mut()?
                .shift_remove(&name)?;
            return Some(());
        }
        _ => return None,
    };
    let meant = match now? {
        Value::Number(number) => exact(number, &text)?,
        Value::Bool(flag) => (flag.to_string() == text).then_some(Value::Bool(*flag))?,
        Value::Array(_) | Value::Object(_) => {
            let meant: Value = serde_json::from_str(&text).ok()?;
            (names(&meant) == names_in(&text)).then_some(meant)?
        }
        Value::String(_) | Value::Null => return None,
    };
    *document.pointer_mut(&change.path)? = meant;
    Some(())
}

/// The number, if its digits are those of the text.
fn exact(number: &Number, text: &str) -> Option<Value> {
    (number.as_str() == text).then(|| Value::Number(number.clone()))
}

/// How many members a value has in all.
fn names(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(names).sum::<usize>(),
        Value::Array(items) => items.iter().map(names).sum(),
        _ => 0,
    }
}

/// How many members the text writes, doubles and all, counted by a reader of its own: of the colons, those that
/// follow a string's end.
fn names_in(text: &str) -> usize {
    let bare: String = strings_taken_out(text).split_ascii_whitespace().collect();
    bare.matches("\":").count()
}

/// The text with nothing between its quotes.
fn strings_taken_out(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.push(letter);
        if letter != '"' {
            continue;
        }
        while let Some(inside) = letters.next() {
            match inside {
                '\\' => drop(letters.next()),
                '"' => break,
                _ => {}
            }
        }
    }
    out
}
