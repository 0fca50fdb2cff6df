//! The JSON Schema of `candor.toml`, for editors. Made from the same structs that read the file.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::raw::RawConfig;

/// The schema of the whole file, in the dialect 2020-12. `docs/candor.schema.json` is its text.
pub fn json_schema() -> Value {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12()
        .with_transform(NoNull)
        .into_generator();
    let mut schema = generator.into_root_schema_for::<RawConfig>();
    schema.insert("title".to_owned(), json!("candor.toml"));
    schema.to_value()
}

/// TOML has no null: what is optional is left out. The generator writes optional members for JSON.
#[derive(Clone)]
struct NoNull;

impl Transform for NoNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        let Some(Value::Array(branches)) = schema.get_mut("anyOf") else {
            return;
        };
        branches.retain(|branch| branch != &json!({"type": "null"}));
        if let [only] = branches.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            if let Value::Object(members) = only {
                members
                    .into_iter()
                    .for_each(|(name, member)| drop(schema.insert(name, member)));
            }
        }
    }
}
