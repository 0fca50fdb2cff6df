//! Credentials in JSON text that must otherwise stay as it came: single strings are written anew, nothing else.

use std::borrow::Cow;
use std::ops::Range;

use super::assignment::LEAST_QUOTED;
use super::change::{Change, Redacted, RedactionKind, tally};
use super::encoded::is_base64;
use super::json::{BLOB_MEMBERS, is_known, names_secret};
use super::known::KnownSecrets;
use super::scan::masked;
use super::values;

/// One string (or number) of a JSON text, written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// What is to stand there: JSON text.
    pub text: String,
}

/// The strings of `text`, which is valid JSON, that hold credentials or known secrets, as they must be written anew.
///
/// A string under a secret's name is masked whole, unless it is talk about the secret: a server names the argument it
/// complains of. Base64 in `data` or `blob` beside a `mimeType`, data URIs and names of members stay. Linear in the text.
#[must_use]
pub fn raw(text: &str, secrets: &KnownSecrets) -> Redacted<Vec<Rewritten>> {
    let mut reader = Reader {
        secrets,
        holders: Vec::new(),
        found: Vec::new(),
    };
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let end = match byte {
            b'"' => string_end(text, at),
            b'-' | b'0'..=b'9' => number_end(text, at),
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => reader.open(byte == b'{'),
            b'}' | b']' => reader.close(),
            b',' => reader.next_member(),
            b'"' => reader.string(text.get(at..end).unwrap_or_default(), at..end),
            b'-' | b'0'..=b'9' => reader.number(text.get(at..end).unwrap_or_default(), at..end),
            _ => {}
        }
        at = end;
    }
    let mut changes = Vec::new();
    let value = reader
        .found
        .into_iter()
        .filter(|found| !found.dropped)
        .map(|found| {
            for change in found.changes {
                tally(&mut changes, change.kind, change.count);
            }
            found.rewritten
        })
        .collect();
    Redacted { value, changes }
}

/// The same text with those strings written anew.
#[must_use]
pub fn rewritten(text: &str, secrets: &KnownSecrets) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for piece in raw(text, secrets).value {
        out.push_str(text.get(kept..piece.span.start).unwrap_or_default());
        out.push_str(&piece.text);
        kept = piece.span.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    out
}

/// An object or array that is open.
struct Holder<'t> {
    is_object: bool,
    /// The name whose value comes; `None` while a name is awaited, and in an array.
    name: Option<Cow<'t, str>>,
    /// Is the value in here (an array's item) under a secret's name?
    secret: Option<Cow<'t, str>>,
    /// It has a `mimeType`: its base64 is an image's, a sound's or a resource's.
    has_mime_type: bool,
    /// Finds in members that may be such base64.
    blobs: Vec<usize>,
}

struct Find {
    rewritten: Rewritten,
    changes: Vec<Change>,
    /// It turned out to stand in a blob.
    dropped: bool,
}

struct Reader<'t, 's> {
    secrets: &'s KnownSecrets,
    holders: Vec<Holder<'t>>,
    found: Vec<Find>,
}

impl<'t> Reader<'t, '_> {
    fn open(&mut self, is_object: bool) {
        let secret = if is_object {
            None
        } else {
            self.secret_name().cloned()
        };
        self.holders.push(Holder {
            is_object,
            name: None,
            secret,
            has_mime_type: false,
            blobs: Vec::new(),
        });
    }

    fn close(&mut self) {
        let Some(holder) = self.holders.pop() else { return };
        if !holder.has_mime_type {
            return;
        }
        for at in holder.blobs {
            if let Some(find) = self.found.get_mut(at) {
                find.dropped = true;
            }
        }
    }

    fn next_member(&mut self) {
        if let Some(holder) = self.holders.last_mut() {
            holder.name = None;
        }
    }

    /// The secret's name that a value here stands under.
    fn secret_name(&self) -> Option<&Cow<'t, str>> {
        let holder = self.holders.last()?;
        if !holder.is_object {
            return holder.secret.as_ref();
        }
        let secrets = self.secrets;
        holder.name.as_ref().filter(|name| names_secret(name, secrets))
    }

    fn string(&mut self, token: &'t str, span: Range<usize>) {
        let decoded = decoded(token);
        if let Some(holder) = self.holders.last_mut()
            && holder.is_object
            && holder.name.is_none()
        {
            let name = decoded.unwrap_or(Cow::Borrowed(token));
            holder.has_mime_type |= name == "mimeType";
            holder.name = Some(name);
            return;
        }
        let redacted = match decoded {
            Some(value) => self.redacted(&value, self.secret_name().map(|name| &**name)),
            // Half a surrogate pair is no text: what can't be decoded is searched as it is written.
            None => self.redacted_as_written(token),
        };
        if let Some((text, changes)) = redacted {
            self.keep(Rewritten { span, text }, changes, token);
        }
    }

    fn number(&mut self, token: &str, span: Range<usize>) {
        if is_known(token, self.secrets) {
            let kind = RedactionKind::KnownSecret;
            let text = quoted(kind.mask());
            self.keep(Rewritten { span, text }, vec![Change { kind, count: 1 }], token);
        }
    }

    /// A string as it must be written anew, and why; `None` where it stays.
    fn redacted(&self, value: &str, secret: Option<&str>) -> Option<(String, Vec<Change>)> {
        if let Some(name) = secret
            && value.len() >= LEAST_QUOTED
            && !values::is_no_secret(name, value)
        {
            let kind = RedactionKind::NamedSecret;
            return Some((quoted(kind.mask()), vec![Change { kind, count: 1 }]));
        }
        let redacted = masked(value, self.secrets);
        (!redacted.changes.is_empty()).then(|| (quoted(&redacted.value), redacted.changes))
    }

    fn redacted_as_written(&self, token: &str) -> Option<(String, Vec<Change>)> {
        let inside = token.get(1..token.len().saturating_sub(1)).unwrap_or_default();
        let redacted = masked(inside, self.secrets);
        (!redacted.changes.is_empty()).then(|| (format!("\"{}\"", redacted.value), redacted.changes))
    }

    fn keep(&mut self, rewritten: Rewritten, changes: Vec<Change>, token: &str) {
        let at = self.found.len();
        if let Some(holder) = self.holders.last_mut()
            && holder
                .name
                .as_deref()
                .is_some_and(|name| BLOB_MEMBERS.contains(&name))
            && is_base64(token.trim_matches('"'))
        {
            holder.blobs.push(at);
        }
        self.found.push(Find {
            rewritten,
            changes,
            dropped: false,
        });
    }
}

/// What a string of JSON says; borrowed, as most have no escape. `None` where it is no text.
fn decoded(token: &str) -> Option<Cow<'_, str>> {
    if token.contains('\\') {
        return serde_json::from_str(token).ok().map(Cow::Owned);
    }
    let inside = token.strip_prefix('"')?.strip_suffix('"')?;
    let is_text = inside.bytes().all(|byte| byte >= b' ');
    is_text.then_some(Cow::Borrowed(inside))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where the string that opens at `at` ends, its quote included.
fn string_end(text: &str, at: usize) -> usize {
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(at.saturating_add(1)) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return offset + 1,
            _ => {}
        }
    }
    text.len()
}

fn number_end(text: &str, at: usize) -> usize {
    super::scan::run_end(text, at, |byte| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
    })
}
