//! A tool is recognised by what it takes: the digest of its input schema, whatever the order of the schema's members.

use candor_core::contract::tool::Listed;
use candor_core::record::bodies::digest;
use serde_json::Value;
use serde_json::value::RawValue;

/// `sha256:…` over the input schema of one member of `tools`, its members sorted; `None` where it has no readable one.
pub fn input_digest(definition: &RawValue) -> Option<String> {
    let listed = Listed::read(definition)?;
    let schema: Value = serde_json::from_str(listed.input()?.get()).ok()?;
    Some(format!("sha256:{}", digest(&sorted(&schema).to_string())))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            let sorted = members
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(sorted.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        input_digest(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn the_order_and_the_rest_of_a_definition_do_not_count_and_the_schema_does() {
        let one = of(r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}"#);
        let same =
            of(r#"{"inputSchema":{"properties":{"y":{},"x":{}},"type":"object"},"name":"a","title":"A"}"#);
        let other = of(r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{}}}}"#);
        assert!(
            one.as_deref()
                .is_some_and(|digest| digest.len() == "sha256:".len() + 64)
        );
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert_eq!(of(r#"{"name":"a"}"#), None);
    }
}
