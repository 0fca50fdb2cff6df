//! Schemas of tools, derived from Rust types as a model and a strict client can use them.

use std::any::Any;
use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value, json};

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
pub struct NoArguments {}

/// A type whose schema can't be an `inputSchema`: the protocol wants an object there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct NotAnObject {
    /// Which type, and what it is instead.
    pub what: String,
}

/// The `inputSchema` of a tool whose arguments are a `P`: JSON Schema 2020-12 of what serde accepts, without the
/// `format`s that only Rust knows (`uint32`, `double`: clients complain of formats they don't know).
///
/// # Errors
///
/// [`NotAnObject`] where `P` is no object.
pub fn input_schema<P: JsonSchema + Any>() -> Result<Arc<JsonObject>, NotAnObject> {
    let schema = schema_for_input::<P>().map_err(|what| NotAnObject {
        what: format!("{}: {what}", std::any::type_name::<P>()),
    })?;
    Ok(Arc::new(without_rust_formats((*schema).clone())))
}

/// The `outputSchema` of a tool that answers with a `T` or accepts: `T`'s schema, or
/// `{"outcome": "accepted", "reference": ..}`. A strict client takes both, and can't take one for the other.
///
/// For tools by macro: `#[tool(output_schema = candor::output_schema::<Booking>())]`. Tools without macros have it by
/// themselves. `T` should be an object: clients before 2026-07-28 know no other structure, and rmcp shows them neither
/// schema nor structure then.
pub fn output_schema<T: JsonSchema + Any>() -> Arc<JsonObject> {
    let mut own = without_rust_formats((*schema_for_output::<T>()).clone());
    let defs = own.shift_remove("$defs");
    let dialect = own.shift_remove("$schema");
    let mut out = JsonObject::new();
    if let Some(dialect) = dialect {
        out.insert("$schema".to_owned(), dialect);
    }
    if is_object(&own) {
        out.insert("type".to_owned(), json!("object"));
    }
    out.insert("anyOf".to_owned(), json!([own, accepted_schema()]));
    if let Some(defs) = defs {
        out.insert("$defs".to_owned(), defs);
    }
    Arc::new(out)
}

/// The `outputSchema` of a tool by itself; `None` where `T` is no object, and a schema would bind nobody.
pub(crate) fn promised<T: JsonSchema + Any>() -> Option<Arc<JsonObject>> {
    is_object(&schema_for_output::<T>()).then(output_schema::<T>)
}

/// What an accepted call has as structure.
pub(crate) fn accepted(reference: &str) -> Value {
    json!({ "outcome": "accepted", "reference": reference })
}

fn accepted_schema() -> Value {
    json!({
        "type": "object",
        "description": "The call was taken on and is not done yet.",
        "properties": {
            "outcome": { "const": "accepted" },
            "reference": { "type": "string", "description": "What it can be followed by." },
        },
        "required": ["outcome", "reference"],
    })
}

/// Does a schema admit objects only? Said by its type, or by each of its alternatives.
fn is_object(schema: &JsonObject) -> bool {
    let alternatives = |name: &str| {
        let all = schema.get(name).and_then(Value::as_array);
        all.is_some_and(|all| !all.is_empty() && all.iter().all(|one| one.as_object().is_some_and(is_object)))
    };
    schema.get("type").is_some_and(|kind| kind == "object") || alternatives("oneOf") || alternatives("anyOf")
}

fn without_rust_formats(mut schema: JsonObject) -> JsonObject {
    strip(&mut schema);
    schema
}

fn strip(schema: &mut JsonObject) {
    if schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(is_rust_format)
    {
        schema.shift_remove("format");
    }
    for (name, part) in schema.iter_mut() {
        match (name.as_str(), part) {
            // Values and not schemas: whatever they hold is the author's.
            ("default" | "const" | "enum" | "examples", _) => {}
            (_, Value::Object(part)) => strip(part),
            (_, Value::Array(parts)) => parts.iter_mut().filter_map(Value::as_object_mut).for_each(strip),
            _ => {}
        }
    }
}

/// The formats that schemars writes for Rust's numbers; JSON Schema knows none of them.
fn is_rust_format(format: &str) -> bool {
    let width = format.strip_prefix('u').unwrap_or(format).strip_prefix("int");
    matches!(format, "float" | "double")
        || width.is_some_and(|width| width.chars().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use candor_core::contract::schema::{Formats, Schema};

    use super::*;

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Booking {
        /// Which.
        id: String,
        guests: u32,
        price: f64,
        format: Option<String>,
        room: Option<Room>,
    }

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Room {
        number: u16,
    }

    fn compiled(schema: &JsonObject) -> Schema {
        let text = serde_json::to_string(schema).expect("it is JSON");
        Schema::compile(&text, Formats::Annotate).expect("it is a schema")
    }

    #[test]
    fn rust_formats_go_and_everything_else_stays() {
        let schema = input_schema::<Booking>().expect("it is an object");
        let text = serde_json::to_string(&*schema).expect("it is JSON");
        assert!(!text.contains("uint") && !text.contains("double"), "{text}");
        assert!(
            schema["properties"]["format"].is_object(),
            "a property of that name stays"
        );
        assert_eq!(schema["properties"]["guests"]["minimum"], json!(0));
        assert_eq!(schema["properties"]["id"]["description"], json!("Which."));
        let kept = ["date", "uri", "int-ish", "interval", "u"];
        assert!(kept.iter().all(|format| !is_rust_format(format)));
        assert!(
            ["int", "uint", "int8", "uint128", "float"]
                .iter()
                .all(|format| is_rust_format(format))
        );
    }

    #[test]
    fn an_output_schema_takes_the_result_or_an_acceptance_and_nothing_between() {
        let schema = compiled(&output_schema::<Booking>());
        let total = |value: Value| schema.violations(&value, 5).total;
        let whole =
            json!({ "id": "b-1", "guests": 2, "price": 9.5, "format": null, "room": { "number": 7 } });
        assert_eq!(total(whole), 0);
        assert_eq!(total(accepted("job-1")), 0);
        assert_ne!(total(json!({ "outcome": "accepted" })), 0);
        assert_ne!(total(json!({ "id": "b-1" })), 0);
    }

    #[test]
    fn what_is_no_object_promises_nothing() {
        assert!(promised::<String>().is_none());
        assert!(promised::<Vec<Booking>>().is_none());
        assert!(promised::<Booking>().is_some());
        assert!(input_schema::<String>().is_err());
        assert!(input_schema::<NoArguments>().is_ok());
    }
}
