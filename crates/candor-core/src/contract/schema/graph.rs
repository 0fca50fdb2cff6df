//! A schema as a graph: which parts apply to a value, and which to its members, with every local `$ref` followed.
//!
//! The validator keeps its own compiled form to itself. This one serves what it can't answer: how much work a value
//! would be, which names a place knows, and which words describe it. It never decides validity.

use std::collections::HashMap;

use serde_json::Value;

use self::reader::Reader;
use super::dialect::Dialect;

mod reader;
mod references;

/// Most names, and most parts, looked at for one place. They serve wording and near-misses only.
const MAX_NAMES: usize = 500;

/// Index of a node in its [`Graph`].
pub(crate) type NodeId = usize;

/// How a part applies to the same value as its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `allOf`, `$ref`: always.
    Always,
    /// `anyOf`, `oneOf`, `if`, `then`, `else`, dependent schemas: perhaps.
    Perhaps,
    /// `not`.
    Negated,
}

/// Whether a part says what becomes of names that it does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Openness {
    /// It says nothing: JSON Schema lets them pass.
    #[default]
    Silent,
    /// `additionalProperties`, `unevaluatedProperties` or `patternProperties` settles it, either way.
    Settled,
}

/// One part of a schema.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// JSON Pointer into the schema.
    pub(crate) pointer: String,
    /// Parts that apply to the same value.
    pub(crate) in_place: Vec<(How, NodeId)>,
    /// `properties`.
    pub(crate) properties: HashMap<String, NodeId>,
    /// The names of `properties` in the schema's own order, then those that other keywords speak of.
    pub(crate) names: Vec<String>,
    /// `patternProperties`.
    pub(crate) patterns: Vec<NodeId>,
    /// `additionalProperties`, `unevaluatedProperties`: members no other keyword names.
    pub(crate) rest: Vec<NodeId>,
    /// `propertyNames`.
    pub(crate) property_names: Option<NodeId>,
    /// `prefixItems`, or `items` as an array.
    pub(crate) prefix: Vec<NodeId>,
    /// `items`, `additionalItems`, `unevaluatedItems`, `contains`.
    pub(crate) items: Vec<NodeId>,
    /// Whether unlisted names are settled here.
    pub(crate) openness: Openness,
    /// A `$ref` that leaves this document (a meta-schema): what lies behind is not seen here.
    pub(crate) opaque: bool,
    /// `unevaluated*` looks at the in-place parts a second time.
    pub(crate) looks_twice: bool,
    /// Count of `enum` values, each compared in turn.
    pub(crate) choices: usize,
    /// A pattern here (or among the pattern properties) needs backtracking.
    pub(crate) backtracks: bool,
    /// The reference as written, for naming a fault.
    pub(crate) reference: Option<String>,
}

/// All parts reachable from the root, which is node 0.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    by_pointer: HashMap<String, NodeId>,
    /// `$id` with where it stands.
    resources: Vec<(String, String)>,
}

impl Graph {
    /// Reads the graph of `schema`, whose size, depth and path lengths are bounded already.
    pub(crate) fn read(schema: &Value, dialect: Dialect) -> Self {
        Reader::new(schema, dialect).read()
    }

    /// Where the embedded resource `uri` (as the validator names it, absolute) stands in this document.
    pub(crate) fn resource(&self, uri: &str) -> Option<&str> {
        self.resources
            .iter()
            .filter(|(id, _)| uri.ends_with(id.as_str()))
            .max_by_key(|(id, _)| id.len())
            .map(|(_, at)| at.as_str())
    }

    /// The part `id`; `None` never happens for ids of this graph.
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// The part at `pointer`, if something refers to it.
    pub(crate) fn at(&self, pointer: &str) -> Option<NodeId> {
        self.by_pointer.get(pointer).copied()
    }

    /// The names that `id` lists for members, with those of everything that may apply in place, in order.
    pub(crate) fn known_names(&self, id: NodeId) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in self.in_place_closure(id) {
            let Some(node) = self.node(part) else { continue };
            for name in &node.names {
                if !names.contains(&name.as_str()) && names.len() < MAX_NAMES {
                    names.push(name);
                }
            }
        }
        names
    }

    /// `id` and everything that applies in place with it, except under `not`.
    pub(crate) fn in_place_closure(&self, id: NodeId) -> Vec<NodeId> {
        let mut closure = vec![id];
        let mut next = 0;
        while let Some(part) = closure.get(next).copied() {
            next += 1;
            let Some(node) = self.node(part) else { continue };
            for (how, id) in &node.in_place {
                if *how != How::Negated && closure.len() < MAX_NAMES && !closure.contains(id) {
                    closure.push(*id);
                }
            }
        }
        closure
    }

    /// All parts.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

impl Node {
    /// Every part that this one leads to, applied in place or to members.
    pub(crate) fn successors(&self) -> impl Iterator<Item = NodeId> + '_ {
        let in_place = self.in_place.iter().map(|(_, id)| *id);
        let members = self
            .properties
            .values()
            .chain(&self.patterns)
            .chain(&self.rest)
            .chain(&self.property_names);
        in_place.chain(members.chain(&self.prefix).chain(&self.items).copied())
    }
}

/// `pointer` extended by one member name or index, escaped as RFC 6901 wants.
pub(crate) fn child_pointer(pointer: &str, name: &str) -> String {
    let mut child = String::with_capacity(pointer.len() + name.len() + 1);
    child.push_str(pointer);
    child.push('/');
    for letter in name.chars() {
        match letter {
            '~' => child.push_str("~0"),
            '/' => child.push_str("~1"),
            other => child.push(other),
        }
    }
    child
}
