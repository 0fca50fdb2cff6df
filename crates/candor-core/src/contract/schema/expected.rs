//! What a schema wants, in words that can be acted on: built from the schema, never from the validator's prose.

use jsonschema::JsonType;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::findings::{Breach, Fault, Wanted};
use super::graph::{Graph, How, NodeId};
use super::phrases::{
    Facets, MAX_BORROWED, TYPES, UNDESCRIBED, contains_count, cut, declared_types, joined, more,
    number_words, of_kind, range_words, string_words, type_names,
};
use super::received::{plain, received};
use crate::arguments::nearest;

/// Most `enum` values named.
const MAX_OPTIONS: usize = 8;
/// How many of a long `enum` are named: the nearest ones.
const NEAREST_OPTIONS: usize = 5;
/// Most members of an object named.
const MAX_MEMBERS: usize = 6;
/// Most alternatives described, and the deepest.
const MAX_ALTERNATIVES: usize = 4;
/// Most parts looked at for one description.
const MAX_PARTS: usize = 32;

/// The words for one fault: what is expected, and a way out where one is known.
pub(super) struct Words {
    pub(super) expected: String,
    pub(super) hint: Option<String>,
}

/// Reads words out of one schema.
pub(super) struct Wording<'s> {
    pub(super) source: &'s Value,
    pub(super) graph: &'s Graph,
}

impl<'s> Wording<'s> {
    /// The words for `fault`, which `instance` (the value at its path) broke.
    pub(super) fn of(&self, fault: &Fault<'_>, instance: Option<&Value>) -> Words {
        let owner = self.owner(fault);
        let facets = self.facets(owner);
        let (expected, hint) = match &fault.breach {
            Breach::Type(wanted) => (self.of_type(*wanted, owner, fault), null_hint(*wanted, instance)),
            Breach::Missing(name) => {
                let member = owner.and_then(|id| self.member(id, name, 0));
                (
                    member.map_or_else(|| UNDESCRIBED.to_owned(), |id| self.describe(id, 0)),
                    None,
                )
            }
            Breach::UnknownName => (self.known_names(owner), None),
            Breach::Options(options) => of_options(options, instance),
            Breach::Presence(sets) => (of_presence(sets), None),
            Breach::Name(kind) => (format!("a name that is {}", of_kind(kind, &facets).0), None),
            Breach::Other(ValidationErrorKind::Not { schema }) => {
                let unwanted = self
                    .not(owner)
                    .map_or_else(|| received(schema, ""), |id| self.describe(id, 1));
                (format!("something other than {unwanted}"), None)
            }
            Breach::Other(ValidationErrorKind::Contains) => {
                let item = owner.and_then(|id| self.sub(id, "contains"));
                let item = item.map_or_else(|| "wanted".to_owned(), |id| self.describe(id, 1));
                (format!("{} that are {item}", contains_count(&facets)), None)
            }
            Breach::Other(kind) => of_kind(kind, &facets),
        };
        Words {
            expected: cut(&expected),
            hint: hint.map(|hint| cut(&hint)).or_else(|| closest_of(fault)),
        }
    }

    /// The part of the schema that the broken keyword stands in.
    pub(super) fn owner(&self, fault: &Fault<'_>) -> Option<NodeId> {
        let origin = fault.origin;
        let base = match origin.absolute_keyword_location() {
            Some(uri) => self
                .graph
                .resource(uri.as_str().split('#').next().unwrap_or_default())?,
            None => "",
        };
        let mut pointer = format!("{base}{}", origin.schema_path().as_str());
        // The keyword's value may be an array (`items`, draft-07's `dependencies`): climb to the part that is known.
        while let Some((shorter, _)) = pointer.rsplit_once('/') {
            pointer.truncate(shorter.len());
            if let Some(id) = self.graph.at(&pointer) {
                return Some(id);
            }
        }
        None
    }

