//! What holds for every input: idempotence, nothing leaked, nothing lost, bounded work.

use proptest::prelude::*;
use serde_json::Value;

use super::super::change::CredentialKind;
use super::super::{KnownSecrets, escape_invisible, json, known, text};

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
    fn what_is_invisible_is_escaped_once_and_for_all(input in any::<String>()) {
        let once = escape_invisible(&input);
        prop_assert_eq!(escape_invisible(&once), once.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_value_is_redacted_once_and_for_all(input in value()) {
        let once = json(&input);
        let twice = json(&once.value);
        prop_assert_eq!(&twice.value, &once.value, "from {}", input);
        prop_assert!(twice.changes.is_empty());
        prop_assert_eq!(once.changes.is_empty(), once.value == input);
        prop_assert_eq!(leaves(&once.value), leaves(&input));
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
    ] {
        let input = unit.repeat(200_000 / unit.len());
        let redacted = text(&input);
        assert!(redacted.value.len() <= input.len() * CredentialKind::NamedSecret.mask().len());
    }
}
