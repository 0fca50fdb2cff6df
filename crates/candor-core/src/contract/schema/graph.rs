//! A schema as a graph: which parts apply to a value, and which to its members, with every local `$ref` followed.
//!
//! The validator keeps its own compiled form to itself. This one serves what it can't answer: how much work a value
//! would be, which names a place knows, and which words describe it. It never decides validity.

use std::collections::HashMap;

use serde_json::Value;

use super::dialect::Dialect;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Openness {
    /// It says nothing: JSON Schema lets them pass.
    Silent,
    /// `additionalProperties`, `unevaluatedProperties` or `patternProperties` settles it, either way.
    Settled,
}

/// One part of a schema.
#[derive(Debug)]
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
#[derive(Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    by_pointer: HashMap<String, NodeId>,
    /// `$id` with where it stands.
    resources: Vec<(String, String)>,
}

impl Graph {
    /// Reads the graph of `schema`, whose size, depth and path lengths are bounded already.
    pub(crate) fn read(schema: &Value, dialect: Dialect) -> Self {
        let mut reader = Reader {
            schema,
            marks: Marks::collect(schema, dialect),
            graph: Self {
                nodes: Vec::new(),
                by_pointer: HashMap::new(),
                resources: Vec::new(),
            },
            pending: Vec::new(),
        };
        reader.node(String::new());
        while let Some(id) = reader.pending.pop() {
            reader.fill(id);
        }
        reader.graph.resources = reader.marks.resources;
        reader.graph
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

/// Places that a reference can name other than by pointer.
struct Marks {
    /// `$anchor`, `$dynamicAnchor`, and draft-07's `$id: "#name"`, with where they stand.
    anchors: HashMap<String, Vec<String>>,
    /// `$id` with where it stands.
    resources: Vec<(String, String)>,
}

impl Marks {
    fn collect(schema: &Value, dialect: Dialect) -> Self {
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
    fn targets(&self, from: &str, reference: &str) -> Vec<String> {
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

struct Reader<'s> {
    schema: &'s Value,
    marks: Marks,
    graph: Graph,
    pending: Vec<NodeId>,
}

impl Reader<'_> {
    /// The node at `pointer`, made and queued at first sight.
    fn node(&mut self, pointer: String) -> NodeId {
        if let Some(id) = self.graph.at(&pointer) {
            return id;
        }
        let id = self.graph.nodes.len();
        self.graph.by_pointer.insert(pointer.clone(), id);
        self.graph.nodes.push(Node {
            pointer,
            in_place: Vec::new(),
            properties: HashMap::new(),
            names: Vec::new(),
            patterns: Vec::new(),
            rest: Vec::new(),
            property_names: None,
            prefix: Vec::new(),
            items: Vec::new(),
            openness: Openness::Silent,
            opaque: false,
            looks_twice: false,
            choices: 0,
            backtracks: false,
            reference: None,
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
        let mut filled = Filling::default();
        for (keyword, value) in members {
            let at = child_pointer(&pointer, keyword);
            self.keyword(keyword, value, &at, &pointer, &mut filled);
        }
        if let Some(node) = self.graph.nodes.get_mut(id) {
            filled.pour_into(node);
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &str, owner: &str, filled: &mut Filling) {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(keyword, value, owner, filled),
            "allOf" => filled
                .in_place
                .extend(self.list(value, at).into_iter().map(|id| (How::Always, id))),
            "anyOf" | "oneOf" => {
                filled
                    .in_place
                    .extend(self.list(value, at).into_iter().map(|id| (How::Perhaps, id)));
            }
            "if" | "then" | "else" => filled.in_place.push((How::Perhaps, self.node(at.to_owned()))),
            "not" => filled.in_place.push((How::Negated, self.node(at.to_owned()))),
            "dependentSchemas" | "dependencies" => {
                filled.mention_dependents(value);
                filled
                    .in_place
                    .extend(self.map(value, at).into_iter().map(|(_, id)| (How::Perhaps, id)));
            }
            "properties" => filled.properties = self.map(value, at),
            "patternProperties" => {
                filled.patterns = self.map(value, at).into_iter().map(|(_, id)| id).collect();
                filled.settled |= !filled.patterns.is_empty();
                if let Value::Object(patterns) = value {
                    filled.backtracks |= patterns.keys().any(|pattern| backtracks(pattern));
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                filled.settled = true;
                filled.looks_twice |= keyword == "unevaluatedProperties";
                filled.rest.push(self.node(at.to_owned()));
            }
            "propertyNames" => filled.property_names = Some(self.node(at.to_owned())),
            "prefixItems" => filled.prefix = self.list(value, at),
            "items" if value.is_array() => filled.prefix = self.list(value, at),
            "items" | "additionalItems" | "contains" => filled.items.push(self.node(at.to_owned())),
            "unevaluatedItems" => {
                filled.looks_twice = true;
                filled.items.push(self.node(at.to_owned()));
            }
            "required" => filled
                .mentioned
                .extend(value.as_array().into_iter().flatten().filter_map(text)),
            "dependentRequired" => filled.mention_dependents(value),
            "enum" => filled.choices = value.as_array().map_or(0, Vec::len),
            "pattern" => filled.backtracks |= value.as_str().is_some_and(backtracks),
            _ => {}
        }
    }

    fn reference(&mut self, keyword: &str, value: &Value, owner: &str, filled: &mut Filling) {
        let Some(reference) = value.as_str() else { return };
        filled.reference = Some(reference.to_owned());
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
        filled.opaque |= targets.is_empty();
        for target in targets {
            filled.in_place.push((How::Always, self.node(target)));
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

/// What the keywords of one node said, before it is written into the node.
#[derive(Default)]
struct Filling {
    in_place: Vec<(How, NodeId)>,
    properties: Vec<(String, NodeId)>,
    /// Names that keywords other than `properties` speak of.
    mentioned: Vec<String>,
    patterns: Vec<NodeId>,
    rest: Vec<NodeId>,
    property_names: Option<NodeId>,
    prefix: Vec<NodeId>,
    items: Vec<NodeId>,
    settled: bool,
    opaque: bool,
    looks_twice: bool,
    choices: usize,
    backtracks: bool,
    reference: Option<String>,
}

impl Filling {
    /// The names on either side of a dependency.
    fn mention_dependents(&mut self, value: &Value) {
        for (name, needed) in value.as_object().into_iter().flatten() {
            self.mentioned.push(name.clone());
            self.mentioned
                .extend(needed.as_array().into_iter().flatten().filter_map(text));
        }
    }

    fn pour_into(self, node: &mut Node) {
        node.in_place = self.in_place;
        node.names = self
            .properties
            .iter()
            .map(|(name, _)| name.clone())
            .chain(self.mentioned)
            .collect();
        node.properties = self.properties.into_iter().collect();
        node.patterns = self.patterns;
        node.rest = self.rest;
        node.property_names = self.property_names;
        node.prefix = self.prefix;
        node.items = self.items;
        node.openness = if self.settled {
            Openness::Settled
        } else {
            Openness::Silent
        };
        node.opaque = self.opaque;
        node.looks_twice = self.looks_twice;
        node.choices = self.choices;
        node.backtracks = self.backtracks;
        node.reference = self.reference;
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
