//! Names that a schema does not list: a slip for one it does list, or a wish of the caller's own.
//!
//! JSON Schema lets unlisted names pass where it says nothing about them, so a misspelled argument is ignored and the
//! call runs on the default. Refusing all would break callers who mean it; so only a near miss of a name that is not
//! set is refused, and any other is told.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::arguments::issue::Issue;
use crate::arguments::nearest;
use crate::contract::schema::{
    Graph, NodeId, Openness, Schema, child_pointer, known_names_words, parent, received, shown_path,
};

/// Most members and listed names looked at; beyond it names are the schema's business alone.
const MAX_VISITED: usize = 100_000;
/// Most pairs of names compared for likeness.
const MAX_COMPARED: usize = 20_000;
/// Deepest member looked at.
const MAX_DEPTH: usize = 64;

/// One object of the arguments for which the schema lists names.
struct Holder<'v> {
    path: String,
    members: &'v Map<String, Value>,
    /// All listed names, in the schema's order.
    known: Vec<&'v str>,
    /// The schema says itself what becomes of unlisted names.
    settled: bool,
}

/// What the names of a call came to.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names refused here, beside what the schema refuses itself.
    pub(super) issues: Vec<Issue>,
    /// Names that pass and are told: paths.
    pub(super) passed: Vec<String>,
}

/// Judges the unlisted names in `arguments` and links them with missing ones in `issues`, the schema's own.
pub(super) fn judge(schema: &Schema, arguments: &Value, issues: &mut [Issue], strict: bool) -> Names {
    if lists_all(schema.graph(), 0, arguments, 0) {
        return Names::default();
    }
    let mut walk = Walk {
        schema,
        holders: Vec::new(),
        visited: 0,
    };
    walk.visit(&[0], arguments, "", 0);
    let mut names = Names::default();
    let mut compared = 0;
    for holder in &walk.holders {
        judge_holder(holder, issues, strict, &mut names, &mut compared);
    }
    names
}

/// Does the schema list every name in `value`, seen without any part that applies in place? Then nothing is left to
/// judge; most calls are such. `false` says nothing.
fn lists_all(graph: &Graph, part: NodeId, value: &Value, depth: usize) -> bool {
    let Some(node) = graph.node(part) else {
        return false;
    };
    if depth > MAX_DEPTH || node.opaque || !node.in_place.is_empty() {
        return false;
    }
    match value {
        Value::Object(members) => members.iter().all(|(name, member)| {
            let listed = node.properties.get(name);
            listed.is_some_and(|part| lists_all(graph, *part, member, depth + 1))
        }),
        Value::Array(items) => match (node.prefix.as_slice(), node.items.as_slice()) {
            ([], [part]) => items.iter().all(|item| lists_all(graph, *part, item, depth + 1)),
            _ => items.iter().all(|item| !item.is_object() && !item.is_array()),
        },
        _ => true,
    }
}

fn judge_holder(
    holder: &Holder<'_>,
    issues: &mut [Issue],
    strict: bool,
    names: &mut Names,
    compared: &mut usize,
) {
    let refused = |issue: &Issue| {
        matches!(
            issue.rule.as_str(),
            "additionalProperties" | "unevaluatedProperties"
        )
    };
    let here = |issue: &Issue| {
        parent(&issue.path)
            .filter(|(at, _)| *at == holder.path)
            .map(|(_, name)| name)
    };
    let missing: Vec<String> = issues
        .iter()
        .filter(|issue| issue.received.is_none())
        .filter_map(here)
        .collect();
    let unknown: Vec<String> = if holder.settled {
        issues
            .iter()
            .filter(|issue| refused(issue))
            .filter_map(here)
            .collect()
    } else {
        let known: HashSet<&str> = holder.known.iter().copied().collect();
        let unlisted = holder
            .members
            .keys()
            .filter(|name| !known.contains(name.as_str()));
        unlisted.cloned().collect()
    };
    let mut unset: Vec<&str> = holder
        .known
        .iter()
        .copied()
        .filter(|name| !holder.members.contains_key(*name))
        .collect();
    for name in &unknown {
        let path = child_pointer(&holder.path, name);
        *compared += unset.len();
        let near = if *compared <= MAX_COMPARED {
            unset.as_slice()
        } else {
            &[]
        };
        let meant = meant(name, near, &missing, unknown.len());
        let hint = meant.map(|meant| {
            unset.retain(|left| *left != meant);
            let meant = child_pointer(&holder.path, meant);
            // The other half of the same slip: what is missing did come, under a wrong name.
            if let Some(other) = issues
                .iter_mut()
                .find(|issue| issue.path == meant && issue.received.is_none())
            {
                other.hint = Some(format!("perhaps sent as {}", shown_path(&path)));
            }
            format!("did you mean {}?", shown_path(&meant))
        });
        if holder.settled {
            if let Some(issue) = issues
                .iter_mut()
                .find(|issue| issue.path == path && refused(issue))
            {
                issue.hint = hint.or(issue.hint.take());
            }
        } else if hint.is_some() || strict || !missing.is_empty() {
            names.issues.push(Issue {
                rule: "unknown_name".to_owned(),
                expected: known_names_words(&holder.known),
                received: holder.members.get(name).map(|value| received(value, &path)),
                path,
                hint,
            });
        } else {
            names.passed.push(path);
        }
    }
}

