//! Changing a server's tool result as little as its ruling asks for: a block first, the flag, credentials masked in
//! flagged text, and Candor's keys in `_meta`. Everything else leaves as it came.

use std::ops::Range;

use bytestring::ByteString;
use serde_json::{Value, json};

use super::redaction::{self, KnownSecrets};
use crate::judgment::ruling::{Bytes, Flag, Ruling};
use crate::reading::members::{Block, Members};
use crate::wire::encode::{Edits, Pieces, span};
use crate::wire::members::{Opened, entries, object};

/// Prefix of every `_meta` key that is Candor's own.
const OURS: &str = "candor/";
/// Blocks made from a structure are cut at this many bytes.
const MADE_BLOCK: usize = 16 * 1024;

/// A server's result with its edits, waiting for the members that only the receipt can complete.
#[derive(Debug, Clone)]
pub struct Reworked {
    edits: Edits,
    result: Range<usize>,
    members: Vec<String>,
    meta: MetaPlace,
    /// What was masked, where something was: to be disclosed.
    pub masked: Option<Value>,
    /// A verdict that the server put under Candor's key.
    pub claimed: bool,
}

#[derive(Debug, Clone)]
enum MetaPlace {
    /// Inside an object that is there: before its closing brace.
    Inside { at: usize, empty: bool },
    /// A new member of the result.
    New,
    /// Instead of a value that is rewritten: these members come first.
    Instead { span: Range<usize>, members: String },
}

impl Reworked {
    /// Plans the edits of a result standing in `frame`. `None` where it can't be edited (it is no object, or not a part
    /// of the frame).
    pub fn plan(
        frame: &str,
        result: &Opened<'_>,
        ruling: &Ruling,
        block: Option<&str>,
        secrets: &KnownSecrets,
    ) -> Option<Self> {
        let members = Members::of(result)?;
        let mut this = Self {
            edits: Edits::new(),
            result: span(frame, result.raw())?,
            members: Vec::new(),
            meta: MetaPlace::New,
            masked: None,
            claimed: false,
        };
        this.plan_meta(frame, members.meta);
        if ruling.flag == Flag::Set {
            this.plan_flag(frame, members.is_error);
            this.plan_masking(result.raw(), secrets);
        }
        let made = made_block(&members, ruling, secrets);
        let first = if ruling.bytes == Bytes::Prefixed {
            block
        } else {
            made.as_deref()
        };
        if let Some(text) = first {
            this.plan_block(frame, members.content, text);
        }
        Some(this)
    }

    fn plan_flag(&mut self, frame: &str, flag: Option<&str>) {
        match flag.and_then(|raw| span(frame, raw)) {
            Some(place) => self.edits.replace(place, "true"),
            None => self.members.push("\"isError\":true".to_owned()),
        }
    }

    fn plan_block(&mut self, frame: &str, content: Option<&str>, text: &str) {
        let block = json!({ "type": "text", "text": text }).to_string();
        match content.filter(|raw| raw.starts_with('[')) {
            Some(raw) => {
                let Some(place) = span(frame, raw) else {
                    return;
                };
                let empty = raw.trim_matches(['[', ']']).trim_ascii().is_empty();
                let comma = if empty { "" } else { "," };
                self.edits.insert(place.start + 1, format!("{block}{comma}"));
            }
            None => match content.and_then(|raw| span(frame, raw)) {
                Some(place) => self.edits.replace(place, format!("[{block}]")),
                None => self.members.push(format!("\"content\":[{block}]")),
            },
        }
    }

    /// In a server's own flagged answer only credentials are masked, wherever they stand in it, and said so.
    fn plan_masking(&mut self, raw: &str, secrets: &KnownSecrets) {
        let redacted = redaction::raw(raw, secrets);
        for rewritten in redacted.value {
            let start = self.result.start + rewritten.span.start;
            let end = self.result.start + rewritten.span.end;
            self.edits.replace(start..end, rewritten.text);
        }
        // What is written anew as a whole takes no edits inside.
        if let MetaPlace::Instead { members, .. } = &mut self.meta {
            let rewritten = redaction::rewritten(&format!("{{{members}}}"), secrets);
            *members = rewritten
                .get(1..rewritten.len().saturating_sub(1))
                .unwrap_or_default()
                .to_owned();
        }
        if !redacted.changes.is_empty() {
            self.masked = Some(Value::Object(redaction::disclosure(&redacted.changes)));
        }
    }

