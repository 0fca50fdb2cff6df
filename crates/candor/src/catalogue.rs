//! Tools as their callers see them, and their schemas, compiled once for each content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use candor_core::contract::schema::{Formats, Schema, SchemaFault};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use crate::schema::accepted;

/// Most tools whose schemas are kept. A server that makes up a tool for every caller compiles anew above it.
const KEPT: usize = 1024;

/// Compiled schemas by tool. Lists may differ by caller, so only what is compiled is kept, and compared by content.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<HashMap<String, Arc<Compiled>>>);

/// The schemas of one tool.
#[derive(Debug)]
pub(crate) struct Compiled {
    input_source: Arc<JsonObject>,
    output_source: Option<Arc<JsonObject>>,
    /// `None` where it can't be used: this tool's arguments go unchecked, and no other's.
    pub(crate) input: Option<Schema>,
    /// `None` where there is none, or it can't be used.
    pub(crate) output: Option<Schema>,
    takes_acceptance: OnceLock<bool>,
}

impl Catalogue {
    /// The schemas of a tool.
    pub(crate) fn of(&self, tool: &Tool) -> Arc<Compiled> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = kept
            .get(tool.name.as_ref())
            .filter(|compiled| compiled.is_of(tool))
        {
            return compiled.clone();
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let compiled = Arc::new(Compiled::new(tool));
        kept.insert(tool.name.to_string(), compiled.clone());
        compiled
    }
}

impl Compiled {
    fn new(tool: &Tool) -> Self {
        let usable = |which: &str, schema: &JsonObject| {
            compile(schema)
                .inspect_err(
                    |fault| tracing::warn!(tool = %tool.name, which, %fault, "a schema can't be used"),
                )
                .ok()
        };
        Self {
            input: usable("inputSchema", &tool.input_schema),
            output: tool
                .output_schema
                .as_ref()
                .and_then(|schema| usable("outputSchema", schema)),
            input_source: tool.input_schema.clone(),
            output_source: tool.output_schema.clone(),
            takes_acceptance: OnceLock::new(),
        }
    }

    fn is_of(&self, tool: &Tool) -> bool {
        let same = |old: &Arc<JsonObject>, new: &Arc<JsonObject>| Arc::ptr_eq(old, new) || old == new;
        let output = match (&self.output_source, &tool.output_schema) {
            (Some(old), Some(new)) => same(old, new),
            (None, None) => true,
            _ => false,
        };
        output && same(&self.input_source, &tool.input_schema)
    }

    /// Does this value break the tool's `outputSchema`? A schema that can't be used binds nobody.
    pub(crate) fn is_broken_by(&self, value: &Value) -> bool {
        self.output
            .as_ref()
            .is_some_and(|schema| schema.violations(value, 0).total > 0)
    }

    /// May an accepted call carry its structure by the tool's `outputSchema`? A schema that can't be used binds nobody.
    pub(crate) fn takes_acceptance(&self) -> bool {
        *self.takes_acceptance.get_or_init(|| {
            self.output
                .as_ref()
                .is_none_or(|schema| schema.violations(&accepted("x"), 0).total == 0)
        })
    }
}

/// Compiles a schema as it is advertised.
///
/// # Errors
///
/// [`SchemaFault`]: why it can't be used.
pub(crate) fn compile(schema: &JsonObject) -> Result<Schema, SchemaFault> {
    let text = serde_json::to_string(schema).unwrap_or_default();
    Schema::compile(&text, Formats::Annotate)
}

#[cfg(test)]
mod tests {
    use rmcp::model::object;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_compiled_once_for_each_content() {
        let catalogue = Catalogue::default();
        let tool = |maximum: u8| {
            Tool::new(
                "t",
                "d",
                object(json!({ "type": "object", "maxProperties": maximum })),
            )
        };
        let first = catalogue.of(&tool(1));
        assert!(Arc::ptr_eq(&first, &catalogue.of(&tool(1))));
        assert!(!Arc::ptr_eq(&first, &catalogue.of(&tool(2))));
    }

    #[test]
    fn an_unusable_schema_costs_its_own_tool_only() {
        let catalogue = Catalogue::default();
        let bad = Tool::new("bad", "d", object(json!({ "type": "nonsense" })));
        let good = Tool::new("good", "d", object(json!({ "type": "object" })));
        assert!(catalogue.of(&bad).input.is_none());
        assert!(catalogue.of(&good).input.is_some());
    }

    #[test]
    fn a_plain_output_schema_takes_no_acceptance() {
        let catalogue = Catalogue::default();
        let input = object(json!({ "type": "object" }));
        let plain = object(json!({ "type": "object", "required": ["id"] }));
        let strict = Tool::new("t", "d", input.clone()).with_raw_output_schema(Arc::new(plain));
        assert!(!catalogue.of(&strict).takes_acceptance());
        assert!(catalogue.of(&Tool::new("t", "d", input)).takes_acceptance());
    }
}
