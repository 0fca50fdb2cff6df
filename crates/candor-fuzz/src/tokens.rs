//! Where the values of something like JSON stand, found without asking that it be JSON.

use std::ops::Range;

/// Most values looked for in one input.
const MOST: usize = 400;

/// The spans of strings, numbers, words and balanced brackets. Broken text gives what can be found of it.
pub(crate) fn values(input: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = input.get(at) {
        if found.len() >= MOST {
            break;
        }
        let end = match byte {
            b'"' => string_end(input, at),
            b'{' | b'[' => {
                open.push(at);
                at + 1
            }
            b'}' | b']' => {
                if let Some(start) = open.pop() {
                    found.push(start..at + 1);
                }
                at + 1
            }
            byte if is_word(byte) => {
                let rest = input.get(at..).unwrap_or_default();
                at + rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len())
            }
            _ => at + 1,
        };
        if byte == b'"' || is_word(byte) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_' | b'$')
}

fn string_end(input: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = input.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    input.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_whole_and_in_broken_text() {
        let spans = |text: &'static str| -> Vec<&str> {
            values(text.as_bytes())
                .into_iter()
                .map(|span| &text[span])
                .collect()
        };
        assert_eq!(
            spans(r#"{"a":[1.5,true]}"#),
            ["\"a\"", "1.5", "true", "[1.5,true]", r#"{"a":[1.5,true]}"#]
        );
        assert_eq!(spans("]\"a\\"), ["\"a\\"]);
        assert_eq!(spans(""), Vec::<&str>::new());
    }
}
