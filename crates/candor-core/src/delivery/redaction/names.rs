//! Which member, argument, header and variable names say that their value is a secret.
//!
//! A name is judged by its last words, because that is where English and code put the noun: `dbPassword` holds a
//! password, `password_hint` holds a hint. `token` needs care: most of the tokens an agent meets are counted
//! (`max_tokens`) or turn pages (`next_page_token`), and masking those breaks the next call.

use super::openings::Openings;

/// Longest name looked at, in bytes. What is longer is not a name that a person chose.
const LONGEST_NAME: usize = 128;

/// How many words from the end are looked at; enough for `aws_secret_access_key_2`.
const WORDS: usize = 4;

/// Last words that say "secret" by themselves, run-together spellings included.
const NOUNS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passphrases",
    "passcode",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "authorization",
    "jwt",
    "cookie",
    "cookies",
    "mnemonic",
    "apikey",
    "apikeys",
    "accesskey",
    "secretkey",
    "privatekey",
    "apitoken",
    "apisecret",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "bearertoken",
    "sessiontoken",
    "clientsecret",
    "userpassword",
    "dbpassword",
    "dbpass",
    "pgpassword",
    "passwort",
    "kennwort",
    "contraseña",
    "senha",
];

/// Pairs of last words that say "secret" only together.
const PAIRS: &[(&[&str], &[&str])] = &[
    (
        &[
            "api",
            "access",
            "private",
            "secret",
            "encryption",
            "decryption",
            "signing",
            "auth",
            "account",
            "master",
            "session",
            "service",
            "subscription",
            "shared",
            "hmac",
        ],
        &["key", "keys"],
    ),
    (
        &[
            "db", "database", "user", "admin", "root", "smtp", "mysql", "pg", "postgres", "redis", "ftp",
        ],
        &["pass"],
    ),
    (
        &[
            "api", "access", "auth", "refresh", "bearer", "session", "personal", "secret",
        ],
        &["tokens"],
    ),
    (
        &["authorization", "auth", "recovery", "backup"],
        &["code", "codes"],
    ),
    (&["seed", "recovery"], &["phrase"]),
];

/// Words before `token` that make it a position, a marker or a key of the caller's own: not a secret.
const TOKEN_OF_ANOTHER_KIND: &[&str] = &[
    "page",
    "next",
    "prev",
    "previous",
    "continuation",
    "continue",
    "cursor",
    "pagination",
    "sync",
    "delta",
    "resume",
    "skip",
    "start",
    "stop",
    "end",
    "progress",
    "cancel",
    "cancellation",
    "change",
    "idempotency",
    "request",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "special",
    "first",
    "last",
    "current",
    "unexpected",
    "expected",
    "invalid",
];

/// Trailing words that do not move the meaning: `password_confirmation` is the password once more.
const TRAILERS: &[&str] = &[
    "confirm",
    "confirmation",
    "again",
    "repeat",
    "new",
    "old",
    "current",
    "value",
    "text",
    "string",
    "plain",
    "plaintext",
    "raw",
    "base",
];

/// First words that ask a question about a secret instead of holding it.
const QUESTIONS: &[&str] = &[
    "has", "is", "needs", "requires", "require", "allow", "allows", "show",
];

/// Names that are written without gaps between their words.
pub(super) const UNSPACED_NOUNS: &[&str] = &["密码", "口令", "密钥", "令牌", "パスワード", "비밀번호"];

/// Whether a name is a whole word (or words) for a secret: `password`, `apiKey`, `X-Auth-Token`, `DB_PASS`, `密码`.
///
/// Words are found in camelCase, `snake_case`, kebab-case and dotted names; trailing numbers do not count. The
/// last words decide, so `password_hint`, `token_count` and `secret_arn` are not secrets; neither are
/// `max_tokens`, `page_token`, `nextPageToken` and `progressToken`, nor a word inside a longer word (`tokenizer`).
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    if !name.is_ascii() && UNSPACED_NOUNS.iter().any(|noun| name.ends_with(noun)) {
        return true;
    }
    if !may_hold_noun(name) {
        return false;
    }
    let last = LastWords::of(name);
    if is_one_of(last.first, QUESTIONS) {
        return false;
    }
    let [noun, before, ..] = last.words;
    if noun.eq_ignore_ascii_case("token") {
        return !is_one_of(before, TOKEN_OF_ANOTHER_KIND);
    }
    is_one_of(noun, NOUNS)
        || PAIRS
            .iter()
            .any(|(firsts, seconds)| is_one_of(before, firsts) && is_one_of(noun, seconds))
}

/// Three letters of every noun of ASCII, chosen for being seldom in other names: `ecr` of secret, `ede` of credential,
/// `riz` of authorization, `oki` of cookie. The first three would be in `content` and `created_at`.
const LETTERS_OF_NOUNS: &[&str] = &[
    "pas", "pwd", "ecr", "ede", "riz", "jwt", "oki", "mne", "key", "tok", "nnw", "nha", "cod", "phr",
];

/// [`LETTERS_OF_NOUNS`] as sets.
static NOUN_OPENINGS: Openings = Openings::of(LETTERS_OF_NOUNS);

/// Whether one of the nouns could be in a name, told from its letters: most names need not be cut into words.
fn may_hold_noun(name: &str) -> bool {
    !name.is_ascii()
        || name
            .as_bytes()
            .array_windows::<3>()
            .any(|letters| NOUN_OPENINGS.may_start(&letters.map(|letter| letter | SMALL)))
}

