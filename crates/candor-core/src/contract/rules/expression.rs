//! One compiled expression, and what can keep it from having a value. The only place that runs the evaluator.

use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};
use cel::parser::PrattParser;
use cel::{Context, Env, ExecutionError, ParseErrors, Value as CelValue};
use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::date::DatePattern;
use super::fault::FaultKind;
use super::outline;
use super::tree::{self, Cost};
use super::value::{self, Size};

/// Largest arguments that rules are checked on, in bytes of JSON.
pub(super) const INPUT_LIMIT: usize = 256 * 1024;
/// Bytes of text that cost as much as one visit of a part of the expression.
const BYTES_A_VISIT: usize = 64;
/// The parser's own words are cut here.
const SYNTAX_LIMIT: usize = 160;

static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// An expression that parsed, names only what exists, and whose cost is known.
pub(super) struct Expression {
    source: String,
    root: IdedExpr,
    cost: Cost,
}

impl fmt::Debug for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Expression({:?})", self.source)
    }
}

impl Expression {
    /// Compiles `source`, which may name `variables`, or says what is wrong and at which byte.
    pub(super) fn compile(
        source: &str,
        variables: &'static [&'static str],
    ) -> Result<Self, (Option<usize>, FaultKind)> {
        if source.trim().is_empty() {
            return Err((None, FaultKind::Empty));
        }
        outline::check(source).map_err(|kind| (None, kind))?;
        // Named outright: the crate's default parser takes 200 kB of stack for a bracket, this one a few.
        let root = PrattParser::new()
            .parse(source)
            .map_err(|errors| syntax(source, &errors))?;
        match tree::examine(&root, variables) {
            Ok(cost) => Ok(Self {
                source: source.to_owned(),
                root,
                cost,
            }),
            Err((blamed, kind)) => Err((blamed.and_then(|text| position(source, &text)), kind)),
        }
    }

    /// The last name of a plain path, `b` of `args.a.b`.
    pub(super) fn field(&self) -> Option<&str> {
        match &self.root.expr {
            Expr::Select(select) if !select.test => Some(&select.field),
            _ => None,
        }
    }

    /// The expression's value in `scene`.
    pub(super) fn evaluate(&self, scene: &Scene<'_>) -> Result<CelValue, WhyNot> {
        if !self.cost.fits(scene.size) {
            return Err(WhyNot::TooMuchWork);
        }
        CelValue::resolve(&self.root, &scene.context).map_err(WhyNot::from)
    }
}

/// What expressions of one call can see.
pub(super) struct Scene<'scene> {
    context: Context<'scene, 'scene>,
    size: u64,
}

impl Scene<'_> {
    /// `seen` by name, `now` and `today`, and the two functions that know the time zone.
    pub(super) fn of(seen: &[(&str, &Value)], now: Timestamp, zone: &TimeZone) -> Result<Self, WhyNot> {
        let mut size = Size::default();
        let mut context = Context::with_env(Arc::clone(&LANGUAGE));
        for (name, json) in seen {
            let of_one = Size::of(json, INPUT_LIMIT);
            size.bytes += of_one.bytes;
            size.values += of_one.values;
            if size.bytes > INPUT_LIMIT {
                return Err(WhyNot::TooLarge);
            }
            context.add_variable_from_value(*name, value::from_json(json));
        }
        context.add_variable_from_value("now", value::from_time(now).ok_or(WhyNot::TimeOutOfRange)?);
        let midnight = zone.to_datetime(now).date().to_datetime(Time::midnight());
        let today = zone.to_timestamp(midnight).map_err(|_| WhyNot::TimeOutOfRange)?;
        context.add_variable_from_value("today", value::from_time(today).ok_or(WhyNot::TimeOutOfRange)?);
        let (reading, writing) = (zone.clone(), zone.clone());
        context
            .add_function("date", move |text: CelValue, pattern: CelValue| {
                read_date(&text, &pattern, &reading)
            })
            .and_then(|()| {
                context.add_function("format", move |time: CelValue, pattern: CelValue| {
                    write_date(&time, &pattern, &writing)
                })
            })
            .map_err(|_| WhyNot::Other)?;
        Ok(Self {
            context,
            size: (size.values + size.bytes / BYTES_A_VISIT) as u64,
        })
    }
}

fn read_date(text: &CelValue, pattern: &CelValue, zone: &TimeZone) -> Result<CelValue, ExecutionError> {
    let fail = |message: String| ExecutionError::function_error("date", message);
    let (name, pattern) = date_pattern(pattern).map_err(fail)?;
    let CelValue::String(text) = text else {
        return Err(fail(format!(
            "a date of the form {name} is a string, not {}",
            value::kind(text)
        )));
    };
    pattern
        .read(text, zone)
        .and_then(value::from_time)
        .ok_or_else(|| fail(format!("\"{}\" is not a date of the form {name}", tidy(text, 40))))
}

