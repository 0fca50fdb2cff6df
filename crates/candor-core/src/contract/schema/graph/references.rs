//! Where a `$ref` leads inside its document: by pointer, by anchor, by embedded `$id`.

use std::collections::HashMap;

use serde_json::Value;

use super::child_pointer;
use crate::contract::schema::dialect::Dialect;

/// Places that a reference can name other than by pointer.
pub(super) struct Marks {
    /// `$anchor`, `$dynamicAnchor`, and draft-07's `$id: "#name"`, with where they stand.
    pub(super) anchors: HashMap<String, Vec<String>>,
    /// `$id` with where it stands.
    pub(super) resources: Vec<(String, String)>,
}

impl Marks {
    /// All places of `schema` that a reference can name.
    pub(super) fn collect(schema: &Value, dialect: Dialect) -> Self {
        let id_keyword = if dialect == Dialect::Draft04 { "id" } else { "$id" };
        let mut marks = Self {
            anchors: HashMap::new(),
            resources: Vec::new(),
        };
        let mut pending = vec![(String::new(), schema)];
        while let Some((pointer, value)) = pending.pop() {
            match value {
                Value::Object(members) => {
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(name)) = members.get(keyword) {
                            marks
                                .anchors
                                .entry(name.clone())
                                .or_default()
                                .push(pointer.clone());
                        }
                    }
                    if let Some(Value::String(id)) = members.get(id_keyword) {
                        match id.strip_prefix('#') {
                            Some(name) => marks
                                .anchors
                                .entry(name.to_owned())
                                .or_default()
                                .push(pointer.clone()),
                            None => marks
                                .resources
                                .push((id.trim_end_matches('#').to_owned(), pointer.clone())),
                        }
                    }
                    for (name, member) in members {
                        if member.is_object() || member.is_array() {
                            pending.push((child_pointer(&pointer, name), member));
                        }
                    }
                }
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        if item.is_object() || item.is_array() {
                            pending.push((child_pointer(&pointer, &index.to_string()), item));
                        }
                    }
                }
                _ => {}
            }
        }
        marks
    }

    /// The innermost resource that `pointer` lies in.
    fn resource_of<'m>(&'m self, pointer: &str) -> &'m str {
        self.resources
            .iter()
            .map(|(_, at)| at.as_str())
            .filter(|at| {
                pointer
                    .strip_prefix(at)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .max_by_key(|at| at.len())
            .unwrap_or("")
    }

    /// Where `reference`, written at `from`, may lead inside this document; empty if it leaves it.
    pub(super) fn targets(&self, from: &str, reference: &str) -> Vec<String> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if resource.is_empty() {
            self.resource_of(from)
        } else {
            // Relative ids are matched by their end: only the wording and the count of work depend on it.
            let same = |id: &str| id == resource || id.ends_with(resource) || resource.ends_with(id);
            match self.resources.iter().find(|(id, _)| !id.is_empty() && same(id)) {
                Some((_, at)) => at,
                None => return Vec::new(),
            }
        };
        if fragment.is_empty() {
            vec![base.to_owned()]
        } else if fragment.starts_with('/') {
            vec![canonical(base, &percent_decoded(fragment))]
        } else {
            self.anchors.get(fragment).cloned().unwrap_or_default()
        }
    }
}

/// `base` extended by `fragment`, each step escaped anew: two spellings of one place must not make two nodes.
fn canonical(base: &str, fragment: &str) -> String {
    fragment
        .split('/')
        .skip(1)
        .fold(base.to_owned(), |pointer, step| {
            child_pointer(&pointer, &step.replace("~1", "/").replace("~0", "~"))
        })
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let mut rest = bytes.clone();
        let code = match (byte, rest.next(), rest.next()) {
            (b'%', Some(high), Some(low)) => hex(high).zip(hex(low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        if code.is_some() {
            bytes = rest;
        }
        decoded.push(code.unwrap_or(byte));
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
