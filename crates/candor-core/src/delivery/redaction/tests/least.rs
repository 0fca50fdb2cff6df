//! What Candor's own texts may say of others' words, and what a server's own flagged answer loses.

use serde_json::{Value, json};

use super::super::bare::without_url_parts;
use super::super::{Change, KnownSecrets, RedactionKind, least, least_json, masked, raw, rewritten};

fn none() -> KnownSecrets {
    KnownSecrets::default()
}

#[test]
fn urls_lose_user_info_query_and_fragment() {
    for (text, bare) in [
        ("http://u:SECRET@h/mcp?api_key=TOKEN", "http://h/mcp?…"),
        (
            "can't reach https://TOKEN@h.example:8443/a/b.",
            "can't reach https://h.example:8443/a/b.",
        ),
        ("see <https://h/a#frag>, please", "see <https://h/a#…>, please"),
        ("https://h/?a=1&b[c]=2;d=(3)e next", "https://h/?… next"),
        ("(https://h/p?x=1)", "(https://h/p?…)"),
        ("postgres://u:p@db/rooms?sslmode=off", "postgres://db/rooms?…"),
        (
            r#"{"url":"https:\/\/u:p@h\/a?b=c"}"#,
            r#"{"url":"https:\/\/h\/a?…"}"#,
        ),
        (
            "https://[masked: url credentials]@h/p?sig=[masked: query secret]&x=1 end",
            "https://h/p?… end",
        ),
        (
            "a https://x/?a=1 b https://y/?b=2",
            "a https://x/?… b https://y/?…",
        ),
        ("http://[::1]:80/?q=1", "http://[::1]:80/?…"),
    ] {
        let changed = without_url_parts(text);
        assert_eq!(changed.value, bare, "{text}");
        assert_eq!(changed.changes.len(), 1, "{text}");
        assert!(
            without_url_parts(bare).changes.is_empty(),
            "{text}: once is enough"
        );
    }
}

#[test]
fn urls_without_such_parts_and_what_is_no_url_stay() {
    for text in [
        "https://h/a/b.html",
        "Is it https://h/a?",
        "who is at user@h?x=1",
        "a://",
        "ratio 3:4? yes#1",
        "://u:p@h?x",
        "std::fmt://",
        "https://h/@scope/package",
    ] {
        assert!(without_url_parts(text).changes.is_empty(), "{text}");
    }
}

#[test]
fn all_rules_hold_together() {
    let secrets = KnownSecrets::new(["k?nown#secret/8"]);
    let text =
        "Error: GET https://u:p@h/x?a=k?nown#secret/8 failed: k?nown#secret/8\n    at f (/srv/a.js:1:2)";
    let told = least(text, &secrets);
    assert_eq!(
        told.value,
        "Error: GET https://h/x?… failed: [masked: known secret]\n… 1 stack frames left out"
    );
    let kinds: Vec<RedactionKind> = told.changes.iter().map(|change| change.kind).collect();
    assert!(
        kinds.is_sorted() && kinds.contains(&RedactionKind::UrlPart),
        "{kinds:?}"
    );
    assert!(least(&told.value, &secrets).changes.is_empty());

    let value = json!({ "code": -1, "data": { "stack": text, "url": "https://h/p" } });
    let told = least_json(&value, &none());
    assert_eq!(told.value["data"]["url"], "https://h/p");
    assert!(!told.value.to_string().contains("a.js"));
}

#[test]
fn a_known_value_takes_the_credential_around_it_along() {
    let secrets = KnownSecrets::new(["sentinel77", "12345678"]);
    for (text, expected) in [
        (
            "Authorization: Bearer abc.sentinel77.def9",
            "Authorization: Bearer [masked: bearer token]",
        ),
        (
            "it was sentinel77, was it",
            "it was [masked: known secret], was it",
        ),
        ("cut off: senti…", "cut off: [masked: known secret]…"),
        ("cut off: sen…", "cut off: sen…"),
        ("pin 12345678", "pin [masked: known secret]"),
    ] {
        let once = masked(text, &secrets);
        assert_eq!(once.value, expected);
        assert_eq!(masked(&once.value, &secrets).value, expected);
    }
}