/// The listed name that `name` was meant to be: a near one, a missing one first; or the only one missing, if it is
/// the only one unknown.
fn meant<'k>(name: &str, unset: &[&'k str], missing: &[String], unknown: usize) -> Option<&'k str> {
    let missing: Vec<&str> = unset
        .iter()
        .copied()
        .filter(|left| missing.iter().any(|name| name == left))
        .collect();
    nearest::name(name, &missing)
        .or_else(|| nearest::name(name, unset))
        .or(match missing.as_slice() {
            [only] if unknown == 1 => Some(*only),
            _ => None,
        })
}

struct Walk<'v> {
    schema: &'v Schema,
    holders: Vec<Holder<'v>>,
    visited: usize,
}

impl<'v> Walk<'v> {
    /// Looks at `value`, to which `parts` of the schema apply (or may).
    fn visit(&mut self, parts: &[NodeId], value: &'v Value, path: &str, depth: usize) {
        self.visited += 1;
        if self.visited > MAX_VISITED || depth > MAX_DEPTH {
            return;
        }
        let graph = self.schema.graph();
        let mut all: Vec<NodeId> = Vec::new();
        for part in parts {
            for id in graph.in_place_closure(*part) {
                if !all.contains(&id) {
                    all.push(id);
                }
            }
        }
        match value {
            Value::Object(members) => {
                self.hold(&all, members, path);
                for (name, member) in members {
                    let below = members_parts(self.schema, &all, name);
                    if !below.is_empty() && (member.is_object() || member.is_array()) {
                        self.visit(&below, member, &child_pointer(path, name), depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let nodes = all.iter().filter_map(|id| graph.node(*id));
                    let below: Vec<NodeId> = nodes
                        .flat_map(|node| node.prefix.get(index).into_iter().chain(&node.items))
                        .copied()
                        .collect();
                    if !below.is_empty() && (item.is_object() || item.is_array()) {
                        self.visit(&below, item, &child_pointer(path, &index.to_string()), depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn hold(&mut self, parts: &[NodeId], members: &'v Map<String, Value>, path: &str) {
        let nodes: Vec<_> = parts
            .iter()
            .filter_map(|id| self.schema.graph().node(*id))
            .collect();
        if nodes.iter().any(|node| node.opaque) {
            return;
        }
        let listed = nodes.iter().flat_map(|node| &node.names).map(String::as_str);
        let mut seen = HashSet::new();
        let known: Vec<&'v str> = listed.filter(|name| seen.insert(*name)).collect();
        self.visited += known.len();
        // A nested object for which nothing is listed is free-form by intent; the arguments as a whole are not.
        if known.is_empty() && !path.is_empty() {
            return;
        }
        let settled = nodes.iter().any(|node| node.openness == Openness::Settled);
        self.holders.push(Holder {
            path: path.to_owned(),
            members,
            known,
            settled,
        });
    }
}

/// The parts that apply to the member `name`.
fn members_parts(schema: &Schema, parts: &[NodeId], name: &str) -> Vec<NodeId> {
    let nodes = parts.iter().filter_map(|id| schema.graph().node(*id));
    nodes
        .flat_map(|node| {
            let listed = node.properties.get(name);
            let rest: &[NodeId] = if listed.is_some() { &[] } else { &node.rest };
            listed.into_iter().chain(&node.patterns).chain(rest).copied()
        })
        .collect()
}
