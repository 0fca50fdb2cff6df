//! Tokens with a vendor's prefix, and JSON Web Tokens.

use super::change::{Found, RedactionKind};
use super::openings::Openings;
use super::scan::run_end;

/// One vendor's format: a prefix that nobody else uses and a body of a known alphabet and length.
struct Format {
    prefix: &'static str,
    alphabet: Alphabet,
    /// Bytes of the body: at least, and at most. Where both are equal the body must also end there.
    length: (usize, usize),
    kind: RedactionKind,
}

#[derive(Clone, Copy)]
enum Alphabet {
    /// Capital letters and digits.
    Capitals,
    /// Letters and digits.
    Letters,
    /// Letters, digits and `_`.
    Underscore,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Underscore => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
            Self::Dotted => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'.',
        }
    }
}

const fn format(
    prefix: &'static str,
    alphabet: Alphabet,
    length: (usize, usize),
    kind: RedactionKind,
) -> Format {
    Format {
        prefix,
        alphabet,
        length,
        kind,
    }
}

/// No upper bound on a body.
const ANY: usize = usize::MAX;

/// The formats as their vendors publish them; lower bounds are a little under the usual lengths.
const FORMATS: &[Format] = &[
    format("AKIA", Alphabet::Capitals, (16, 16), RedactionKind::AwsKey),
    format("ASIA", Alphabet::Capitals, (16, 16), RedactionKind::AwsKey),
    format(
        "ghp_",
        Alphabet::Underscore,
        (30, ANY),
        RedactionKind::GithubToken,
    ),
    format(
        "gho_",
        Alphabet::Underscore,
        (30, ANY),
        RedactionKind::GithubToken,
    ),
    format(
        "ghu_",
        Alphabet::Underscore,
        (30, ANY),
        RedactionKind::GithubToken,
    ),
    format("ghs_", Alphabet::Dotted, (30, ANY), RedactionKind::GithubToken),
    format(
        "ghr_",
        Alphabet::Underscore,
        (30, ANY),
        RedactionKind::GithubToken,
    ),
    format(
        "github_pat_",
        Alphabet::Underscore,
        (22, ANY),
        RedactionKind::GithubToken,
    ),
    format("glpat-", Alphabet::Dotted, (20, ANY), RedactionKind::GitlabToken),
    format("gldt-", Alphabet::Word, (20, ANY), RedactionKind::GitlabToken),
    format("glrt-", Alphabet::Dotted, (20, ANY), RedactionKind::GitlabToken),
    format("glptt-", Alphabet::Word, (20, ANY), RedactionKind::GitlabToken),
    format("glcbt-", Alphabet::Word, (20, ANY), RedactionKind::GitlabToken),
    format("xoxb-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxp-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxa-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxr-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxs-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxc-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxd-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxe-", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xoxe.xox", Alphabet::Word, (10, ANY), RedactionKind::SlackToken),
    format("xapp-", Alphabet::Word, (20, ANY), RedactionKind::SlackToken),
    format("AIza", Alphabet::Word, (35, 35), RedactionKind::GoogleKey),
    format("ya29.", Alphabet::Dotted, (20, ANY), RedactionKind::GoogleKey),
    format("GOCSPX-", Alphabet::Word, (24, ANY), RedactionKind::GoogleKey),
    format("npm_", Alphabet::Letters, (36, ANY), RedactionKind::NpmToken),
    format("sk-", Alphabet::Word, (20, ANY), RedactionKind::ApiKey),
    format(
        "sk_live_",
        Alphabet::Letters,
        (16, ANY),
        RedactionKind::VendorToken,
    ),
    format(
        "sk_test_",
        Alphabet::Letters,
        (16, ANY),
        RedactionKind::VendorToken,
    ),
    format(
        "rk_live_",
        Alphabet::Letters,
        (16, ANY),
        RedactionKind::VendorToken,
    ),
    format(
        "rk_test_",
        Alphabet::Letters,
        (16, ANY),
        RedactionKind::VendorToken,
    ),
    format("whsec_", Alphabet::Letters, (24, ANY), RedactionKind::VendorToken),
    format("hf_", Alphabet::Letters, (30, ANY), RedactionKind::VendorToken),
    format("gsk_", Alphabet::Letters, (40, ANY), RedactionKind::VendorToken),
    format("xai-", Alphabet::Letters, (60, ANY), RedactionKind::VendorToken),
    format("pypi-AgE", Alphabet::Word, (50, ANY), RedactionKind::VendorToken),
    format(
        "dop_v1_",
        Alphabet::Letters,
        (64, ANY),
        RedactionKind::VendorToken,
    ),
    format("dckr_pat_", Alphabet::Word, (20, ANY), RedactionKind::VendorToken),
    format("shpat_", Alphabet::Letters, (32, ANY), RedactionKind::VendorToken),
    format(
        "lin_api_",
        Alphabet::Letters,
        (32, ANY),
        RedactionKind::VendorToken,
    ),
    format("SG.", Alphabet::Dotted, (60, ANY), RedactionKind::VendorToken),
    format("ATATT3x", Alphabet::Word, (60, ANY), RedactionKind::VendorToken),
    format(
        "AGE-SECRET-KEY-1",
        Alphabet::Capitals,
        (50, ANY),
        RedactionKind::VendorToken,
    ),
];

/// What every header of a JSON Web Token opens with: `{"` in base64.
const JWT: &str = "eyJ";

/// What tokens open with: most words of a text are told from them without a look at any format.
static OPENINGS: Openings = {
    let mut openings = Openings::of(&[JWT]);
    let mut formats = FORMATS;
    while let [format, rest @ ..] = formats {
        // All prefixes are as long; a test holds them to it.
        if let Some(opening) = format.prefix.as_bytes().first_chunk() {
            openings.add(opening);
        }
        formats = rest;
    }
    openings
};

/// Shortest piece of an `sk-` key that holds its randomness. Names such as `sk-cube-grid-1` have shorter ones.
const LEAST_RANDOM_PIECE: usize = 16;

/// A run of base64 this long is a blob; what looks like a key inside is chance.
const BLOB: usize = 100;

/// Shortest part of a JSON Web Token, in bytes.
const LEAST_JWT_PART: usize = 10;

/// Whether a text may start with a token; if not, it starts with none.
pub(super) fn may_start(text: &[u8]) -> bool {
    OPENINGS.may_start(text)
}

/// The token that starts at `start`, where the word ending at `word_end` starts too. `floor` bounds how far back
/// the surroundings may be looked at.
pub(super) fn token_at(text: &str, start: usize, word_end: usize, floor: usize) -> Option<Found> {
    let rest = text.get(start..)?;
    if !may_start(rest.as_bytes()) {
        return None;
    }
    let word = text.get(start..word_end)?;
    if word.starts_with(JWT) {
        return json_web_token(text, start, word_end);
    }
    FORMATS.iter().find_map(|format| {
        let body = rest.strip_prefix(format.prefix)?;
        let body_start = start + format.prefix.len();
        let length = run_end(text, body_start, |byte| format.alphabet.has(byte)) - body_start;
        let (least, most) = format.length;
        let is_exact = least == most;
        let end = body_start + length;
        if length < least || length > most || (is_exact && end < word_end) {
            return None;
        }
        // Only formats without a separator of their own can come about by chance.
        if is_exact && is_in_blob(text, start, floor) {
            return None;
        }
        if format.kind == RedactionKind::ApiKey && !has_random_piece(body.get(..length)?) {
            return None;
        }
        Some(Found {
            span: start..end,
            kind: format.kind,
        })
    })
}

fn has_random_piece(body: &str) -> bool {
    body.split(['-', '_'])
        .any(|piece| piece.len() >= LEAST_RANDOM_PIECE && piece.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether `at` lies in a long run of base64. Looks at most [`BLOB`] bytes to either side.
fn is_in_blob(text: &str, at: usize, floor: usize) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'+' || *byte == b'/';
    let before = text.as_bytes().get(floor..at).unwrap_or_default();
    let behind = text.as_bytes().get(at..).unwrap_or_default();
    let back = before
        .iter()
        .rev()
        .take(BLOB)
        .take_while(|byte| is_base64(byte))
        .count();
    let ahead = behind
        .iter()
        .take(BLOB)
        .take_while(|byte| is_base64(byte))
        .count();
    back + ahead >= BLOB
}

/// `header.claims.signature`, also with five parts (encrypted) or with the signature cut off, if the claims can
/// still be read.
fn json_web_token(text: &str, start: usize, header_end: usize) -> Option<Found> {
    if header_end - start < LEAST_JWT_PART {
        return None;
    }
    let mut end = header_end;
    let mut parts = 1_usize;
    while parts < 5 && text.as_bytes().get(end) == Some(&b'.') {
        let next = run_end(text, end + 1, |byte| Alphabet::Word.has(byte));
        if parts == 1 && next - end <= LEAST_JWT_PART {
            break;
        }
        end = next;
        parts += 1;
    }
    let claims = text.get(header_end..end)?;
    (parts >= 3 || (parts == 2 && claims.starts_with(".eyJ"))).then_some(Found {
        span: start..end,
        kind: RedactionKind::JsonWebToken,
    })
}

#[cfg(test)]
mod tests {
    use super::{FORMATS, JWT, may_start};

    #[test]
    fn no_token_is_passed_over_for_its_first_letters() {
        for prefix in FORMATS.iter().map(|format| format.prefix).chain([JWT]) {
            assert!(may_start(prefix.as_bytes()), "{prefix}");
        }
        assert!(!may_start(b"should"));
    }
}