#[test]
fn a_process_knows_the_secrets_it_hands_on() {
    let environment = [
        ("GITHUB_TOKEN", "plain-value-of-a-token"),
        ("DATABASE_URL", "postgres://rooms:pa55-of-rooms@db/rooms"),
        ("PWD", "/home/anna/rooms"),
        ("HOME", "/home/anna"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("SHORT_SECRET", "1234567"),
        ("MAX_TOKENS", "4096000000"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let command = [
        "npx",
        "mcp-remote",
        "https://h/mcp?api_key=query-value",
        "--header",
        "Authorization: Bearer header-value-1",
        "--api-key",
        "flag-value",
        "--client-secret=attached-value",
    ]
    .map(str::to_owned);
    let secrets = KnownSecrets::of_process(&environment, &command, &["postgres"]);
    let hidden = [
        "plain-value-of-a-token",
        "pa55-of-rooms",
        "query-value",
        "header-value-1",
        "flag-value",
        "attached-value",
    ];
    for secret in hidden {
        assert_eq!(
            masked(&format!("<{secret}>"), &secrets).value,
            "<[masked: known secret]>",
            "{secret}"
        );
    }
    for stays in [
        "/home/anna/rooms",
        "/home/anna",
        "postgres",
        "1234567",
        "4096000000",
        "npx",
        "mcp-remote",
    ] {
        assert_eq!(masked(stays, &secrets).value, stays);
    }
}

/// What [`rewritten`] makes of a text, and what it says that it changed.
fn changed(text: &str, secrets: &KnownSecrets) -> (String, Vec<Change>) {
    let changes = raw(text, secrets).changes;
    let out = rewritten(text, secrets);
    assert!(
        serde_json::from_str::<Value>(&out).is_ok() || text.contains("\\ud8"),
        "{out}"
    );
    assert_eq!(rewritten(&out, secrets), out, "once is enough");
    (out, changes)
}

#[test]
fn in_json_text_only_strings_with_credentials_are_written_anew() {
    let secrets = KnownSecrets::new(["sentinel-88", "87654321"]);
    for (text, expected) in [
        (
            r#"{ "n" : 1.10 , "a":"x sentinel-88 y", "a":"z" }"#,
            r#"{ "n" : 1.10 , "a":"x [masked: known secret] y", "a":"z" }"#,
        ),
        (
            r#"{"password":"hunter2222","b":1e400}"#,
            r#"{"password":"[masked: secret]","b":1e400}"#,
        ),
        (
            r#"[87654321, 187654321]"#,
            r#"["[masked: known secret]", 187654321]"#,
        ),
        (
            r#"{"passwords":["abcdefgh1","x"]}"#,
            r#"{"passwords":["[masked: secret]","x"]}"#,
        ),
        (
            r#"{"a":"\ud800 sentinel-88"}"#,
            r#"{"a":"\ud800 [masked: known secret]"}"#,
        ),
        (
            r#"{"data":"AAAAsentinel-88AAAA","mime":"x"}"#,
            r#"{"data":"AAAA[masked: known secret]AAAA","mime":"x"}"#,
        ),
        (
            r#"{"data":"not base64: sentinel-88","mimeType":"image/png"}"#,
            r#"{"data":"not base64: [masked: known secret]","mimeType":"image/png"}"#,
        ),
    ] {
        let (out, changes) = changed(text, &secrets);
        assert_eq!(out, expected);
        assert_eq!(
            changes.iter().map(|change| change.count).sum::<usize>(),
            1,
            "{text}"
        );
    }
}

#[test]
fn in_json_text_what_is_no_credential_stays_byte_for_byte() {
    let secrets = KnownSecrets::new(["sentinel-88"]);
    for text in [
        r#"{"password":"must have 8 characters","passwordHint":"abcdefgh1"}"#,
        r#"{ "type":"image", "data":"AKIAIOSFODNN7EXAMPLE", "mimeType":"image/png" }"#,
        r#"{"mimeType":"x/y","blob":"sentinel-88AAAA"}"#,
        r#"{"uri":"data:image/png;base64,AKIAIOSFODNN7EXAMPLE+ghp_A1b2"}"#,
        r#"{"sha":"0123456789abcdef0123456789abcdef01234567","id":"018f3c2e-7a5b-7c3d-9e1f-0a1b2c3d4e5f"}"#,
        r#"{"a":"\ud800","sentinel-88":"a name stays"}"#,
        r#"[]"#,
        r#""""#,
        r#"{"a":{"b":[1,-2.5e3,true,null,"\"\\"]}}"#,
    ] {
        let (out, changes) = changed(text, &secrets);
        assert_eq!(out, text);
        assert!(changes.is_empty(), "{text}");
    }
}

#[test]
fn what_is_left_of_a_url_is_looked_at_again() {
    let none = KnownSecrets::default();
    let once = least("x://u:pw@db:a/u:pw@h", &none).value.into_owned();
    assert!(!once.contains("pw"), "{once}");
    assert_eq!(least(&once, &none).value, once);
    let many = format!("see x://{}h", "u:pw@db:a/".repeat(50));
    let cut = least(&many, &none).value.into_owned();
    assert!(cut.starts_with("see ") && !cut.contains("pw"), "{cut}");
    assert_eq!(least("see https://h/path", &none).value, "see https://h/path");
}