    fn facets(&self, id: Option<NodeId>) -> Facets<'s> {
        let mut parts = Vec::new();
        let mut pending: Vec<NodeId> = id.into_iter().collect();
        let mut seen = Vec::new();
        while let Some(id) = pending.pop() {
            if seen.contains(&id) || seen.len() >= MAX_PARTS {
                continue;
            }
            seen.push(id);
            let Some(node) = self.graph.node(id) else { continue };
            parts.extend(self.source.pointer(&node.pointer).and_then(Value::as_object));
            pending.extend(
                node.in_place
                    .iter()
                    .rev()
                    .filter(|(how, _)| *how == How::Always)
                    .map(|(_, id)| *id),
            );
        }
        Facets(parts)
    }

    /// The part for the member `name`, through everything that applies in place.
    fn member(&self, id: NodeId, name: &str, depth: usize) -> Option<NodeId> {
        let node = self.graph.node(id)?;
        node.properties.get(name).copied().or_else(|| {
            let parts = node
                .in_place
                .iter()
                .filter(|(how, _)| *how != How::Negated && depth < MAX_ALTERNATIVES);
            parts
                .into_iter()
                .find_map(|(_, part)| self.member(*part, name, depth + 1))
        })
    }

    fn sub(&self, id: NodeId, keyword: &str) -> Option<NodeId> {
        self.graph.at(&super::graph::child_pointer(
            &self.graph.node(id)?.pointer,
            keyword,
        ))
    }

    fn not(&self, id: Option<NodeId>) -> Option<NodeId> {
        self.sub(id?, "not")
    }

    fn known_names(&self, owner: Option<NodeId>) -> String {
        known_names_words(&owner.map(|id| self.graph.known_names(id)).unwrap_or_default())
    }

    fn of_type(&self, wanted: Wanted, owner: Option<NodeId>, fault: &Fault<'_>) -> String {
        if fault.is_merged() {
            return match owner {
                Some(id) => self.describe_alternatives(id, wanted),
                None => type_names(wanted),
            };
        }
        let facets = self.facets(owner);
        if let Some(options) = facets.get("enum").and_then(Value::as_array) {
            return of_options(&options.iter().collect::<Vec<_>>(), None).0;
        }
        let kinds = TYPES.iter().filter(|kind| wanted.admits(**kind));
        let words: Vec<String> = kinds
            .map(|kind| match (kind, self.one_type(*kind, &facets, owner, 0)) {
                // What came is no string at all: words that only describe the text would hide that.
                (JsonType::String, words) if !words.contains("string") => format!("a string, {words}"),
                (_, words) => words,
            })
            .collect();
        joined(&words)
    }

    fn describe_alternatives(&self, id: NodeId, wanted: Wanted) -> String {
        let Some(node) = self.graph.node(id) else {
            return type_names(wanted);
        };
        let branches: Vec<NodeId> = node
            .in_place
            .iter()
            .filter(|(how, _)| *how == How::Perhaps)
            .map(|(_, id)| *id)
            .collect();
        if branches.is_empty() || branches.len() > MAX_ALTERNATIVES {
            return type_names(wanted);
        }
        let words: Vec<String> = branches.iter().map(|id| self.describe(*id, 1)).collect();
        // Where a branch can't be described, the bare types say more.
        if words.iter().any(|words| words == UNDESCRIBED) {
            type_names(wanted)
        } else {
            joined(&words)
        }
    }

    /// One phrase for everything that the part `id` wants.
    fn describe(&self, id: NodeId, depth: usize) -> String {
        let pointer = self.graph.node(id).map_or("", |node| node.pointer.as_str());
        match self.source.pointer(pointer) {
            Some(Value::Bool(true)) => return "any value".to_owned(),
            Some(Value::Bool(false)) => return "nothing".to_owned(),
            _ => {}
        }
        let facets = self.facets(Some(id));
        if let Some(value) = facets.get("const") {
            return received(value, "");
        }
        if let Some(options) = facets.get("enum").and_then(Value::as_array) {
            return of_options(&options.iter().collect::<Vec<_>>(), None).0;
        }
        let kinds = declared_types(&facets);
        if !kinds.is_empty() {
            let words: Vec<String> = kinds
                .iter()
                .map(|kind| self.one_type(*kind, &facets, Some(id), depth))
                .collect();
            return joined(&words);
        }
        if depth < 2 && (facets.get("anyOf").is_some() || facets.get("oneOf").is_some()) {
            return self.describe_alternatives_of(id, depth);
        }
        if facets.get("properties").is_some() {
            return self.one_type(JsonType::Object, &facets, Some(id), depth);
        }
        facets.text("description").map_or_else(
            || UNDESCRIBED.to_owned(),
            |description| format!("a value described as \"{}\"", plain(description, MAX_BORROWED)),
        )
    }

    fn describe_alternatives_of(&self, id: NodeId, depth: usize) -> String {
        let branches: Vec<NodeId> = self.graph.node(id).map_or_else(Vec::new, |node| {
            node.in_place
                .iter()
                .filter(|(how, _)| *how == How::Perhaps)
                .map(|(_, id)| *id)
                .collect()
        });
        let shown: Vec<String> = branches
            .iter()
            .take(MAX_ALTERNATIVES)
            .map(|id| self.describe(*id, depth + 1))
            .collect();
        format!("{}{}", joined(&shown), more(branches.len(), shown.len()))
    }

    fn one_type(&self, kind: JsonType, facets: &Facets<'s>, owner: Option<NodeId>, depth: usize) -> String {
        match kind {
            JsonType::Null => "null".to_owned(),
            JsonType::Boolean => "true or false".to_owned(),
            JsonType::Integer => number_words("an integer", facets),
            JsonType::Number => number_words("a number", facets),
            JsonType::String => string_words(facets),
            JsonType::Array => {
                let item = owner.filter(|_| depth < 2).and_then(|id| self.items(id));
                let of = item.map_or_else(String::new, |id| {
                    format!(", each item {}", self.describe(id, depth + 1))
                });
                format!(
                    "an array{}{of}",
                    range_words(facets, "minItems", "maxItems", "item", "items")
                )
            }
            JsonType::Object => self.object_words(facets, owner, depth),
        }
    }

    fn items(&self, id: NodeId) -> Option<NodeId> {
        self.sub(id, "items").or_else(|| {
            let node = self.graph.node(id)?;
            node.in_place
                .iter()
                .find(|(how, _)| *how == How::Always)
                .and_then(|(_, id)| self.sub(*id, "items"))
        })
    }

    fn object_words(&self, facets: &Facets<'s>, owner: Option<NodeId>, depth: usize) -> String {
        let names = owner.map(|id| self.graph.known_names(id)).unwrap_or_default();
        if names.is_empty() || depth > 1 {
            return "an object".to_owned();
        }
        let required: Vec<&str> = facets
            .0
            .iter()
            .filter_map(|part| part.get("required").and_then(Value::as_array))
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let shown: Vec<String> = names
            .iter()
            .take(MAX_MEMBERS)
            .map(|name| {
                let member = owner.and_then(|id| self.member(id, name, 0));
                let kinds = member
                    .map(|id| declared_types(&self.facets(Some(id))))
                    .unwrap_or_default();
                let kinds: Vec<String> = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
                let needed = required.contains(name).then(|| "required".to_owned());
                let notes: Vec<String> = (!kinds.is_empty())
                    .then(|| joined(&kinds))
                    .into_iter()
                    .chain(needed)
                    .collect();
                if notes.is_empty() {
                    plain(name, 40)
                } else {
                    format!("{} ({})", plain(name, 40), notes.join(", "))
                }
            })
            .collect();
        format!(
            "an object with {}{}",
            shown.join(", "),
            more(names.len(), shown.len())
        )
    }
}

