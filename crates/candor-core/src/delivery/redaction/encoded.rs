//! Base64: what must never be rewritten because it is an image or a blob, and what user and password hide in.

use super::scan::run_end;

/// Where a data URI (RFC 2397) ends, if `word`, which ends at `end`, opens one.
///
/// It is never touched, whatever its bytes spell. It ends at white space or at what quotes it.
pub(super) fn data_uri_end(text: &str, word: &str, end: usize) -> Option<usize> {
    if !word.eq_ignore_ascii_case("data") {
        return None;
    }
    let rest = text.get(end..)?.strip_prefix(':')?;
    let head = rest.bytes().take(128).position(|byte| byte == b',')?;
    let media = rest.get(..head)?;
    let is_media = media.is_empty() || media.starts_with(';') || media.contains('/');
    let has_gap = media
        .bytes()
        .any(|byte| byte.is_ascii_whitespace() || b"\"'<>{}".contains(&byte));
    if !is_media || has_gap {
        return None;
    }
    let is_body = |byte: u8| !byte.is_ascii_whitespace() && !b"\"'`<>)\\".contains(&byte);
    Some(run_end(text, end + 1 + head, is_body))
}

/// Whether a whole string is a data URI.
pub(super) fn is_data_uri(value: &str) -> bool {
    value
        .get(..4)
        .and_then(|word| data_uri_end(value, word, 4))
        .is_some_and(|end| end == value.len())
}

/// Whether a string is base64 (either alphabet, line breaks allowed) and nothing else.
pub(super) fn is_base64(value: &str) -> bool {
    value.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r')
    })
}

/// Whether the base64 text decodes to `user:password`: printable, with a colon (RFC 7617).
pub(super) fn is_user_and_password(encoded: &str) -> bool {
    let mut bits: u32 = 0;
    let mut held: u32 = 0;
    let mut has_colon = false;
    for byte in encoded.bytes().filter(|&byte| byte != b'=') {
        let Some(six) = six_bits(byte) else { return false };
        bits = ((bits << 6) | u32::from(six)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            let decoded = (bits >> held) & 0xff;
            if decoded < 0x20 || decoded == 0x7f {
                return false;
            }
            has_colon |= decoded == u32::from(b':');
        }
    }
    has_colon
}

fn six_bits(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
