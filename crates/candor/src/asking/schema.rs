//! Fields as JSON Schema, in the shapes of the specification.

use serde_json::{Map, Value, json};

use super::field::{Choice, Choices, Field, Format, Known, Naming};

impl Field {
    /// Its title.
    pub(super) fn title(&self) -> Option<&str> {
        match self {
            Self::Text(field) => field.title.as_deref(),
            Self::Number(field) => field.title.as_deref(),
            Self::Integer(field) => field.title.as_deref(),
            Self::Boolean(field) => field.title.as_deref(),
            Self::Choice(field) => field.title.as_deref(),
            Self::Choices(field) => field.title.as_deref(),
        }
    }

    /// Its schema, as the specification's revisions from 2025-11-25 have it.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Text(text) => {
                let mut out = begun("string", text.title.as_ref(), text.description.as_ref());
                put(&mut out, "minLength", text.least);
                put(&mut out, "maxLength", text.most);
                put(&mut out, "format", text.format.map(Format::name));
                put(&mut out, "default", text.default.clone());
                Value::Object(out)
            }
            Self::Number(number) => {
                let mut out = begun("number", number.title.as_ref(), number.description.as_ref());
                put(&mut out, "minimum", number.least);
                put(&mut out, "maximum", number.most);
                put(&mut out, "default", number.default);
                Value::Object(out)
            }
            Self::Integer(integer) => {
                let mut out = begun("integer", integer.title.as_ref(), integer.description.as_ref());
                put(&mut out, "minimum", integer.least);
                put(&mut out, "maximum", integer.most);
                put(&mut out, "default", integer.default);
                Value::Object(out)
            }
            Self::Boolean(boolean) => {
                let mut out = begun("boolean", boolean.title.as_ref(), boolean.description.as_ref());
                if let Known::Is(default) = boolean.default {
                    put(&mut out, "default", Some(default));
                }
                Value::Object(out)
            }
            Self::Choice(choice) => choice.schema(),
            Self::Choices(choices) => choices.schema(),
        }
    }
}

impl Choice {
    fn schema(&self) -> Value {
        let mut out = begun("string", self.title.as_ref(), self.description.as_ref());
        match self.naming {
            Naming::Plain => put(&mut out, "enum", Some(values(&self.options))),
            Naming::Titled => put(&mut out, "oneOf", Some(consts(&self.options))),
            Naming::EnumNames => {
                put(&mut out, "enum", Some(values(&self.options)));
                let names: Vec<&str> = self.options.iter().map(|(_, title)| title.as_str()).collect();
                put(&mut out, "enumNames", Some(names));
            }
        }
        put(&mut out, "default", self.default.clone());
        Value::Object(out)
    }
}

impl Choices {
    fn schema(&self) -> Value {
        let mut out = begun("array", self.title.as_ref(), self.description.as_ref());
        put(&mut out, "minItems", self.least);
        put(&mut out, "maxItems", self.most);
        let items = match self.naming {
            Naming::Titled => json!({ "anyOf": consts(&self.options) }),
            Naming::Plain | Naming::EnumNames => json!({ "type": "string", "enum": values(&self.options) }),
        };
        out.insert("items".to_owned(), items);
        put(&mut out, "default", self.default.clone());
        Value::Object(out)
    }
}

fn begun(kind: &str, title: Option<&String>, description: Option<&String>) -> Map<String, Value> {
    let mut out = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    put(&mut out, "title", title.cloned());
    put(&mut out, "description", description.cloned());
    out
}

fn put(out: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        out.insert(name.to_owned(), value.into());
    }
}

fn values(options: &[(String, String)]) -> Vec<&str> {
    options.iter().map(|(value, _)| value.as_str()).collect()
}

fn consts(options: &[(String, String)]) -> Vec<Value> {
    options
        .iter()
        .map(|(value, title)| json!({ "const": value, "title": title }))
        .collect()
}