/// The names that a place lists, as what is expected of a name there.
pub(crate) fn known_names_words<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => return "no such name".to_owned(),
        [only] => return cut(&format!("the only known name, {}", plain(only.as_ref(), 40))),
        _ => {}
    }
    let shown: Vec<String> = names
        .iter()
        .take(2 * MAX_MEMBERS)
        .map(|name| plain(name.as_ref(), 40))
        .collect();
    cut(&format!(
        "one of the names {}{}",
        shown.join(", "),
        more(names.len(), shown.len())
    ))
}

/// Why this fault is told and not another, where there was a choice.
fn closest_of(fault: &Fault<'_>) -> Option<String> {
    (fault.alternatives > 1 && !fault.is_merged()).then(|| {
        format!(
            "by the closest of the schema's {} alternatives",
            fault.alternatives
        )
    })
}

/// The text "null" where null itself is admitted: hosts confuse the two.
fn null_hint(wanted: Wanted, instance: Option<&Value>) -> Option<String> {
    (instance.and_then(Value::as_str) == Some("null") && wanted.admits(JsonType::Null))
        .then(|| "the text \"null\" is not the value null".to_owned())
}

fn of_presence(sets: &[Vec<&str>]) -> String {
    let shown: Vec<String> = sets
        .iter()
        .take(MAX_OPTIONS)
        .map(|names| {
            names
                .iter()
                .map(|name| plain(name, 40))
                .collect::<Vec<_>>()
                .join(" and ")
        })
        .collect();
    format!(
        "an object that also has {}{}",
        joined(&shown),
        more(sets.len(), shown.len())
    )
}

/// The values admitted; of many only the nearest to what came, and their count.
fn of_options(options: &[&Value], instance: Option<&Value>) -> (String, Option<String>) {
    let texts: Vec<String> = options.iter().map(|option| received(option, "")).collect();
    let came = instance.map(|value| received(value, ""));
    if let [only] = texts.as_slice() {
        return (only.clone(), None);
    }
    let near = came
        .as_deref()
        .map(|came| nearest::values(came, &texts, NEAREST_OPTIONS))
        .unwrap_or_default();
    let hint = near
        .first()
        .filter(|index| {
            let option = texts.get(**index);
            option
                .zip(came.as_deref())
                .is_some_and(|(option, came)| nearest::is_slip(came, option))
        })
        .and_then(|index| texts.get(*index))
        .map(|option| format!("did you mean {option}?"));
    let expected = if texts.len() <= MAX_OPTIONS {
        format!("one of {}", texts.join(", "))
    } else {
        let shown: Vec<&str> = if near.is_empty() {
            texts.iter().take(NEAREST_OPTIONS).map(String::as_str).collect()
        } else {
            near.iter()
                .filter_map(|index| texts.get(*index))
                .map(String::as_str)
                .collect()
        };
        format!("one of {} values, the nearest: {}", texts.len(), shown.join(", "))
    };
    (expected, hint)
}
