//! How deep an expression is, judged from its text.
//!
//! The parser behind the rules has no budget and recurses, so a deep text must be refused before it is parsed. What
//! counts here is an upper bound of the depth of the parsed tree: brackets, and operators that follow one another.

use super::fault::FaultKind;

/// Longest expression, in bytes.
pub(super) const SOURCE_LIMIT: usize = 2048;
/// Most brackets open at once.
pub(super) const BRACKET_LIMIT: usize = 24;
/// Largest depth that the text may suggest. The tree is measured again, exactly, when it is there.
const OUTLINE_LIMIT: usize = 64;

/// Operators since the last comma or `&&` on one level of brackets; the parser balances `&&` and `||` itself.
#[derive(Default)]
struct Level {
    chain: usize,
    choices: usize,
}

/// Refuses a text that is too long or may be too deep.
pub(super) fn check(source: &str) -> Result<(), FaultKind> {
    if source.len() > SOURCE_LIMIT {
        return Err(FaultKind::TooLong { limit: SOURCE_LIMIT });
    }
    let mut levels = vec![Level::default()];
    for (_, token) in tokens(source) {
        match token {
            "(" | "[" | "{" => {
                count(&mut levels, |level| level.chain += 1);
                levels.push(Level::default());
            }
            ")" | "]" | "}" if levels.len() > 1 => drop(levels.pop()),
            "," => count(&mut levels, |level| *level = Level::default()),
            "&&" | "||" => count(&mut levels, |level| level.chain = 0),
            "?" => count(&mut levels, |level| level.choices += 1),
            "in" | "." | "+" | "-" | "*" | "/" | "%" | "!" | "<" | ">" | "<=" | ">=" | "==" | "!=" => {
                count(&mut levels, |level| level.chain += 1);
            }
            _ => {}
        }
        let depth: usize = levels.iter().map(|level| level.chain + level.choices).sum();
        if levels.len() > BRACKET_LIMIT + 1 || depth > OUTLINE_LIMIT {
            return Err(FaultKind::TooDeep);
        }
    }
    Ok(())
}

fn count(levels: &mut [Level], change: impl FnOnce(&mut Level)) {
    if let Some(level) = levels.last_mut() {
        change(level);
    }
}

/// The tokens of an expression with the byte each starts at; spaces and comments are tokens too.
pub(super) fn tokens(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = source.get(at..)?;
        let token = rest.get(..token_length(rest, rest.chars().next()?))?;
        let start = at;
        at += token.len();
        Some((start, token))
    })
}

/// Bytes of the token at the start of `rest`: a string, a comment, a word, an operator or one character.
fn token_length(rest: &str, first: char) -> usize {
    let quoted = rest.trim_start_matches(['r', 'R', 'b', 'B']);
    let prefix = rest.len() - quoted.len();
    if prefix <= 2 && quoted.starts_with(['"', '\'']) {
        return prefix
            + string_length(
                quoted,
                rest.get(..prefix).unwrap_or_default().contains(['r', 'R']),
            );
    }
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if first.is_alphanumeric() || first == '_' {
        return rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
    }
    let pair = ["&&", "||", "==", "!=", "<=", ">="]
        .iter()
        .find(|pair| rest.starts_with(**pair));
    pair.map_or(first.len_utf8(), |pair| pair.len())
}

/// Bytes of the string literal at the start of `text`; up to the end where it is not closed.
fn string_length(text: &str, raw: bool) -> usize {
    let quote = text.get(..1).unwrap_or_default();
    let triple = quote.repeat(3);
    let close = if text.starts_with(&triple) {
        triple.as_str()
    } else {
        quote
    };
    let mut at = close.len();
    while let Some(rest) = text.get(at..) {
        if rest.starts_with(close) {
            return at + close.len();
        }
        let mut characters = rest.chars();
        let Some(next) = characters.next() else { break };
        at += next.len_utf8();
        if next == '\\' && !raw {
            at += characters.next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_deep_texts_are_refused() {
        let deep = [
            format!("{}1{}", "(".repeat(25), ")".repeat(25)),
            format!("{}1{}", "[".repeat(25), "]".repeat(25)),
            vec!["1"; 200].join("+"),
            format!("{}true", "!".repeat(200)),
            format!("{}1", "-".repeat(200)),
            "a?b:".repeat(200) + "c",
            "a?b&&c:".repeat(200) + "c",
            format!("args{}", ".a".repeat(200)),
            format!("args{}", "[0]".repeat(200)),
            vec!["1"; 200].join(" in "),
            format!("'a' + {}", vec!["1"; 200].join("+")),
            format!("'\\'' + r'\\' + {}", vec!["1"; 200].join("+")),
        ];
        for source in deep {
            assert_eq!(check(&source), Err(FaultKind::TooDeep), "{source}");
        }
        let long = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(check(&long), Err(FaultKind::TooLong { limit: SOURCE_LIMIT }));
        assert!(matches!(
            check(&vec!["1"; 2000].join("+")),
            Err(FaultKind::TooLong { .. })
        ));
    }

    #[test]
    fn wide_texts_and_quoted_ones_are_not() {
        let flat = [
            vec!["args.a == 1"; 100].join(" || "),
            format!("args.a in [{}]", vec!["1 + 1"; 200].join(",")),
            format!("args.a == '{}'", "(".repeat(1000)),
            format!("args.a == \"\"\"{}\"\"\"", "\"(+".repeat(300)),
            format!("args.a == 1 // {}", "(".repeat(1000)),
            format!("{}1{}", "(".repeat(24), ")".repeat(24)),
            "date(args.departureDate, 'dd/mm/yyyy') > now".to_owned(),
            String::new(),
            ")))".to_owned(),
            "'".to_owned(),
        ];
        for source in flat {
            assert_eq!(check(&source), Ok(()), "{source}");
        }
    }
}
