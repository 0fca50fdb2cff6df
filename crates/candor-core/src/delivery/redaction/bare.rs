//! URLs in a text of Candor's own: scheme, host and path, and nothing of what else people put into them.

use std::borrow::Cow;

use super::change::{Change, Redacted, RedactionKind, mask_end};

/// How the authority of a URL is opened, also as some encoders write it in JSON.
const OPENS: &[&str] = &["://", ":\\/\\/"];

/// What stands where a query or a fragment was.
const LEFT_OUT: &str = RedactionKind::UrlPart.mask();

/// A text whose URLs have lost user info, query and fragment, whatever these hold. Where a query or a fragment was an
/// ellipsis stands.
pub(super) fn without_url_parts(input: &str) -> Redacted<Cow<'_, str>> {
    let mut value = String::new();
    let mut count = 0_usize;
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = input.get(at..).and_then(|rest| rest.find(':')) {
        let colon = at + found;
        let Some(url) = Url::at(input, colon) else {
            at = colon + 1;
            continue;
        };
        at = url.end;
        if url.user_info == url.start && url.tail_is_bare(input) {
            continue;
        }
        count = count.saturating_add(1);
        value.push_str(input.get(kept..url.start).unwrap_or_default());
        value.push_str(input.get(url.user_info..url.tail).unwrap_or_default());
        if url.tail < url.end {
            value.push_str(input.get(url.tail..url.tail + 1).unwrap_or_default());
            value.push_str(LEFT_OUT);
        }
        kept = url.end;
    }
    if count == 0 {
        return Redacted {
            value: Cow::Borrowed(input),
            changes: Vec::new(),
        };
    }
    value.push_str(input.get(kept..).unwrap_or_default());
    Redacted {
        value: Cow::Owned(value),
        changes: vec![Change {
            kind: RedactionKind::UrlPart,
            count,
        }],
    }
}

/// Where the parts of one URL stand.
struct Url {
    /// The authority.
    start: usize,
    /// The end of the user info, its `@` included; [`Self::start`] where there is none.
    user_info: usize,
    /// The `?` or `#`; [`Self::end`] where there is none.
    tail: usize,
    end: usize,
}

impl Url {
    /// The URL whose scheme ends at `colon`.
    fn at(text: &str, colon: usize) -> Option<Self> {
        let rest = text.get(colon..)?;
        let opening = OPENS.iter().find(|opening| rest.starts_with(**opening))?;
        let is_scheme = text
            .get(..colon)
            .and_then(|before| before.bytes().next_back())
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !is_scheme {
            return None;
        }
        let start = colon + opening.len();
        let end = end_of_url(text, start);
        let (mut user_info, mut tail, mut in_authority) = (start, end, true);
        let mut at = start;
        while at < end {
            if let Some(masked) = mask_end(text, at) {
                at = masked;
                continue;
            }
            match text.as_bytes().get(at) {
                Some(b'@') if in_authority => user_info = at + 1,
                Some(b'/') => in_authority = false,
                Some(b'?' | b'#') => {
                    tail = at;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        Some(Self {
            start,
            user_info,
            tail,
            end,
        })
    }

    /// Whether there is no query or fragment, or only the place of one.
    fn tail_is_bare(&self, text: &str) -> bool {
        matches!(text.get(self.tail..self.end), Some("" | "?…" | "#…"))
    }
}

/// Where the URL that goes on at `start` ends: at white space or a quote, and not with a sentence's own mark.
fn end_of_url(text: &str, start: usize) -> usize {
    let mut end = start;
    while let Some(letter) = text.get(end..).and_then(|rest| rest.chars().next()) {
        if let Some(masked) = mask_end(text, end) {
            end = masked;
            continue;
        }
        // A slash that JSON escapes goes on; any other escape is a quote or a line break.
        let is_escaped_slash = letter == '\\' && text.as_bytes().get(end + 1) == Some(&b'/');
        let is_end = letter.is_whitespace()
            || letter.is_control()
            || matches!(letter, '"' | '<' | '>' | '`')
            || (letter == '\\' && !is_escaped_slash);
        if is_end {
            break;
        }
        end += letter.len_utf8();
    }
    let url = text.get(start..end).unwrap_or_default();
    let sentence = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'']);
    // A mask ends with a bracket of its own.
    let masked = url
        .match_indices('[')
        .filter_map(|(at, _)| mask_end(url, at))
        .max()
        .unwrap_or(0);
    start + sentence.len().max(masked)
}