/// The bit that makes a capital letter of ASCII a small one; what it makes of other bytes costs a closer look at most.
const SMALL: u8 = 0x20;

/// Whether a name's noun is `token`: such a word also stands before what parsers choke on, so more is asked of
/// its value.
pub(super) fn is_token_name(name: &str) -> bool {
    LastWords::of(name)
        .words
        .first()
        .is_some_and(|noun| noun.eq_ignore_ascii_case("token"))
}

/// The last words of a name that carry its meaning, nearest the end first; `""` where there are fewer.
struct LastWords<'a> {
    words: [&'a str; WORDS],
    /// The first word of a name of several words, else `""`.
    first: &'a str,
}

impl<'a> LastWords<'a> {
    fn of(name: &'a str) -> Self {
        let mut words = [""; WORDS];
        let mut first = "";
        let mut count = 0_usize;
        for word in (Words { rest: name }) {
            let says_nothing =
                word.bytes().all(|byte| byte.is_ascii_digit()) || (count > 0 && is_one_of(word, TRAILERS));
            if says_nothing {
                continue;
            }
            if count == 0 {
                first = word;
            }
            count = count.saturating_add(1);
            words.rotate_right(1);
            if let Some(slot) = words.first_mut() {
                *slot = word;
            }
        }
        Self {
            words,
            first: if count > 1 { first } else { "" },
        }
    }
}

/// The words of a name, front to back: cut at anything that is no letter or digit, between a small and a capital
/// letter, before the last capital of a run (`APIKey` is API, Key), and between letters and digits.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut letters = rest.char_indices().peekable();
        let mut previous: Option<char> = None;
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            let following = letters.peek().map(|&(_, c)| c);
            if previous.is_some_and(|previous| is_cut(previous, letter, following)) {
                end = at;
                break;
            }
            previous = Some(letter);
        }
        let (word, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// Whether a word ends between `previous` and `letter`.
fn is_cut(previous: char, letter: char, following: Option<char>) -> bool {
    if !letter.is_alphanumeric() {
        return true;
    }
    let hump = previous.is_lowercase() && letter.is_uppercase();
    let acronym_ends =
        previous.is_uppercase() && letter.is_uppercase() && following.is_some_and(char::is_lowercase);
    let letter_meets_digit = previous.is_numeric() != letter.is_numeric();
    hump || acronym_ends || letter_meets_digit
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| entry.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::{NOUNS, PAIRS, is_secret_name, may_hold_noun};

    #[test]
    fn no_noun_is_passed_over_for_its_letters() {
        let seconds = PAIRS.iter().flat_map(|(_, seconds)| *seconds);
        for noun in NOUNS.iter().chain(seconds).chain(&["token"]) {
            assert!(may_hold_noun(noun), "{noun}");
            assert!(may_hold_noun(&noun.to_uppercase()), "{noun}");
        }
        assert!(!may_hold_noun("structuredContent"));
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "password",
            "Password",
            "PASSWORD",
            "passwd",
            "pwd",
            "user_password",
            "userPassword",
            "new-password",
            "password2",
            "password_2",
            "passwordConfirmation",
            "password_base64",
            "secret",
            "client_secret",
            "clientSecret",
            "SecretString",
            "token",
            "access_token",
            "accessToken",
            "ACCESS_TOKEN",
            "id_token",
            "X-Auth-Token",
            "GITHUB_TOKEN",
            "github.token",
            "csrfToken",
            "api_key",
            "apiKey",
            "APIKey",
            "API_KEY",
            "apikey",
            "x-api-key",
            "OPENAI_API_KEY",
            "aws_secret_access_key",
            "AWSSecretAccessKey",
            "private_key",
            "privateKey",
            "credential",
            "credentials",
            "authorization",
            "Authorization",
            "Proxy-Authorization",
            "passphrase",
            "DB_PASS",
            "Set-Cookie",
            "oauth2Token",
            "api_tokens",
            "authorization_code",
            "密码",
            "用户密码",
            "contraseña",
            "spring.datasource.password",
            "--api-key",
            "/auth/token",
        ] {
            assert!(is_secret_name(name), "{name} should be a secret's name");
        }
    }

    #[test]
    fn names_that_only_look_like_it_are_left_alone() {
        for name in [
            "",
            "_",
            "max_tokens",
            "maxTokens",
            "tokens",
            "prompt_tokens",
            "token_count",
            "tokenCount",
            "tokenizer",
            "tokenize",
            "page_token",
            "pageToken",
            "next_page_token",
            "nextPageToken",
            "NextToken",
            "next_token",
            "continuation_token",
            "syncToken",
            "progressToken",
            "eos_token",
            "token_type",
            "token_url",
            "token_endpoint",
            "password_hint",
            "passwordPolicy",
            "password_file",
            "secret_name",
            "secretArn",
            "secretary",
            "has_password",
            "isSecret",
            "requiresToken",
            "key",
            "public_key",
            "publicKey",
            "keyboard",
            "primary_key",
            "sort_key",
            "key_id",
            "access_key_id",
            "pass",
            "passenger",
            "boarding_pass",
            "compass",
            "author",
            "authority",
            "authorization_url",
            "code",
            "status_code",
            "path",
            "data",
            "密码长度",
            "123",
        ] {
            assert!(!is_secret_name(name), "{name} should not be a secret's name");
        }
    }

    #[test]
    fn a_name_too_long_to_be_one_is_not_looked_at() {
        assert!(!is_secret_name(&format!("{}_password", "a".repeat(200))));
    }
}
