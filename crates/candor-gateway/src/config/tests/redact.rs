//! What an operator has masked.

use candor_core::delivery::redaction::{KnownSecrets, known};

use super::*;

const PHONES: &str = r#"
[servers.phones]
redact = { names = ["Dial-In"], patterns = ["AC[0-9a-f]{8}"] }

[servers.mail]
redact = { patterns = ["MX[0-9]{8}"] }
"#;

fn masks(server: Option<&str>, text: &str) -> bool {
    let config = parse(PHONES).unwrap_or_else(|faults| panic!("{}", shown(PHONES, &faults)));
    let secrets = KnownSecrets::default().with_extra(config.redactions(server));
    known(text, &secrets).value != text
}

#[test]
fn a_servers_formats_hold_for_it_and_for_one_that_is_not_named_yet() {
    assert!(masks(Some("phones"), "AC0123abcd"));
    assert!(!masks(Some("phones"), "MX01234567"));
    assert!(masks(Some("mail"), "MX01234567"));
    for unnamed in [None, Some("unheard_of")] {
        assert!(masks(unnamed, "AC0123abcd") && masks(unnamed, "MX01234567"));
    }
    let terms = parse(PHONES)
        .unwrap()
        .for_tool("phones", "call", &CommandLine::default());
    let redact = terms.redact.unwrap();
    assert_eq!(redact.source.to_string(), "candor.toml:3");
    assert_eq!(redact.value.names(), ["dial_in"]);
}

#[test]
fn every_slip_in_these_keys_is_found() {
    let source = r#"
[servers.phones.redact]
names = ["", 7]
patterns = ["(x", "x*"]
pattern = "y"
"#;
    insta::assert_snapshot!(shown(source, &parse(source).unwrap_err()));
}
