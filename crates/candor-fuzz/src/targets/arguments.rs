//! Any arguments under any schema, by all terms: the answer is bounded, counts what it found, never both refuses and
//! changes, and its places exist. An input is `schema`, `---`, `arguments`.

use candor_core::arguments::{Checked, Mode, Terms, check as check_arguments, lines};
use candor_core::contract::schema::{Formats, Schema};
use serde_json::Value;

use super::schema::{is_pointer, sample};
use crate::broken::{Broken, law};
use crate::input::{parts, text};

/// Most issues put in words (DESIGN 3b: the text is capped).
const MOST_ISSUES: usize = 20;
/// Bytes allowed for the text to the model.
const BUDGET: usize = 600;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let text = text(input);
    let [raw, value] = parts(&text);
    let Ok(schema) = Schema::compile(raw, Formats::Annotate) else {
        return Ok(());
    };
    let arguments = serde_json::from_str(value).unwrap_or_else(|_| sample());
    for terms in all_terms() {
        let checked = check_arguments(&schema, &arguments, &terms);
        answered(&schema, &arguments, &terms, &checked)?;
        law(
            "arguments are judged the same every time",
            checked == check_arguments(&schema, &arguments, &terms),
            || format!("{checked:?} by {terms:?}"),
        )?;
    }
    Ok(())
}

fn all_terms() -> impl Iterator<Item = Terms> {
    let flags = [(false, false), (true, false), (false, true), (true, true)];
    [Mode::Off, Mode::Warn, Mode::Enforce, Mode::Coerce]
        .into_iter()
        .flat_map(move |mode| {
            flags.map(|(strict_names, drop_nulls)| Terms {
                mode,
                strict_names,
                drop_nulls,
            })
        })
}

fn answered(schema: &Schema, arguments: &Value, terms: &Terms, checked: &Checked) -> Result<(), Broken> {
    let seen = || format!("{checked:?} by {terms:?}");
    law(
        "off checks nothing",
        terms.mode != Mode::Off || *checked == Checked::default(),
        seen,
    )?;
    let counted = checked.issues.len() <= MOST_ISSUES
        && checked.total >= checked.issues.len()
        && (checked.total > 0) != checked.issues.is_empty();
    law("issues are bounded and counted", counted, seen)?;
    let coerces = checked.coerced.is_none() || (terms.mode == Mode::Coerce && checked.total == 0);
    law(
        "arguments are changed only where asked for, and not refused as well",
        coerces,
        seen,
    )?;
    let found = schema.violations(arguments, 1);
    let excused = checked.total > 0 || checked.coerced.is_some() || terms.mode == Mode::Off;
    law(
        "what breaks the schema is refused or mended",
        found.is_clean() || excused,
        seen,
    )?;
    let places = checked.issues.iter().map(|issue| issue.path.as_str());
    let notices = checked.notices.iter().map(|notice| notice.path.as_str());
    let exist = places
        .chain(notices)
        .all(|path| is_pointer(path) && (checked.coerced.is_some() || is_within(arguments, path)));
    law(
        "issues are about places that are there, or are missing in one that is",
        exist,
        seen,
    )?;
    let told = lines(&checked.issues, checked.total, BUDGET);
    law(
        "the text to the model keeps its budget",
        told.len() <= BUDGET,
        || told.clone(),
    )
}

/// Is there a place for this, or a text that it may stand in?
fn is_within(arguments: &Value, path: &str) -> bool {
    let Some((holder, _)) = path.rsplit_once('/') else {
        return true;
    };
    match arguments.pointer(holder) {
        Some(_) => true,
        None => {
            let mut holders = std::iter::successors(Some(holder), |path| Some(path.rsplit_once('/')?.0));
            holders
                .find_map(|holder| arguments.pointer(holder))
                .is_some_and(Value::is_string)
        }
    }
}
