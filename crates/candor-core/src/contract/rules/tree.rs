//! The parsed expression, walked once: names that exist, depth, loops, and what it can cost.
//!
//! The evaluator has no budget, so the worst case is counted before anything runs: how often each part of the
//! expression can be visited, as a polynomial in the size of the arguments.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};

use super::date::DatePattern;
use super::expression::is_regex;
use super::fault::FaultKind;

/// Deepest tree. Unoptimised, the evaluator takes 40 kB of stack for each level.
const DEPTH_LIMIT: usize = 32;
/// Most loops around a part of an expression.
const LOOP_LIMIT: usize = 2;
/// Visits that one evaluation may need: unoptimised, less than a second.
const WORK_LIMIT: u64 = 4_000_000;

/// What a rule can name, besides its own loop variables.
pub(super) const OF_A_RULE: &[&str] = &["args", "principal", "now", "today"];
/// What a term of recovery can name.
pub(super) const OF_A_TERM: &[&str] = &["args", "result", "answer", "text", "now", "today"];
/// Names of types, as `type(x) == string` uses them.
const TYPES: [&str; 9] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];
/// Functions that a rule can call. Operators are functions too, with names that no expression can spell.
const FUNCTIONS: [&str; 32] = [
    "all",
    "bool",
    "bytes",
    "contains",
    "date",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "has",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// How often an expression's parts are visited at most: `visits[d]` times the size of the arguments to the power `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cost {
    visits: [u64; 5],
}

impl Cost {
    fn add(&mut self, degree: usize, visits: u64) {
        if let Some(slot) = self.visits.get_mut(degree) {
            *slot = slot.saturating_add(visits);
        }
    }

    /// Whether arguments of this size can be afforded.
    pub(super) fn fits(&self, size: u64) -> bool {
        let total = self.visits.iter().rev().fold(0_u64, |sum, visits| {
            sum.saturating_mul(size).saturating_add(*visits)
        });
        total <= WORK_LIMIT
    }
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    loops: usize,
    /// Power of the arguments' size by which visits here grow.
    degree: usize,
    /// Factor on top of that, for loops over sums of lists.
    weight: u64,
    /// Operations around this place whose time grows with what they are given.
    linear: u64,
}

struct Walk<'tree> {
    variables: &'static [&'static str],
    scope: Vec<&'tree str>,
    cost: Cost,
}

/// What is wrong, and a piece of the text that is to blame. The tree does not know its positions.
pub(super) type Found = (Option<String>, FaultKind);

/// Walks a whole expression, which may name `variables`.
pub(super) fn examine(root: &IdedExpr, variables: &'static [&'static str]) -> Result<Cost, Found> {
    let mut walk = Walk {
        variables,
        scope: Vec::new(),
        cost: Cost::default(),
    };
    walk.node(
        root,
        Place {
            depth: 1,
            loops: 0,
            degree: 0,
            weight: 1,
            linear: 0,
        },
    )?;
    Ok(walk.cost)
}

