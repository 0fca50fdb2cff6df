//! What was masked or left out: the kinds, the mask of each, and the count of what changed.

use std::ops::Range;

use serde::Serialize;

/// What opens every mask; a mask already in a text is recognised by it and left alone.
const MASK_OPENS: &str = "[masked: ";

/// Longest label in a mask, in bytes.
const LONGEST_LABEL: usize = 32;

/// A value after redaction, and what redaction changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T> {
    /// The value, without the credentials that were found.
    pub value: T,
    /// What was masked or left out, one entry a kind, in the order of [`RedactionKind`]; empty means that nothing changed.
    pub changes: Vec<Change>,
}

/// How much of one kind was masked or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What kind.
    pub kind: RedactionKind,
    /// In how many places.
    pub count: usize,
}

/// What a piece of text was, that it does not stand there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RedactionKind {
    /// A token after the `Bearer` scheme (RFC 6750).
    BearerToken,
    /// A user and password after the `Basic` scheme (RFC 7617).
    BasicCredentials,
    /// What follows another scheme in an `Authorization` header.
    AuthorizationHeader,
    /// The contents of a `Cookie` or `Set-Cookie` header.
    Cookie,
    /// User info of a URL or connection string (`postgres://user:password@host`).
    UrlCredentials,
    /// The value of a secret query parameter (`?api_key=`, `&sig=`).
    QuerySecret,
    /// An AWS access key id.
    AwsKey,
    /// A GitHub token of any class.
    GithubToken,
    /// A GitLab token of any class.
    GitlabToken,
    /// A Slack token or incoming webhook.
    SlackToken,
    /// A Google API key, OAuth token or client secret.
    GoogleKey,
    /// An npm access token.
    NpmToken,
    /// A key of the `sk-` family (OpenAI, Anthropic and others).
    ApiKey,
    /// A token of another vendor with a format of its own.
    VendorToken,
    /// A JSON Web Token (RFC 7519).
    JsonWebToken,
    /// A private key in PEM armour.
    PrivateKey,
    /// A value assigned to a secret's name.
    NamedSecret,
    /// A value that the caller knew to be secret.
    KnownSecret,
    /// User info, query or fragment of a URL in a text of Candor's own: left out, whatever it is.
    UrlPart,
    /// A frame of a stack in a text of Candor's own: left out.
    StackFrame,
}

impl RedactionKind {
    /// What stands in the text instead of something of this kind. It tells nothing of what it replaced.
    #[must_use]
    pub const fn mask(self) -> &'static str {
        match self {
            Self::BearerToken => "[masked: bearer token]",
            Self::BasicCredentials => "[masked: basic credentials]",
            Self::AuthorizationHeader => "[masked: authorization]",
            Self::Cookie => "[masked: cookie]",
            Self::UrlCredentials => "[masked: url credentials]",
            Self::QuerySecret => "[masked: query secret]",
            Self::AwsKey => "[masked: aws key]",
            Self::GithubToken => "[masked: github token]",
            Self::GitlabToken => "[masked: gitlab token]",
            Self::SlackToken => "[masked: slack token]",
            Self::GoogleKey => "[masked: google key]",
            Self::NpmToken => "[masked: npm token]",
            Self::ApiKey => "[masked: api key]",
            Self::VendorToken => "[masked: vendor token]",
            Self::JsonWebToken => "[masked: json web token]",
            Self::PrivateKey => "[masked: private key]",
            Self::NamedSecret => "[masked: secret]",
            Self::KnownSecret => "[masked: known secret]",
            Self::UrlPart | Self::StackFrame => "…",
        }
    }
}

/// One piece of a text that may not stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Which bytes of the text go.
    pub(super) span: Range<usize>,
    /// As what they go.
    pub(super) kind: RedactionKind,
}

/// Where the mask that starts at `at` ends, if one starts there.
pub(super) fn mask_end(text: &str, at: usize) -> Option<usize> {
    let label = text.get(at..)?.strip_prefix(MASK_OPENS)?;
    let length = label.bytes().take(LONGEST_LABEL).position(|byte| byte == b']')?;
    let is_label = label
        .bytes()
        .take(length)
        .all(|byte| byte.is_ascii_lowercase() || byte == b' ');
    is_label.then(|| {
        at.saturating_add(MASK_OPENS.len())
            .saturating_add(length)
            .saturating_add(1)
    })
}

/// Whether a mask stands anywhere in a text.
pub fn holds_mask(text: &str) -> bool {
    text.match_indices(MASK_OPENS)
        .any(|(at, _)| mask_end(text, at).is_some())
}

/// Adds `count` credentials of a kind to what has been changed so far.
pub(super) fn tally(changes: &mut Vec<Change>, kind: RedactionKind, count: usize) {
    match changes.binary_search_by_key(&kind, |change| change.kind) {
        Ok(at) => {
            if let Some(change) = changes.get_mut(at) {
                change.count = change.count.saturating_add(count);
            }
        }
        Err(at) => changes.insert(at, Change { kind, count }),
    }
}

/// Replaces what was found by masks. The finds come in the order of the text and do not overlap.
pub(super) fn apply(text: &str, finds: &[Found]) -> Redacted<String> {
    let mut value = String::with_capacity(text.len());
    let mut changes = Vec::new();
    let mut kept = 0;
    for found in finds {
        value.push_str(text.get(kept..found.span.start).unwrap_or_default());
        value.push_str(found.kind.mask());
        kept = found.span.end;
        tally(&mut changes, found.kind, 1);
    }
    value.push_str(text.get(kept..).unwrap_or_default());
    Redacted { value, changes }
}
