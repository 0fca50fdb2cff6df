//! Reads a schema's keywords into the graph: which of them apply in place, and which to members.

use serde_json::Value;

use super::references::Marks;
use super::{Graph, How, Node, NodeId, Openness, child_pointer};
use crate::contract::schema::dialect::Dialect;

/// Reads one schema; every place is read once.
pub(super) struct Reader<'s> {
    schema: &'s Value,
    marks: Marks,
    graph: Graph,
    pending: Vec<NodeId>,
}

impl<'s> Reader<'s> {
    /// A reader that has seen nothing but the places references can name.
    pub(super) fn new(schema: &'s Value, dialect: Dialect) -> Self {
        Self {
            schema,
            marks: Marks::collect(schema, dialect),
            graph: Graph::default(),
            pending: Vec::new(),
        }
    }

    /// The graph of all parts that the root leads to.
    pub(super) fn read(mut self) -> Graph {
        self.node(String::new());
        while let Some(id) = self.pending.pop() {
            self.fill(id);
        }
        self.graph.resources = self.marks.resources;
        self.graph
    }

    /// The node at `pointer`, made and queued at first sight.
    fn node(&mut self, pointer: String) -> NodeId {
        if let Some(id) = self.graph.at(&pointer) {
            return id;
        }
        let id = self.graph.nodes.len();
        self.graph.by_pointer.insert(pointer.clone(), id);
        self.graph.nodes.push(Node {
            pointer,
            ..Node::default()
        });
        self.pending.push(id);
        id
    }

    fn fill(&mut self, id: NodeId) {
        let Some(pointer) = self.graph.node(id).map(|node| node.pointer.clone()) else {
            return;
        };
        let Some(Value::Object(members)) = self.schema.pointer(&pointer) else {
            return;
        };
        let mut node = Node::default();
        for (keyword, value) in members {
            let at = child_pointer(&pointer, keyword);
            self.keyword(keyword, value, &at, &pointer, &mut node);
        }
        node.pointer = pointer;
        if let Some(place) = self.graph.nodes.get_mut(id) {
            *place = node;
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &str, owner: &str, node: &mut Node) {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(keyword, value, owner, node),
            "allOf" => node
                .in_place
                .extend(self.list(value, at).into_iter().map(|id| (How::Always, id))),
            "anyOf" | "oneOf" => {
                node.in_place
                    .extend(self.list(value, at).into_iter().map(|id| (How::Perhaps, id)));
            }
            "if" | "then" | "else" => node.in_place.push((How::Perhaps, self.node(at.to_owned()))),
            "not" => node.in_place.push((How::Negated, self.node(at.to_owned()))),
            "dependentSchemas" | "dependencies" => {
                mention_dependents(value, node);
                node.in_place
                    .extend(self.map(value, at).into_iter().map(|(_, id)| (How::Perhaps, id)));
            }
            "properties" => {
                let members = self.map(value, at);
                node.names
                    .splice(0..0, members.iter().map(|(name, _)| name.clone()));
                node.properties = members.into_iter().collect();
            }
            "patternProperties" => {
                node.patterns = self.map(value, at).into_iter().map(|(_, id)| id).collect();
                if !node.patterns.is_empty() {
                    node.openness = Openness::Settled;
                }
                if let Value::Object(patterns) = value {
                    node.backtracks |= patterns.keys().any(|pattern| backtracks(pattern));
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                node.openness = Openness::Settled;
                node.looks_twice |= keyword == "unevaluatedProperties";
                node.rest.push(self.node(at.to_owned()));
            }
            "propertyNames" => node.property_names = Some(self.node(at.to_owned())),
            "prefixItems" => node.prefix = self.list(value, at),
            "items" if value.is_array() => node.prefix = self.list(value, at),
            "items" | "additionalItems" | "contains" => node.items.push(self.node(at.to_owned())),
            "unevaluatedItems" => {
                node.looks_twice = true;
                node.items.push(self.node(at.to_owned()));
            }
            "required" => node
                .names
                .extend(value.as_array().into_iter().flatten().filter_map(text)),
            "dependentRequired" => mention_dependents(value, node),
            "enum" => node.choices = value.as_array().map_or(0, Vec::len),
            "pattern" => node.backtracks |= value.as_str().is_some_and(backtracks),
            _ => {}
        }
    }

    fn reference(&mut self, keyword: &str, value: &Value, owner: &str, node: &mut Node) {
        let Some(reference) = value.as_str() else { return };
        node.reference = Some(reference.to_owned());
        let mut targets = self.marks.targets(owner, reference);
        if keyword == "$dynamicRef"
            && let Some((_, name)) = reference.split_once('#')
            && let Some(dynamic) = self.marks.anchors.get(name)
        {
            // Which one is meant depends on the way taken; all of them may be.
            targets.extend(dynamic.iter().cloned());
            targets.sort();
            targets.dedup();
        }
        targets.retain(|target| self.schema.pointer(target).is_some());
        node.opaque |= targets.is_empty();
        for target in targets {
            node.in_place.push((How::Always, self.node(target)));
        }
    }

    fn list(&mut self, value: &Value, at: &str) -> Vec<NodeId> {
        let count = value.as_array().map_or(0, Vec::len);
        (0..count)
            .map(|index| self.node(child_pointer(at, &index.to_string())))
            .collect()
    }

    /// Members that are schemas; draft-07's `dependencies` also holds lists of names, which are none.
    fn map(&mut self, value: &Value, at: &str) -> Vec<(String, NodeId)> {
        let Value::Object(members) = value else {
            return Vec::new();
        };
        members
            .iter()
            .filter(|(_, member)| member.is_object() || member.is_boolean())
            .map(|(name, _)| (name.clone(), self.node(child_pointer(at, name))))
            .collect()
    }
}

/// The names on either side of a dependency.
fn mention_dependents(value: &Value, node: &mut Node) {
    for (name, needed) in value.as_object().into_iter().flatten() {
        node.names.push(name.clone());
        node.names
            .extend(needed.as_array().into_iter().flatten().filter_map(text));
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Whether a pattern leaves the linear engine: look-around, atomic groups, possessive repeats, back-references.
fn backtracks(pattern: &str) -> bool {
    let mut escaped = false;
    let mut previous = [' '; 2];
    for letter in pattern.chars() {
        if escaped {
            if letter.is_ascii_digit() && letter != '0' || letter == 'k' || letter == 'G' {
                return true;
            }
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if previous == ['(', '?'] && matches!(letter, '=' | '!' | '<' | '>' | '(')
            || letter == '+' && matches!(previous[1], '*' | '+' | '?' | '}')
        {
            return true;
        }
        previous = [previous[1], if escaped { '\\' } else { letter }];
    }
    false
}
