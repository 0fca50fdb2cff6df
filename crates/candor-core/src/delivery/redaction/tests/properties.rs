//! What holds for every input: idempotence, nothing leaked, nothing lost, bounded work.

use proptest::prelude::*;
use serde_json::Value;

use super::super::change::RedactionKind;
use super::super::frames::without_frames;
use super::super::{KnownSecrets, escape_invisible, json, known, least, masked, raw, rewritten, text};

/// Pieces of which texts with credentials, their halves and their surroundings are made.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "token",
        "api_key",
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "--token",
        "--secret",
        "密码",
        "=",
        ": ",
        ":",
        " = ",
        " => ",
        "\"",
        "\\\"",
        "\\\\\\\"",
        "'",
        "`",
        "?",
        "&",
        ",",
        ";",
        ")",
        "}",
        "]",
        "[",
        "{",
        " ",
        "\n",
        "\\n",
        "%20",
        "\u{1b}[31m",
        "\t",
        ".",
        "/",
        "@",
        "#",
        "<",
        ">",
        "\\",
        "：",
        "。",
        "é",
        "…",
        "Bearer ",
        "Basic ",
        "Digest ",
        "dXNlcjpwYTU1d29yZA==",
        "realm=",
        "https://",
        "postgres://",
        "u:p@",
        ":8080",
        "ghp_",
        "sk-",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLE",
        "AIza",
        "xoxb-",
        "npm_",
        "eyJhbGciOiJIUzI1NiJ9",
        ".eyJzdWIiOiIx",
        "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
        "0123456789abcdef",
        "hunter22",
        "is",
        " must ",
        "null",
        "***",
        "$X",
        "data:image/png;base64,",
        "-----",
        "-----BEGIN",
        " RSA PRIVATE KEY-----",
        "-----END",
        "[masked: secret]",
        "[masked: ",
        "sig",
        "key",
        "x",
        "-",
        "_",
        "a=b",
    ]);
    prop_oneof![12 => fixed.prop_map(str::to_owned), 1 => "[a-zA-Z0-9_=:/+. -]{0,24}", 1 => any::<String>()]
}

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Lines of stacks, of prose, and of neither.
fn lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "Traceback (most recent call last):",
        "  File \"/a.py\", line 3, in f",
        "    g()",
        "  | ",
        "ValueError: x",
        "During handling of the above exception, another exception occurred:",
        "    at f (/a.js:1:2)",
        "\tat a.B.c(B.java:1)",
        "  at ",
        "\t... 3 more",
        "Caused by: x",
        "stack backtrace:",
        "   0: a::b",
        "      at /a.rs:1:2",
        "goroutine 1 [running]:",
        "main.main()",
        "\t/a.go:8 +0x1",
        "created by x",
        "   --- End of inner exception stack trace ---",
        "… 2 stack frames left out",
        "words",
        "",
        " ",
        "\\n",
        "at x\\nat y.z(q)",
        "https://u:p@h/p?q=1",
    ]);
    (
        prop::collection::vec(line, 0..12),
        prop::sample::select(vec!["\n", "\\n", "\r\n", ""]),
    )
        .prop_map(|(lines, ends)| lines.join(ends))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        pieces().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let name = prop_oneof![
            prop::sample::select(vec![
                "password",
                "tokens",
                "Authorization",
                "data",
                "mimeType",
                "blob",
                "a"
            ])
            .prop_map(str::to_owned),
            pieces(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Object(members) => members.values().map(leaves).sum(),
        _ => 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_text_is_redacted_once_and_for_all(input in pieces()) {
        let once = text(&input);
        let twice = text(&once.value);
        prop_assert_eq!(&twice.value, &once.value, "from {:?}", input);
        prop_assert!(twice.changes.is_empty());
        prop_assert_eq!(once.changes.is_empty(), once.value == input);
    }

    #[test]
    fn a_token_between_gaps_is_always_found(before in pieces(), after in pieces()) {
        // A data URI and an open quotation may hold the token: they end at the line break.
        let token = "ghp_Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";
        let input = format!("{before}\n{token}\n{after}");
        prop_assert!(!text(&input).value.contains(token), "from {:?}", input);
    }

    #[test]
    fn known_secrets_are_redacted_once_and_for_all(input in pieces(), secrets in prop::collection::vec(pieces(), 0..4)) {
        let secrets = KnownSecrets::new(secrets);
        let once = known(&input, &secrets);
        let twice = known(&once.value, &secrets);
        prop_assert_eq!(&twice.value, &once.value);
        prop_assert!(twice.changes.is_empty());
    }

    #[test]
    fn known_secrets_and_credentials_together_are_redacted_once_and_for_all(
        input in pieces(), secrets in prop::collection::vec(pieces(), 0..4)
    ) {
        let secrets = KnownSecrets::new(secrets);
        let once = masked(&input, &secrets);
        let twice = masked(&once.value, &secrets);
        prop_assert_eq!(&twice.value, &once.value, "from {:?}", input);
        prop_assert!(twice.changes.is_empty());
    }

    #[test]
    fn the_least_is_said_once_and_for_all(input in pieces(), stack in lines(), secrets in prop::collection::vec(pieces(), 0..3)) {
        let secrets = KnownSecrets::new(secrets);
        let input = format!("{input}{stack}");
        let once = least(&input, &secrets);
        let twice = least(&once.value, &secrets);
        prop_assert_eq!(&twice.value, &once.value, "from {:?}", input);
        prop_assert!(twice.changes.is_empty());
    }

    #[test]
    fn stacks_are_left_out_once_and_for_all(stack in lines()) {
        if let Some((once, count)) = without_frames(&stack) {
            prop_assert!(count > 0);
            prop_assert_eq!(without_frames(&once), None, "from {:?}", stack);
        }
    }

    #[test]
    fn what_is_invisible_is_escaped_once_and_for_all(input in any::<String>()) {
        let once = escape_invisible(&input);
        prop_assert_eq!(escape_invisible(&once), once.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_value_is_redacted_once_and_for_all(input in value()) {
        let once = json(&input, &KnownSecrets::default());
        let twice = json(&once.value, &KnownSecrets::default());
        prop_assert_eq!(&twice.value, &once.value, "from {}", input);
        prop_assert!(twice.changes.is_empty());
        prop_assert_eq!(once.changes.is_empty(), once.value == input);
        prop_assert_eq!(leaves(&once.value), leaves(&input));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn json_text_is_rewritten_once_and_for_all_and_stays_json(input in value(), secrets in prop::collection::vec(pieces(), 0..3)) {
        let secrets = KnownSecrets::new(secrets);
        let input_text = input.to_string();
        let once = rewritten(&input_text, &secrets);
        let value: Value = serde_json::from_str(&once).unwrap();
        prop_assert_eq!(leaves(&value), leaves(&input));
        prop_assert_eq!(&rewritten(&once, &secrets), &once, "from {}", input_text);
        prop_assert_eq!(raw(&input_text, &secrets).changes.is_empty(), once == input_text);
    }
}

/// Steps can't be counted from outside; a quadratic scan of these texts would take hours, not a moment.
#[test]
fn hostile_texts_take_linear_time() {
    for unit in [
        "password:",
        "token:token",
        "password='\"",
        "Authorization: ",
        "Authorization: Digest ",
        "Cookie: ",
        "Cookie:",
        "-----BEGIN PRIVATE KEY-----",
        "a-----BEGIN",
        "x://a:b/",
        "http://",
        "eyJaaaaaaaaaa.",
        "[masked: ",
        "AKIA",
        "\\",
        "password=\\\"",
        "&token=",
        ",a",
        "data:",
        "sk-",
        "bearer ",
        "--token ",
        "密码",
        "password: a1b2c3",
        "[",
        "http://a?",
        "    at f (/a.js:1:2)\n",
        "goroutine 1 [running]:\n",
        "…",
        "{\"a\":",
    ] {
        let input = unit.repeat(200_000 / unit.len());
        let redacted = text(&input);
        assert!(redacted.value.len() <= input.len() * RedactionKind::NamedSecret.mask().len());
        let _ = least(&input, &KnownSecrets::new(["senti77nel"]));
        let _ = raw(&input, &KnownSecrets::default());
    }
}
