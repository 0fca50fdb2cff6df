//! The bounds that keep one schema, or one value under it, from costing more than its share.
//!
//! All of them count; none of them looks at a clock. A deadline on another thread would not stop a computation.

use serde_json::Value;

use super::fault::SchemaFault;
use super::graph::{Graph, How, NodeId};

/// Longest schema text read, in bytes.
pub(super) const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// Deepest nesting of brackets in a schema's text.
const MAX_NESTING: usize = 100;
/// Most bytes that the paths to a schema's parts may take together.
const MAX_PATH_BYTES: usize = 16 * 1024 * 1024;
/// Most parts after expansion of `$ref`s (parts of one recursion count once).
const MAX_EXPANDED: u64 = 100_000;
/// Longest chain of parts, `$ref` steps included, that does not go round.
const MAX_CHAIN: usize = 512;
/// Most steps one value may cost: pairs of a schema part and a place in the value, weighted.
const MAX_WORK: u64 = 10_000_000;
/// Most such steps where everything wrong is still collected; each may make an error of some hundred bytes.
const MAX_COLLECTED: u64 = 300_000;
/// Deepest such pair; each is a few stack frames of the validator.
const MAX_WORK_DEPTH: usize = 600;
/// Steps charged for a string under a pattern that backtracks, about what its own limit lets it burn.
const BACKTRACKING: u64 = 5_000;
/// Steps charged for a part that lies outside the document (a meta-schema).
const OPAQUE: u64 = 200;

/// Refuses a text before anything is built from it.
pub(super) fn check_text(raw: &str) -> Result<(), SchemaFault> {
    if raw.len() > MAX_SCHEMA_BYTES {
        return Err(SchemaFault::TooLarge {
            size: raw.len(),
            limit: MAX_SCHEMA_BYTES,
        });
    }
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut quoted, mut escaped) = (false, false);
    for byte in raw.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > MAX_NESTING {
        Err(SchemaFault::TooDeep {
            depth: deepest,
            limit: MAX_NESTING,
        })
    } else {
        Ok(())
    }
}

/// Refuses a schema whose paths would take too much memory: a long name over many parts is repeated in each.
pub(super) fn check_paths(schema: &Value) -> Result<(), SchemaFault> {
    let size = path_bytes(schema, 0);
    if size > MAX_PATH_BYTES {
        Err(SchemaFault::TooLarge {
            size,
            limit: MAX_PATH_BYTES,
        })
    } else {
        Ok(())
    }
}

fn path_bytes(value: &Value, length: usize) -> usize {
    let below = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| path_bytes(member, length + name.len() + 1))
            .sum(),
        Value::Array(items) => items.iter().map(|item| path_bytes(item, length + 4)).sum(),
        _ => 0_usize,
    };
    below.saturating_add(length)
}

/// Refuses a schema that expands to too much, chains too long, or goes round without going into the value.
pub(super) fn check_graph(graph: &Graph) -> Result<(), SchemaFault> {
    let regions = Regions::of(graph, |graph, id| {
        graph.node(id).map(|node| node.successors().collect())
    });
    let in_place = Regions::of(graph, |graph, id| {
        graph
            .node(id)
            .map(|node| node.in_place.iter().map(|(_, id)| *id).collect())
    });
    if let Some(id) = in_place.on_a_cycle {
        let reference = graph
            .node(id)
            .and_then(|node| node.reference.clone())
            .unwrap_or_else(|| "#".to_owned());
        return Err(SchemaFault::EndlessRef { reference });
    }
    if regions.expanded > MAX_EXPANDED {
        return Err(SchemaFault::TooManyPaths { limit: MAX_EXPANDED });
    }
    let depth = regions.chain.max(in_place.chain);
    if depth > MAX_CHAIN {
        Err(SchemaFault::TooDeep {
            depth,
            limit: MAX_CHAIN,
        })
    } else {
        Ok(())
    }
}

/// What one pass over the strongly connected regions of a graph (Tarjan's, iterative) tells.
struct Regions {
    /// Parts after expansion, from the root; a recursion is entered once.
    expanded: u64,
    /// Longest chain of parts anywhere; a recursion counts as one step.
    chain: usize,
    /// A part with a reference that lies on a cycle, if there is any cycle.
    on_a_cycle: Option<NodeId>,
}

/// One part being visited: its successors and how many of them are done.
struct Visit {
    id: NodeId,
    successors: Vec<NodeId>,
    next: usize,
}

/// The marks that Tarjan's algorithm keeps for one part.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// Order of discovery, from 1; 0 is undiscovered.
    order: usize,
    low: usize,
    finished: bool,
    expanded: u64,
    chain: usize,
}