    /// Finds the place for Candor's keys, and moves what a server put under them out of the way.
    fn plan_meta(&mut self, frame: &str, meta: Option<&str>) {
        let Some((raw, place)) = meta.and_then(|raw| Some((raw, span(frame, raw)?))) else {
            return;
        };
        if raw == "null" {
            self.meta = MetaPlace::Instead {
                span: place,
                members: String::new(),
            };
            return;
        }
        let Some(entries) = entries(raw) else {
            // It is no object, so it holds no metadata: it moves aside for what does.
            self.claimed = true;
            self.meta = MetaPlace::Instead {
                span: place,
                members: format!("\"candor/claimed\":{raw}"),
            };
            return;
        };
        if entries.iter().all(|(name, _)| claimed_name(name).is_none()) {
            self.meta = MetaPlace::Inside {
                at: place.end - 1,
                empty: entries.is_empty(),
            };
            return;
        }
        // Only then is `_meta` written anew: every value as it came, our keys under another name.
        self.claimed = true;
        let rewritten = entries.iter().map(|(name, value)| match claimed_name(name) {
            Some(claimed) => format!("{}:{}", json!(claimed), value.get()),
            None => format!("{name}:{}", value.get()),
        });
        self.meta = MetaPlace::Instead {
            span: place,
            members: rewritten.collect::<Vec<_>>().join(","),
        };
    }

    /// The frame with all edits done, `candor` (members without braces) among the members of `_meta`.
    pub fn finish(mut self, frame: &ByteString, id: (Range<usize>, &str), candor: &str) -> Pieces {
        self.edits.replace(id.0, id.1);
        match self.meta {
            MetaPlace::Inside { at, empty } => {
                self.edits
                    .insert(at, format!("{}{candor}", if empty { "" } else { "," }));
            }
            MetaPlace::New => self.members.push(format!("\"_meta\":{{{candor}}}")),
            MetaPlace::Instead { span, members } => {
                let comma = if members.is_empty() { "" } else { "," };
                self.edits.replace(span, format!("{{{members}{comma}{candor}}}"));
            }
        }
        if !self.members.is_empty()
            && let Some((at, what)) =
                crate::wire::encode::add_members(frame, &self.result, &self.members.join(","))
        {
            self.edits.insert(at, what);
        }
        self.edits.share(frame)
    }
}

/// Under which name a member goes that stands under one of Candor's own keys; `None` for every other. A name that no
/// text can hold (half a surrogate pair) is none of ours.
fn claimed_name(raw: &str) -> Option<String> {
    let name: String = serde_json::from_str(raw).ok()?;
    Some(match name.strip_prefix(OURS)? {
        "verdict" => "candor/claimed".to_owned(),
        rest => format!("candor/claimed.{rest}"),
    })
}

/// A flagged result whose content is empty, though its structure says something, gets a block made from it: hosts
/// often show text only.
fn made_block(members: &Members<'_>, ruling: &Ruling, secrets: &KnownSecrets) -> Option<String> {
    if ruling.flag != Flag::Set || ruling.bytes != Bytes::Untouched {
        return None;
    }
    let empty = members.blocks().is_none_or(|blocks| {
        blocks.iter().all(|raw| {
            object::<Block<'_>>(raw.get()).is_some_and(|block| {
                block.is_text()
                    && block
                        .text
                        .is_none_or(|text| text.get().trim_matches('"').trim().is_empty())
            })
        })
    });
    let structured = members.structured.filter(|raw| *raw != "null")?;
    if !empty {
        return None;
    }
    let value: Value = serde_json::from_str(structured).ok()?;
    let mut text = redaction::json_owned(value, secrets).value.to_string();
    if text.len() > MADE_BLOCK {
        text.truncate(text.floor_char_boundary(MADE_BLOCK));
        text.push('…');
    }
    Some(text)
}
