//! The id in the first bytes of a message that was too long to keep.

/// The raw `id` of the top-level object that `head` begins, if it stands there whole. Ids in deeper objects and in
/// strings don't count.
pub fn id(head: &[u8]) -> Option<&str> {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(&byte) = head.get(at) {
        match byte {
            b'"' => {
                let end = string_end(head, at)?;
                let text = head.get(at + 1..end)?;
                let colon = after_blanks(head, end + 1);
                if depth == 1 && head.get(colon) == Some(&b':') {
                    if text == b"id" {
                        return scalar(head, after_blanks(head, colon + 1));
                    }
                    at = colon + 1;
                    continue;
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string that starts at `at` ends: the place of its closing quote.
fn string_end(head: &[u8], at: usize) -> Option<usize> {
    let mut escaped = false;
    for (offset, &byte) in head.get(at + 1..)?.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1 + offset),
            _ => {}
        }
    }
    None
}

fn after_blanks(head: &[u8], mut at: usize) -> usize {
    while head.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// A string or number that starts at `at` and does not run out of the head.
fn scalar(head: &[u8], at: usize) -> Option<&str> {
    let end = match head.get(at)? {
        b'"' => string_end(head, at)? + 1,
        b'-' | b'0'..=b'9' => {
            let length = head
                .get(at..)?
                .iter()
                .position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))?;
            at + length
        }
        _ => return None,
    };
    std::str::from_utf8(head.get(at..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn only_the_messages_own_id_counts() {
        for (head, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"te"#, Some("7")),
            (
                r#"{"jsonrpc": "2.0", "id" : "a\"b" , "result":{"#,
                Some(r#""a\"b""#),
            ),
            (r#"{"result":{"id":5,"x":"{\"id\":6"},"id":7,"#, Some("7")),
            (r#"{"result":{"id":5,"text":"xxxxxxxxxx"#, None),
            (r#"{"id":12"#, None),
            (r#"{"method":"id","x":1"#, None),
            ("no json at all", None),
            ("", None),
        ] {
            assert_eq!(id(head.as_bytes()), expected, "{head}");
        }
    }
}
