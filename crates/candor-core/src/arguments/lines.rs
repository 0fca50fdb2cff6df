//! Issues as text for the model: one sentence each, the first few and a count of the rest, never above a budget.

use crate::arguments::issue::Issue;
use crate::contract::schema::shown_path;

/// The rule of an issue that a tool's own type found where its schema found none.
pub const UNREADABLE: &str = "unreadable";
/// Most issues told; the rest is counted.
const MAX_TOLD: usize = 8;

/// `issues` (of `total`) as sentences, in at most `budget_bytes` bytes of UTF-8.
///
/// `/departureDate: expected dd/mm/yyyy, received "2024-12-12". /seatClas: unknown name, did you mean /seatClass?`
pub fn lines(issues: &[Issue], total: usize, budget_bytes: usize) -> String {
    worded(issues, total, budget_bytes, RuleWords::Sentence)
}

/// As [`lines`], for rules in code: what they say is what is expected, as with a schema.
///
/// `/day: expected a day in the future, received "2024-12-12".`
pub fn lines_of_code(issues: &[Issue], total: usize, budget_bytes: usize) -> String {
    worded(issues, total, budget_bytes, RuleWords::Expectation)
}

/// What an issue of a rule that is no keyword has as `expected`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleWords {
    /// A whole sentence, as an operator writes it.
    Sentence,
    /// What is expected.
    Expectation,
}

fn worded(issues: &[Issue], total: usize, budget_bytes: usize, words: RuleWords) -> String {
    let total = total.max(issues.len());
    let mut text = String::new();
    let mut told = 0;
    for issue in issues.iter().take(MAX_TOLD) {
        let sentence = sentence(issue, words);
        let gap = usize::from(!text.is_empty());
        let tail = rest(total - told - 1).map_or(0, |rest| rest.len() + 1);
        if text.len() + gap + sentence.len() + tail > budget_bytes {
            break;
        }
        if gap > 0 {
            text.push(' ');
        }
        text.push_str(&sentence);
        told += 1;
    }
    if told == 0
        && let Some(first) = issues.first()
    {
        return cut(&sentence(first, words), budget_bytes);
    }
    if let Some(rest) = rest(total - told) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&rest);
    }
    cut(&text, budget_bytes)
}

fn rest(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("One more problem was found.".to_owned()),
        many => Some(format!("{many} more problems were found.")),
    }
}

fn sentence(issue: &Issue, words: RuleWords) -> String {
    let path = shown_path(&issue.path);
    let received = issue.received.as_deref();
    let body = match (issue.rule.as_str(), received) {
        ("additionalProperties" | "unevaluatedProperties" | "unknown_name", _) => match &issue.hint {
            Some(hint) => return ended(format!("{path}: unknown name, {hint}")),
            None => format!("unknown name, expected {}", issue.expected),
        },
        ("required" | "dependentRequired" | "dependencies", None) => {
            format!("missing, expected {}", issue.expected)
        }
        (rule, Some(received)) if is_keyword(rule) => {
            format!("expected {}, received {received}", issue.expected)
        }
        (rule, None) if is_keyword(rule) => format!("expected {}", issue.expected),
        // What serde says of a value is a sentence too.
        (rule, Some(received)) if words == RuleWords::Expectation && rule != UNREADABLE => {
            format!("expected {}, received {received}", issue.expected)
        }
        // An operator's rule brings its own sentence.
        (_, Some(received)) => format!("{}, received {received}", issue.expected),
        (_, None) => issue.expected.clone(),
    };
    match issue
        .hint
        .as_deref()
        .filter(|hint| !(issue.rule == "pattern" && hint.starts_with("pattern ")))
    {
        Some(hint) if hint.starts_with("did you mean") => ended(format!("{path}: {body}, {hint}")),
        Some(hint) => ended(format!("{path}: {body} ({hint})")),
        None => ended(format!("{path}: {body}")),
    }
}

