//! Any text as a JSON Schema, and any value under it: compiling and checking always end with an answer, which is the
//! same one every time, and counts what it says it counts. An input is `schema`, or `schema`, `---`, `value`.

use candor_core::contract::schema::{Formats, Schema, Validation};
use serde_json::{Value, json};

use crate::broken::{Broken, law};
use crate::input::{parts, text};

/// Words that schemas are made of.
pub(crate) const WORDS: &[&str] = &[
    "\"type\":\"object\"",
    "\"type\":[\"integer\",\"null\"]",
    "\"string\"",
    "\"integer\"",
    "\"number\"",
    "\"boolean\"",
    "\"array\"",
    "\"object\"",
    "\"null\"",
    "\"properties\":{\"a\":{\"type\":\"integer\"}}",
    "\"required\":[\"a\"]",
    "\"additionalProperties\":false",
    "\"unevaluatedProperties\":false",
    "\"patternProperties\":{\"^x\":{}}",
    "\"pattern\":\"^(a+)+$\"",
    "\"pattern\":\"(?=.*x)\"",
    "\"enum\":[1,\"1\",null]",
    "\"const\":1.0",
    "\"format\":\"date\"",
    "\"format\":\"regex\"",
    "\"$ref\":\"#\"",
    "\"$ref\":\"#/$defs/a\"",
    "\"$defs\":{\"a\":{\"$ref\":\"#\"}}",
    "\"definitions\":{}",
    "\"$dynamicRef\":\"#x\"",
    "\"$dynamicAnchor\":\"x\"",
    "\"$recursiveRef\":\"#\"",
    "\"$id\":\"http://x/y\"",
    "\"id\":\"#z\"",
    "\"$anchor\":\"q\"",
    "\"$schema\":\"http://json-schema.org/draft-04/schema#\"",
    "\"$schema\":\"http://json-schema.org/draft-07/schema#\"",
    "\"$schema\":\"https://json-schema.org/draft/2019-09/schema\"",
    "\"oneOf\":[{},{}]",
    "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]",
    "\"allOf\":[{\"$ref\":\"#/$defs/a\"}]",
    "\"not\":{}",
    "\"if\":{},\"then\":{},\"else\":false",
    "\"items\":{\"type\":\"integer\"}",
    "\"items\":[{},{}]",
    "\"prefixItems\":[{}]",
    "\"contains\":{}",
    "\"minContains\":0",
    "\"uniqueItems\":true",
    "\"minimum\":1e400",
    "\"multipleOf\":0.01",
    "\"multipleOf\":0",
    "\"maxLength\":3",
    "\"minItems\":1e9",
    "\"dependentRequired\":{\"a\":[\"b\"]}",
    "\"dependentSchemas\":{\"a\":{}}",
    "\"dependencies\":{\"a\":[\"b\"]}",
    "\"propertyNames\":{\"maxLength\":2}",
    "\"description\":\"a day, dd/mm/yyyy\"",
    "\"exclusiveMinimum\":true",
    "\"nullable\":true",
];

/// Issues asked for.
const ASKED: usize = 5;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let text = text(input);
    let [raw, value] = parts(&text);
    for formats in [Formats::Annotate, Formats::Assert] {
        let (one, other) = (Schema::compile(raw, formats), Schema::compile(raw, formats));
        let schema = match (one, other) {
            (Ok(schema), Ok(_)) => schema,
            (Err(one), Err(other)) => {
                law(
                    "a fault is the same every time, and says something",
                    one == other,
                    || format!("{one} and {other}"),
                )?;
                continue;
            }
            (one, other) => {
                return Err(Broken {
                    law: "a schema compiles every time or never",
                    seen: format!("{one:?} and {other:?}"),
                });
            }
        };
        law("a schema is kept as it came", schema.raw() == raw, || {
            schema.raw().to_owned()
        })?;
        let instances = [serde_json::from_str(value).unwrap_or(Value::Null), sample()];
        for instance in &instances {
            let found = schema.violations(instance, ASKED);
            counted(&found)?;
            law(
                "a value is judged the same every time",
                found == schema.violations(instance, ASKED),
                || format!("{found:?}"),
            )?;
            let more = schema.violations(instance, ASKED + 1);
            law(
                "asking for more words changes no count",
                found.total == more.total,
                || format!("{found:?} and {more:?}"),
            )?;
        }
    }
    Ok(())
}

fn counted(found: &Validation) -> Result<(), Broken> {
    let sane = found.issues.len() <= ASKED
        && found.total >= found.issues.len()
        && found.format_doubts.len() <= ASKED
        && (found.total > 0) != found.is_clean();
    law(
        "an answer has as many issues as asked for, and counts all",
        sane,
        || format!("{found:?}"),
    )?;
    let pointers = found
        .issues
        .iter()
        .all(|issue| is_pointer(&issue.path) && !issue.rule.is_empty());
    law("every issue says where and by which rule", pointers, || {
        format!("{found:?}")
    })
}

/// Is this a JSON Pointer (RFC 6901) as far as its start goes?
pub(crate) fn is_pointer(path: &str) -> bool {
    path.is_empty() || path.starts_with('/')
}

/// A value with a bit of everything.
pub(crate) fn sample() -> Value {
    json!({ "a": "5", "b": [1, 1.5, "x", null, [], {}], "c": { "a": true, "d": "2025-02-30" }, "x1": "aaaaaaaaaaaaaaaaaaaaaaaa!" })
}