fn write_date(time: &CelValue, pattern: &CelValue, zone: &TimeZone) -> Result<CelValue, ExecutionError> {
    let fail = |message: String| ExecutionError::function_error("format", message);
    let (_, pattern) = date_pattern(pattern).map_err(fail)?;
    let time = value::to_time(time)
        .ok_or_else(|| fail(format!("format takes a time, not {}", value::kind(time))))?;
    Ok(CelValue::String(Arc::new(pattern.write(time, zone))))
}

fn date_pattern(pattern: &CelValue) -> Result<(&str, DatePattern), String> {
    match pattern {
        CelValue::String(text) => DatePattern::parse(text)
            .map(|parsed| (text.as_str(), parsed))
            .map_err(|f| f.to_string()),
        other => Err(format!("a date pattern is a string, not {}", value::kind(other))),
    }
}

/// Why an expression has no value. Texts name no value of the arguments but a date that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum WhyNot {
    #[error("the arguments are larger than 256 kB")]
    TooLarge,
    #[error("the arguments are too many for this rule's loops")]
    TooMuchWork,
    #[error("the time is outside the years 1 to 9999")]
    TimeOutOfRange,
    #[error("there is no {0:?}")]
    NoMember(String),
    #[error("{operation:?} does not work on {types}")]
    WrongTypes { operation: String, types: String },
    #[error("{0}")]
    Function(String),
    #[error("a number is too large, or divided by zero")]
    Arithmetic,
    #[error("a list has fewer items than the rule reads")]
    OutOfBounds,
    #[error("it gives {0} where true or false is expected")]
    NotABoolean(&'static str),
    #[error("the rule's expression does not fit them")]
    Other,
}

impl From<ExecutionError> for WhyNot {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::NoSuchKey(name) => Self::NoMember(tidy(&name, 40)),
            ExecutionError::NoSuchOverload(overload) => Self::WrongTypes {
                operation: overload.function().trim_matches('_').replace('_', " "),
                types: overload.argument_types().join(" and "),
            },
            // Only this module's own functions speak in sentences; the library's may quote values.
            ExecutionError::FunctionError { function, message }
                if function == "date" || function == "format" =>
            {
                Self::Function(message)
            }
            ExecutionError::FunctionError { function, .. } => {
                Self::Function(format!("{function}() can't read what it was given"))
            }
            ExecutionError::Overflow(..)
            | ExecutionError::DivisionByZero(_)
            | ExecutionError::RemainderByZero(_) => Self::Arithmetic,
            ExecutionError::IndexOutOfBounds(_) => Self::OutOfBounds,
            _ => Self::Other,
        }
    }
}

/// At most `limit` characters of `text`, with control and direction characters made visible.
pub(super) fn tidy(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    for character in characters.by_ref().take(limit) {
        if character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
        {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

fn syntax(source: &str, errors: &ParseErrors) -> (Option<usize>, FaultKind) {
    let Some(first) = errors.errors.first() else {
        return (
            None,
            FaultKind::Syntax {
                message: "it can't be read".to_owned(),
            },
        );
    };
    let (line, column) = first.pos;
    let at = usize::try_from(line - 1)
        .ok()
        .zip(usize::try_from(column - 1).ok())
        .and_then(|(line, column)| {
            let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
            source.get(start + column..).map(|_| start + column)
        });
    (
        at,
        FaultKind::Syntax {
            message: plain(&first.msg),
        },
    )
}

/// The parser's words without its token names: "unexpected ')'".
fn plain(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let (message, _) = message.split_once(" expecting ").unwrap_or((message, ""));
    if message.ends_with("'<EOF>'") {
        return "it ends too early".to_owned();
    }
    let token = [
        "mismatched input ",
        "extraneous input ",
        "token recognition error at: ",
    ]
    .iter()
    .find_map(|opening| message.strip_prefix(opening));
    match token {
        Some(token) => format!("unexpected {}", tidy(token, SYNTAX_LIMIT)),
        None => tidy(message, SYNTAX_LIMIT),
    }
}

/// Whether the evaluator takes `pattern`, a string literal, for a regular expression.
pub(super) fn is_regex(pattern: &IdedExpr) -> bool {
    let target = IdedExpr {
        id: 0,
        expr: Expr::Literal(LiteralValue::String("".into())),
    };
    let call = CallExpr {
        func_name: "matches".to_owned(),
        target: Some(Box::new(target)),
        args: vec![pattern.clone()],
    };
    let probe = IdedExpr {
        id: 0,
        expr: Expr::Call(call),
    };
    CelValue::resolve(&probe, &Context::with_env(Arc::clone(&LANGUAGE))).is_ok()
}

/// Where `blamed`, a name or the inside of a string, first stands in the text; members of the same name don't count.
fn position(source: &str, blamed: &str) -> Option<usize> {
    let mut before = "";
    for (at, token) in outline::tokens(source) {
        let after = source.get(at + token.len()..).unwrap_or_default();
        let named = token == blamed && (before != "." || after.trim_start().starts_with('('));
        if named || (token.len() > blamed.len() && token.trim_matches(['"', '\'']) == blamed) {
            return Some(at);
        }
        before = token;
    }
    None
}
