//! Typed arguments. What serde still refuses after the schema found nothing becomes an issue with its path, never
//! -32602 and never serde's prose alone.

use std::borrow::Cow;

use candor_core::arguments::UNREADABLE;
use candor_core::arguments::issue::Issue;
use rmcp::ErrorData;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::ToolCallContext;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::{Path, Segment};

use crate::arguments::about;
use crate::call::Call;
use crate::said::Said;
use crate::stop::pointing;

/// The largest integer up to which every integer is an exact `f64` (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;
/// What rmcp's own `Parameters` says of arguments that serde refuses: its constant
/// `TOOL_ARGUMENT_DESERIALIZATION_ERROR_PREFIX`. A test holds it against the pinned version.
pub(crate) const RMCP_REFUSAL: &str = "failed to deserialize parameters:";

/// The arguments of a tool as a `P`, in place of rmcp's extractor of the same name: rmcp's `#[tool]` finds it by that
/// name, so `use candor::Parameters;` is all that changes.
///
/// Arguments that fit the schema and not the type are refused as issues, with a path. Numbers are given to serde exactly
/// as they came first; where it can't read them so (`tag`, `untagged` and `flatten` can't), as the nearest plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters<P>(pub P);

impl<P: JsonSchema> JsonSchema for Parameters<P> {
    fn schema_name() -> Cow<'static, str> {
        P::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        P::json_schema(generator)
    }
}

impl<S, P: DeserializeOwned> FromContextPart<ToolCallContext<'_, S>> for Parameters<P> {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        let routed = Value::Object(context.arguments.take().unwrap_or_default());
        // The call has them exactly; what comes through the router has plain numbers, for rmcp's own extractor.
        let call = context.request_context.extensions.get::<Call>();
        let exact = call.map_or(&routed, Call::arguments);
        parse(exact)
            .map(Self)
            .map_err(|issue| pointing(Said::Issues(vec![issue])))
    }
}

/// Reads arguments as a `P`.
///
/// # Errors
///
/// The one thing that serde stumbled over, as an issue.
pub(crate) fn parse<P: DeserializeOwned>(arguments: &Value) -> Result<P, Issue> {
    match serde_path_to_error::deserialize(arguments) {
        Ok(parsed) => Ok(parsed),
        Err(first) => {
            let mut plain = arguments.clone();
            if plain_numbers(&mut plain)
                && let Ok(parsed) = serde_path_to_error::deserialize(&plain)
            {
                return Ok(parsed);
            }
            Err(issue(
                arguments,
                &pointer(first.path()),
                &first.inner().to_string(),
            ))
        }
    }
}

/// The issue in what rmcp's own extractor says; `None` where it says something else.
pub(crate) fn of_rmcp(text: &str) -> Option<Issue> {
    let what = text.strip_prefix(RMCP_REFUSAL)?.trim();
    // The arguments as a whole are not what is wrong, and where it is rmcp doesn't say.
    Some(Issue {
        received: None,
        ..issue(&Value::Null, "", what)
    })
}

/// What serde says, without the place in a text that nobody sees.
fn issue(arguments: &Value, path: &str, serde: &str) -> Issue {
    let what = serde.split(" at line ").next().unwrap_or(serde);
    about(
        arguments,
        path,
        UNREADABLE,
        format!("the tool can't read it: {what}"),
    )
}

fn pointer(path: &Path) -> String {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        // The variant of an enum is no place in the JSON.
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(step).collect()
}

/// Makes numbers readable for serde's buffered forms (`tag`, `untagged`, `flatten`), which can't take numbers that are
/// kept exactly (`arbitrary_precision`): `1.10` becomes 1.1 and `1E2` 100. Integers stay as they are, however long.
/// Returns whether anything changed.
pub(crate) fn plain_numbers(value: &mut Value) -> bool {
    match value {
        Value::Number(number) if number.as_i64().is_none() && number.as_u64().is_none() => {
            let fractional = number.to_string().contains(['.', 'e', 'E']);
            let Some(float) = number.as_f64().filter(|float| fractional && float.is_finite()) else {
                return false;
            };
            *value = plain(float);
            true
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |changed, item| plain_numbers(item) | changed),
        Value::Object(members) => members
            .values_mut()
            .fold(false, |changed, member| plain_numbers(member) | changed),
        _ => false,
    }
}

fn plain(float: f64) -> Value {
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        return json!(float as i64);
    }
    json!(float)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Price {
        amount: f64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Order {
        guests: u8,
        #[serde(flatten)]
        price: Price,
        #[serde(default)]
        dates: Vec<Date>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(try_from = "String")]
    struct Date(String);

    impl TryFrom<String> for Date {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            if text == "30/02/2027" {
                Err("no such day".to_owned())
            } else {
                Ok(Self(text))
            }
        }
    }

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("it is JSON")
    }

    #[test]
    fn numbers_that_serde_could_not_read_are_read() {
        for (amount, expected) in [("95.50", 95.5), ("1E2", 100.0), ("0.1", 0.1), ("7", 7.0)] {
            let given = json(&format!(r#"{{"guests": 2, "amount": {amount}}}"#));
            let order: Order = parse(&given).expect("it fits");
            assert_eq!(order.price.amount, expected);
        }
    }

    #[test]
    fn exact_numbers_reach_types_that_want_them() {
        let number: serde_json::Number = parse(&json("1.10")).expect("it fits");
        assert_eq!(number.to_string(), "1.10");
    }

    #[test]
    fn what_serde_refuses_is_an_issue_with_its_path() {
        let given = json(r#"{"guests": 2, "amount": 1, "dates": ["01/02/2027", "30/02/2027"]}"#);
        let issue = parse::<Order>(&given).expect_err("there is no such day");
        assert!(issue.expected.contains("no such day"), "{issue:?}");
        let given = json(r#"{"guests": 1000, "amount": 1}"#);
        let issue = parse::<Plain>(&given).expect_err("a u8");
        assert_eq!(
            (issue.path.as_str(), issue.received.as_deref()),
            ("/guests", Some("1000"))
        );
    }

    #[derive(Debug, Deserialize)]
    struct Plain {
        #[expect(dead_code, reason = "read by serde only")]
        guests: u8,
    }

    #[test]
    fn long_integers_stay() {
        let mut value = json(r#"{"id": 123456789012345678901234, "x": [1.50]}"#);
        assert!(plain_numbers(&mut value));
        assert_eq!(value.to_string(), r#"{"id":123456789012345678901234,"x":[1.5]}"#);
        assert!(!plain_numbers(&mut json("[1, 2]")));
    }

    #[test]
    fn rmcps_sentence_is_recognised_and_no_other() {
        let issue = of_rmcp("failed to deserialize parameters: missing field `a` at line 1 column 2");
        let issue = issue.expect("it is rmcp's");
        assert_eq!(issue.expected, "the tool can't read it: missing field `a`");
        assert_eq!(of_rmcp("Error: failed to deserialize parameters: x"), None);
    }
}
