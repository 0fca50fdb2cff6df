//! Tools whose schemas are written by hand: they are listed as they are, member by member.

use candor::{Outcome, Parameters};
use rmcp::model::ContentBlock;
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::everything::Everything;
use super::super::fixtures::{shown, verbatim};

/// What `test_custom_header` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Header {
    value: String,
}

/// What `json_schema_2020_12_tool` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Person {
    name: Option<String>,
}

fn header() -> Value {
    json!({
        "type": "object",
        "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
        "required": ["value"]
    })
}

fn person() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
        "if": { "required": ["address"] },
        "then": { "properties": { "address": { "required": ["street"] } } },
        "else": { "required": ["name"] },
        "additionalProperties": false
    })
}

#[tool_router(router = schema_tools, vis = "pub(in super::super)")]
impl Everything {
    #[tool(description = "Has a schema of JSON Schema 2020-12", input_schema = verbatim(person()))]
    async fn json_schema_2020_12_tool(&self, Parameters(person): Parameters<Person>) -> Outcome<()> {
        let name = person.name.as_deref().unwrap_or("whoever lives there");
        shown([ContentBlock::text(format!("Hello, {name}!"))])
    }

    #[tool(description = "Repeats what came as a header too", input_schema = verbatim(header()))]
    async fn test_custom_header(&self, Parameters(header): Parameters<Header>) -> Outcome<()> {
        shown([ContentBlock::text(header.value)])
    }
}
