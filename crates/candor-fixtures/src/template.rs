//! Fills the blanks of what a script sends, and joins it to one line. Bytes that are no blank stay as they are.

/// Raw JSON on one line: line breaks outside of strings go, with the indentation behind them.
pub(crate) fn one_line(raw: &str) -> String {
    let mut line = String::with_capacity(raw.len());
    let (mut in_string, mut escaped, mut indenting) = (false, false, false);
    for character in raw.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if matches!(character, '\n' | '\r') {
            indenting = true;
            continue;
        } else if indenting && character.is_ascii_whitespace() {
            continue;
        } else {
            indenting = false;
            in_string = character == '"';
        }
        line.push(character);
    }
    line
}

/// Puts values in place of blanks. `"{{name}}"` as a whole JSON string becomes the raw value; `{{name}}` inside a longer
/// text becomes the value's text, escaped for a JSON string. `lookup` gives raw JSON; a name it does not know stays.
pub(crate) fn fill(text: &str, mut lookup: impl FnMut(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from_blank)) = rest.split_once("{{") {
        let Some((name, after)) = from_blank.split_once("}}") else {
            break;
        };
        match (lookup(name), before.strip_suffix('"'), after.strip_prefix('"')) {
            (Some(value), Some(before), Some(after)) => {
                filled.push_str(before);
                filled.push_str(&value);
                rest = after;
            }
            (Some(value), ..) => {
                filled.push_str(before);
                filled.push_str(&inner_text(&value));
                rest = after;
            }
            (None, ..) => {
                filled.push_str(before);
                filled.push_str("{{");
                rest = from_blank;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The value as it can stand inside a JSON string.
fn inner_text(value: &str) -> String {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(text) => text.to_owned(),
        None => value.replace('\\', r"\\").replace('"', r#"\""#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_go_only_outside_of_strings() {
        for (raw, expected) in [
            ("{\n  \"a\": 1,\n  \"b\": 2 }", "{\"a\": 1,\"b\": 2 }"),
            ("{\"a\": \"x\\\"\\n  y\"}", "{\"a\": \"x\\\"\\n  y\"}"),
            ("[1.10,  1E2]", "[1.10,  1E2]"),
            ("\"a  \\\\\"  ", "\"a  \\\\\"  "),
        ] {
            assert_eq!(one_line(raw), expected);
        }
    }

    #[test]
    fn blanks_are_filled_and_the_rest_stays() {
        let lookup = |name: &str| match name {
            "id" => Some("7".to_owned()),
            "word" => Some(r#""a\"b""#.to_owned()),
            "object" => Some(r#"{"x":"y"}"#.to_owned()),
            _ => None,
        };
        for (text, expected) in [
            (r#"{"id":"{{id}}"}"#, r#"{"id":7}"#),
            (r#"{"id":"{{word}}"}"#, r#"{"id":"a\"b"}"#),
            (r#"{"t":"call {{id}} of {{word}}"}"#, r#"{"t":"call 7 of a\"b"}"#),
            (r#"{"t":"got {{object}}"}"#, r#"{"t":"got {\"x\":\"y\"}"}"#),
            (r#"{"t":"{{other}} {{id}}"}"#, r#"{"t":"{{other}} 7"}"#),
            ("{{open", "{{open"),
        ] {
            assert_eq!(fill(text, lookup), expected);
        }
    }
}