/// The keywords of JSON Schema that an issue's rule can be.
fn is_keyword(rule: &str) -> bool {
    matches!(
        rule,
        "type"
            | "enum"
            | "const"
            | "pattern"
            | "format"
            | "false"
            | "not"
            | "anyOf"
            | "oneOf"
            | "required"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "minLength"
            | "maxLength"
            | "minItems"
            | "maxItems"
            | "minProperties"
            | "maxProperties"
            | "uniqueItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "propertyNames"
            | "dependentRequired"
            | "dependencies"
            | "contentEncoding"
            | "contentMediaType"
    )
}

fn ended(sentence: String) -> String {
    if sentence.ends_with(['.', '?', '!']) {
        sentence
    } else {
        sentence + "."
    }
}

/// `text` in at most `bytes` bytes, cut between characters.
fn cut(text: &str, bytes: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    if bytes < MARK.len() {
        kept.to_owned()
    } else {
        format!("{kept}{MARK}")
    }
}

#[cfg(test)]
mod tests {
    use super::{lines, lines_of_code};
    use crate::arguments::issue::Issue;

    fn issue(path: &str, rule: &str, expected: &str, received: Option<&str>, hint: Option<&str>) -> Issue {
        Issue {
            path: path.into(),
            rule: rule.into(),
            expected: expected.into(),
            received: received.map(Into::into),
            hint: hint.map(Into::into),
        }
    }

    #[test]
    fn issues_read_as_sentences() {
        let issues = [
            issue(
                "/departureDate",
                "pattern",
                "dd/mm/yyyy",
                Some("\"2024-12-12\""),
                Some("pattern ^x$"),
            ),
            issue(
                "/seatClas",
                "unknown_name",
                "one of the names a",
                Some("1"),
                Some("did you mean /seatClass?"),
            ),
            issue("/query", "required", "a string", None, None),
            issue(
                "/when",
                "future",
                "it must be in the future; it is now 08/08/2025",
                Some("1"),
                None,
            ),
            issue(
                "",
                "minProperties",
                "an object of at least 1 member",
                Some("{}"),
                None,
            ),
        ];
        assert_eq!(
            lines(&issues, 5, 1000),
            "/departureDate: expected dd/mm/yyyy, received \"2024-12-12\". /seatClas: unknown name, did you mean \
             /seatClass? /query: missing, expected a string. /when: it must be in the future; it is now 08/08/2025, \
             received 1. (the whole): expected an object of at least 1 member, received {}."
        );
    }

    #[test]
    fn a_rule_in_code_says_what_is_expected() {
        let issues = [
            issue("/day", "future", "a day in the future", Some("1"), None),
            issue(
                "/to",
                "unreadable",
                "the tool can't read it: no hour",
                Some("2"),
                None,
            ),
            issue(
                "/a",
                "backend",
                "the backend refused it without a reason",
                None,
                None,
            ),
        ];
        assert_eq!(
            lines_of_code(&issues, 3, 1000),
            "/day: expected a day in the future, received 1. /to: the tool can't read it: no hour, received 2. \
             /a: the backend refused it without a reason."
        );
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let issues: Vec<Issue> = (0..20)
            .map(|index| issue(&format!("/a/{index}"), "type", "an integer", Some("\"x\""), None))
            .collect();
        let text = lines(&issues, 60, 4000);
        assert!(text.ends_with("52 more problems were found."), "{text}");
        let text = lines(&issues, 60, 120);
        assert!(
            text.len() <= 120 && text.ends_with("58 more problems were found."),
            "{text}"
        );
        assert_eq!(
            lines(&issues[..1], 1, 4000),
            "/a/0: expected an integer, received \"x\"."
        );
        assert_eq!(lines(&[], 0, 10), "");
    }

    #[test]
    fn a_cut_falls_between_characters() {
        let issues = [issue("/é", "type", "ééééééééééé", Some("\"日本\""), None)];
        for budget in 0..60 {
            assert!(lines(&issues, 3, budget).len() <= budget, "{budget}");
        }
    }
}
