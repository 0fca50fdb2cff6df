//! Any expression and message as a rule, on any arguments: compiling and checking end with an answer, on a small stack
//! too, and what is told is bounded. An input is `check`, `---`, `message`, `---`, `arguments`.

use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::rules::{Part, Rule, RuleAnswer, RuleFault, Zone};
use jiff::Timestamp;
use serde_json::Value;

use super::schema::sample;
use crate::broken::{Broken, law};
use crate::input::{parts, text};

/// Words that rules are made of.
pub(crate) const WORDS: &[&str] = &[
    "args",
    "args.a",
    "args.b[0]",
    "args['a']",
    "now",
    "today",
    "date(args.a, 'dd/mm/yyyy')",
    "format(now, 'yyyy-mm-dd')",
    "has(args.a)",
    "size(args.b)",
    ".matches('^a+$')",
    ".contains('x')",
    ".startsWith('')",
    "args.b.all(x, x > 1)",
    "args.b.exists(x, args.b.all(y, y != x))",
    ".filter(x, true)",
    ".map(x, x)",
    "duration('1h')",
    "timestamp('2025-01-01T00:00:00Z')",
    ".getFullYear()",
    ".getHours('Asia/Tokyo')",
    "int(",
    "double(",
    "string(",
    "uint(",
    "bytes('a')",
    "type(",
    "dyn(",
    "9223372036854775807",
    "-9223372036854775808",
    "0u",
    "1e308",
    "0x7f",
    "0 / 0",
    "1 % 0",
    " in ",
    " && ",
    " || ",
    " ? ",
    " : ",
    "!",
    "-",
    "==",
    "!=",
    "<=",
    "[1, 2]",
    "{'a': 1}",
    "r'\\d'",
    "b'\\xff'",
    "'''",
    "\"\"\"",
    "// x\n",
    "{{",
    "}}",
    "{{ args.a }}",
    "{{ now }}",
    "\\u{110000}",
    "\\777",
    "true",
    "null",
    ".?a",
    "[?0]",
    "optional.none()",
    "args.a.b.c.d",
];

/// Noon on 30 November 2026, UTC.
const NOW: i64 = 1_796_040_000;
/// Most bytes of any text in an answer: a message has at most 500 characters, and a rule's name and reason around it.
const LONGEST: usize = 4 * 1024;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let text = text(input);
    let [check, message, arguments] = parts(&text);
    let path: Pointer = "/a".parse().unwrap_or_else(|_| Pointer::whole());
    let zone = Zone::named("Europe/Zurich").unwrap_or_else(Zone::utc);
    let rule = match Rule::compile("r", check, message, &path, &zone) {
        Ok(rule) => rule,
        Err(faults) => return told(check, message, &faults),
    };
    let now = Timestamp::from_second(NOW).unwrap_or_default();
    let arguments = serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| sample());
    for arguments in [&arguments, &Value::Null] {
        let answer = rule.check(arguments, now);
        law(
            "a rule answers the same every time",
            answer == rule.check(arguments, now),
            || format!("{answer:?}"),
        )?;
        if let RuleAnswer::Broken(issue) | RuleAnswer::CannotTell(issue) = &answer {
            let texts = [
                Some(&issue.expected),
                issue.received.as_ref(),
                issue.hint.as_ref(),
            ];
            let bounded = texts.into_iter().flatten().all(|text| text.len() <= LONGEST);
            law(
                "an issue is bounded and names its rule",
                bounded && issue.rule == "r",
                || format!("{issue:?}"),
            )?;
        }
    }
    Ok(())
}

fn told(check: &str, message: &str, faults: &[RuleFault]) -> Result<(), Broken> {
    let seen = || format!("{faults:?} of {check:?} and {message:?}");
    law(
        "a refused rule has one fault of each text at most",
        (1..=2).contains(&faults.len()),
        seen,
    )?;
    let placed = faults.iter().all(|fault| {
        let text = match fault.part {
            Part::Check => check,
            Part::Message => message,
        };
        fault.at.is_none_or(|at| text.is_char_boundary(at)) && !fault.kind.to_string().is_empty()
    });
    law("a rule's fault has its place in the text", placed, seen)
}