impl Regions {
    fn of(graph: &Graph, successors: impl Fn(&Graph, NodeId) -> Option<Vec<NodeId>>) -> Self {
        let mut marks = vec![Mark::default(); graph.nodes().len()];
        let mut on_a_cycle = None;
        let mut order = 0;
        let mut open: Vec<NodeId> = Vec::new();
        for root in 0..graph.nodes().len() {
            if mark(&marks, root).order != 0 {
                continue;
            }
            let mut visits = vec![Visit {
                id: root,
                successors: successors(graph, root).unwrap_or_default(),
                next: 0,
            }];
            order += 1;
            set(&mut marks, root, |mark| (mark.order, mark.low) = (order, order));
            open.push(root);
            while let Some(visit) = visits.last_mut() {
                if let Some(&next) = visit.successors.get(visit.next) {
                    visit.next += 1;
                    let (id, seen) = (visit.id, mark(&marks, next));
                    if seen.order == 0 {
                        order += 1;
                        set(&mut marks, next, |mark| (mark.order, mark.low) = (order, order));
                        open.push(next);
                        visits.push(Visit {
                            id: next,
                            successors: successors(graph, next).unwrap_or_default(),
                            next: 0,
                        });
                    } else if !seen.finished {
                        set(&mut marks, id, |mark| mark.low = mark.low.min(seen.order));
                        if next == id {
                            on_a_cycle = Some(id);
                        }
                    }
                    continue;
                }
                let Some(done) = visits.pop() else { break };
                let low = mark(&marks, done.id).low;
                if let Some(parent) = visits.last() {
                    set(&mut marks, parent.id, |mark| mark.low = mark.low.min(low));
                }
                if low == mark(&marks, done.id).order {
                    let start = open.iter().rposition(|id| *id == done.id).unwrap_or(0);
                    let region = open.split_off(start);
                    if region.len() > 1 {
                        on_a_cycle = region
                            .iter()
                            .copied()
                            .find(|id| graph.node(*id).is_some_and(|node| node.reference.is_some()))
                            .or(region.first().copied());
                    }
                    close(graph, &region, &mut marks, &successors);
                }
            }
        }
        let chain = marks.iter().map(|mark| mark.chain).max().unwrap_or(0);
        Self {
            expanded: mark(&marks, 0).expanded,
            chain,
            on_a_cycle,
        }
    }
}

/// Sums up a finished region: its parts count once each, plus all that leaves it.
fn close(
    graph: &Graph,
    region: &[NodeId],
    marks: &mut [Mark],
    successors: &impl Fn(&Graph, NodeId) -> Option<Vec<NodeId>>,
) {
    let (mut expanded, mut chain) = (0_u64, 0_usize);
    for id in region {
        expanded = expanded.saturating_add(1);
        for next in successors(graph, *id).unwrap_or_default() {
            let below = mark(marks, next);
            if below.finished {
                expanded = expanded.saturating_add(below.expanded);
                chain = chain.max(below.chain);
            }
        }
    }
    for id in region {
        set(marks, *id, |mark| {
            (mark.finished, mark.expanded, mark.chain) = (true, expanded, chain + 1);
        });
    }
}

fn mark(marks: &[Mark], id: NodeId) -> Mark {
    marks.get(id).copied().unwrap_or_default()
}

fn set(marks: &mut [Mark], id: NodeId, change: impl FnOnce(&mut Mark)) {
    if let Some(mark) = marks.get_mut(id) {
        change(mark);
    }
}

/// How much may be done for one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Check it, and collect everything that is wrong.
    Whole,
    /// Check it, and tell the first thing that is wrong: collecting all costs far more than checking.
    First,
    /// Don't begin.
    None,
}

/// What checking `instance` would cost, found by walking schema and value together without checking.
pub(super) fn effort(graph: &Graph, instance: &Value) -> Effort {
    let mut work = Work {
        graph,
        left: MAX_WORK,
    };
    match work.visit(0, instance, 0) {
        Some(()) if MAX_WORK - work.left <= MAX_COLLECTED => Effort::Whole,
        Some(()) => Effort::First,
        None => Effort::None,
    }
}

/// The budget ran out where an `Option` here is `None`.
struct Work<'g> {
    graph: &'g Graph,
    left: u64,
}

impl Work<'_> {
    fn spend(&mut self, steps: u64) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    fn visit(&mut self, id: NodeId, value: &Value, depth: usize) -> Option<()> {
        if depth > MAX_WORK_DEPTH {
            return None;
        }
        let graph = self.graph;
        let Some(node) = graph.node(id) else {
            return Some(());
        };
        let opaque = if node.opaque { OPAQUE } else { 0 };
        self.spend(1 + opaque + node.choices as u64 / 16)?;
        for _ in 0..if node.looks_twice { 2 } else { 1 } {
            for (how, part) in &node.in_place {
                // A branch that may or may not apply is first asked and then, if none fits, asked why.
                let again = if *how == How::Perhaps { 1 } else { 0 };
                self.spend(again)?;
                self.visit(*part, value, depth + 1)?;
            }
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.spend(1 + text_cost(name, node.backtracks && !node.patterns.is_empty()))?;
                    if let Some(part) = node.property_names {
                        let named = graph
                            .node(part)
                            .is_some_and(|part| part.backtracks || !part.in_place.is_empty());
                        self.spend(text_cost(name, named))?;
                    }
                    let listed = node.properties.get(name);
                    let rest = if listed.is_some() { &[][..] } else { &node.rest };
                    for part in listed.into_iter().chain(&node.patterns).chain(rest) {
                        self.visit(*part, member, depth + 1)?;
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.spend(1)?;
                    for part in node.prefix.get(index).into_iter().chain(&node.items) {
                        self.visit(*part, item, depth + 1)?;
                    }
                }
            }
            Value::String(text) => self.spend(text_cost(text, node.backtracks))?,
            _ => {}
        }
        Some(())
    }
}

fn text_cost(text: &str, backtracks: bool) -> u64 {
    let length = text.len() as u64 / 64;
    if backtracks { BACKTRACKING + length } else { length }
}