impl<'tree> Walk<'tree> {
    fn node(&mut self, node: &'tree IdedExpr, place: Place) -> Result<(), Found> {
        if place.depth > DEPTH_LIMIT {
            return Err((None, FaultKind::TooDeep));
        }
        self.cost.add(place.degree, place.weight);
        let inner = Place {
            depth: place.depth + 1,
            ..place
        };
        let copied = Place {
            linear: inner.linear + 1,
            ..inner
        };
        match &node.expr {
            Expr::Literal(_) | Expr::Unspecified => Ok(()),
            Expr::Ident(name) => self.name(name, place),
            Expr::Select(select) => self.node(&select.operand, inner),
            Expr::Call(call) => self.call(call, inner),
            Expr::List(list) => list
                .elements
                .iter()
                .try_for_each(|element| self.node(element, copied)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.node(&entry.key, copied)?;
                    self.node(&entry.value, copied)
                }
                EntryExpr::StructField(field) => self.node(&field.value, copied),
            }),
            Expr::Struct(structure) => Err(unknown_function(&structure.type_name)),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, inner),
        }
    }

    fn name(&mut self, name: &str, place: Place) -> Result<(), Found> {
        let size = place.weight.saturating_mul(place.linear);
        if self.scope.contains(&name) {
            // What all rounds of a loop are given together is no more than the list they run over.
            self.cost.add(place.degree, size);
            return Ok(());
        }
        if self.variables.contains(&name) {
            self.cost.add(place.degree + 1, size);
            return Ok(());
        }
        if TYPES.contains(&name) {
            return Ok(());
        }
        let kind = FaultKind::UnknownName {
            name: name.to_owned(),
            nearest: nearest(name, self.variables),
            known: self.variables,
        };
        Err((Some(name.to_owned()), kind))
    }

    fn call(&mut self, call: &'tree CallExpr, place: Place) -> Result<(), Found> {
        let name = call.func_name.as_str();
        if name.starts_with(char::is_alphabetic) && !FUNCTIONS.contains(&name) {
            return Err(unknown_function(name));
        }
        if let Some(function) = ["date", "format"].into_iter().find(|function| *function == name) {
            check_pattern(function, call)?;
        }
        if name == "matches" {
            self.cost
                .add(place.degree, place.weight.saturating_mul(check_regex(call)?));
        }
        let place = if self.is_linear(call) {
            Place {
                linear: place.linear + 1,
                ..place
            }
        } else {
            place
        };
        call.target
            .iter()
            .map(AsRef::as_ref)
            .chain(&call.args)
            .try_for_each(|part| self.node(part, place))
    }

    fn comprehension(&mut self, loop_: &'tree ComprehensionExpr, place: Place) -> Result<(), Found> {
        if builds_list(loop_) {
            return Err((Some("map".to_owned()), FaultKind::BuildsList));
        }
        if place.loops >= LOOP_LIMIT {
            return Err((None, FaultKind::TooNested));
        }
        self.node(&loop_.iter_range, place)?;
        self.node(&loop_.accu_init, place)?;
        // A loop over a part of the outer loop's item runs, over all rounds, no longer than the arguments are.
        let over_part = self.root_in_scope(&loop_.iter_range);
        let body = Place {
            loops: place.loops + 1,
            degree: if over_part { place.degree } else { place.degree + 1 },
            weight: place.weight.saturating_mul(mentions(&loop_.iter_range).max(1)),
            linear: 0,
            ..place
        };
        self.scope.push(&loop_.iter_var);
        self.scope.push(&loop_.accu_var);
        let walked = [&loop_.loop_cond, &loop_.loop_step, &loop_.result]
            .into_iter()
            .try_for_each(|part| self.node(part, body));
        self.scope.truncate(self.scope.len().saturating_sub(2));
        walked
    }

    /// Whether the time of this one operation grows with what it is given.
    fn is_linear(&self, call: &CallExpr) -> bool {
        match call.func_name.as_str() {
            operators::EQUALS
            | operators::NOT_EQUALS
            | operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => {
                // A comparison is over with the shorter side.
                !call
                    .args
                    .iter()
                    .any(|side| matches!(side.expr, Expr::Literal(_)) || self.root_in_scope(side))
            }
            operators::CONDITIONAL
            | operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::NEGATE
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::INDEX
            | operators::NOT_STRICTLY_FALSE => false,
            _ => true,
        }
    }

    /// Whether `node` is a loop variable or a part of one: `room`, `room.beds`, `room.beds[0]`.
    fn root_in_scope(&self, node: &IdedExpr) -> bool {
        let mut node = node;
        loop {
            match &node.expr {
                Expr::Ident(name) => return self.scope.contains(&name.as_str()),
                Expr::Select(select) => node = &select.operand,
                Expr::Call(call) if call.func_name == operators::INDEX => match call.args.first() {
                    Some(container) => node = container,
                    None => return false,
                },
                _ => return false,
            }
        }
    }
}

fn check_pattern(function: &'static str, call: &CallExpr) -> Result<(), Found> {
    let (None, [_, pattern]) = (&call.target, call.args.as_slice()) else {
        return Err((Some(function.to_owned()), FaultKind::TwoArguments { function }));
    };
    match &pattern.expr {
        Expr::Literal(LiteralValue::String(text)) => match DatePattern::parse(text.inner()) {
            Ok(_) => Ok(()),
            Err(fault) => Err((Some(text.inner().to_owned()), fault.into())),
        },
        _ => Ok(()),
    }
}

/// What one `matches` costs beside its text: the evaluator compiles the pattern anew each time.
fn check_regex(call: &CallExpr) -> Result<u64, Found> {
    let Some(pattern) = call.args.last() else {
        return Ok(0);
    };
    let Expr::Literal(LiteralValue::String(text)) = &pattern.expr else {
        return Err((Some("matches".to_owned()), FaultKind::PatternNotWritten));
    };
    if !is_regex(pattern) {
        return Err((Some(text.inner().to_owned()), FaultKind::BadPattern));
    }
    Ok(500 + 50 * text.inner().len() as u64)
}

/// Whether a comprehension is a `map`: it appends something other than the item itself.
fn builds_list(loop_: &ComprehensionExpr) -> bool {
    let step = match &loop_.loop_step.expr {
        Expr::Call(call) if call.func_name == operators::CONDITIONAL => {
            call.args.get(1).map(|step| &step.expr)
        }
        other => Some(other),
    };
    let Some(Expr::Call(call)) = step else {
        return false;
    };
    match call.args.get(1).map(|appended| &appended.expr) {
        Some(Expr::List(list)) if call.func_name == operators::ADD => {
            !matches!(list.elements.as_slice(), [IdedExpr { expr: Expr::Ident(name), .. }] if *name == loop_.iter_var)
        }
        _ => false,
    }
}

/// How many names a part of the tree mentions.
fn mentions(node: &IdedExpr) -> u64 {
    match &node.expr {
        Expr::Ident(_) => 1,
        Expr::Select(select) => mentions(&select.operand),
        Expr::Call(call) => call
            .target
            .iter()
            .map(AsRef::as_ref)
            .chain(&call.args)
            .map(mentions)
            .sum(),
        Expr::List(list) => list.elements.iter().map(|element| mentions(element).max(1)).sum(),
        Expr::Comprehension(loop_) => mentions(&loop_.iter_range),
        _ => 1,
    }
}

fn unknown_function(name: &str) -> Found {
    let kind = FaultKind::UnknownFunction {
        name: name.to_owned(),
        nearest: nearest(name, &FUNCTIONS),
    };
    (Some(name.to_owned()), kind)
}

/// The known name that `name` is most probably meant to be.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    known
        .iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()),
                *candidate,
            )
        })
        .filter(|(distance, candidate)| distance * 3 <= candidate.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
