//! Pairs: what must be masked beside what must not, text by text.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::super::{Change, KnownSecrets, RedactionKind, json as redact_json, known, text};

const HEX: &str = "0123456789abcdef0123456789abcdef";
const LETTERS: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
const CAPITALS: &str = "IOSFODNN7EXAMPLE";
/// `user:pa55word`.
const USER_PASSWORD: &str = "dXNlcjpwYTU1d29yZA==";

fn jwt() -> String {
    format!(
        "{}.{}.{}",
        "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    )
}

fn private_key() -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    format!(
        "-----BEGIN {0}-----\n{1}{1}-----END {0}-----",
        "RSA PRIVATE KEY", line
    )
}

/// Checks that exactly `secret`, which replaces `@@` in `frame`, is masked as `kind`.
fn fires(frame: &str, secret: &str, kind: RedactionKind) {
    let input = frame.replace("@@", secret);
    let redacted = text(&input);
    assert_eq!(redacted.value, frame.replace("@@", kind.mask()), "in {input:?}");
    assert_eq!(redacted.changes, [Change { kind, count: 1 }], "in {input:?}");
    let again = text(&redacted.value);
    assert!(
        again.changes.is_empty(),
        "masked twice: {:?} became {:?}",
        redacted.value,
        again.value
    );
}

fn stays(input: &str) {
    let redacted = text(input);
    assert!(
        matches!(redacted.value, Cow::Borrowed(same) if same == input),
        "{input:?} became {:?}",
        redacted.value
    );
    assert!(redacted.changes.is_empty());
}

#[test]
fn tokens_with_a_prefix_are_masked() {
    let tokens = [
        (format!("AKIA{CAPITALS}"), RedactionKind::AwsKey),
        (format!("ASIA{CAPITALS}"), RedactionKind::AwsKey),
        (format!("ghp_{LETTERS}"), RedactionKind::GithubToken),
        (format!("gho_{LETTERS}"), RedactionKind::GithubToken),
        (format!("ghs_{LETTERS}"), RedactionKind::GithubToken),
        (
            format!("github_pat_{LETTERS}_{LETTERS}"),
            RedactionKind::GithubToken,
        ),
        (format!("glpat-{}", &LETTERS[..20]), RedactionKind::GitlabToken),
        (
            format!("xoxb-{}", "123456789012-abcDEF"),
            RedactionKind::SlackToken,
        ),
        (
            format!("xoxp-{}", "123456789012-abcDEF"),
            RedactionKind::SlackToken,
        ),
        (format!("AIza{}", &LETTERS[..35]), RedactionKind::GoogleKey),
        (format!("sk-{LETTERS}"), RedactionKind::ApiKey),
        (format!("sk-proj-{LETTERS}-{LETTERS}"), RedactionKind::ApiKey),
        (format!("sk-ant-api03-{LETTERS}"), RedactionKind::ApiKey),
        (format!("sk-{HEX}"), RedactionKind::ApiKey),
        (format!("npm_{LETTERS}"), RedactionKind::NpmToken),
        (format!("sk_live_{LETTERS}"), RedactionKind::VendorToken),
        (format!("hf_{LETTERS}"), RedactionKind::VendorToken),
        (jwt(), RedactionKind::JsonWebToken),
        (private_key(), RedactionKind::PrivateKey),
        (private_key().replace('\n', "\\n"), RedactionKind::PrivateKey),
    ];
    for (token, kind) in &tokens {
        for frame in [
            "@@",
            "used @@ and failed",
            "(@@)",
            "\"@@\"",
            "line one\\n@@\\nline three",
            "见@@。",
            "key:@@",
            "\u{1b}[31m@@\u{1b}[0m",
            "%20@@",
        ] {
            fires(frame, token, *kind);
        }
    }
}

#[test]
fn what_only_looks_like_a_token_stays() {
    for input in [
        "AKIA is how access keys begin",
        "AKIAIOSFODNN7",
        "XAKIAIOSFODNN7EXAMPLE",
        "AKIAIOSFODNN7EXAMPLEMORE",
        "ghp_short",
        "github_pat_ is the prefix of fine-grained tokens",
        "xoxb-",
        "task-force and risk-averse",
        "sk-learn-contrib-imbalanced-learning-tools",
        "sk-cube-grid-1-animation-delay-item-22",
        "sk-SK locale",
        "npm_config_registry npm_lifecycle_script npm_package_name_and_more",
        "hf_hub_download",
        "eyJ0ZXN0Ijp0cnVlLCJwYWdlIjoyfQ==",
        "com.example.eyJob.Runner",
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha512-AKIA+Qz5VYvZ1xJYtX0mEoPwJr4E3KJ7W2pXb0sVhQ==",
        "550e8400-e29b-41d4-a716-446655440000",
        "5KJvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3VyK5qMZXj3hS5KJvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3",
        "gAAAAABk1x9vZ3VyZQ",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n-----END PUBLIC KEY-----",
        "the file must begin with -----BEGIN PRIVATE KEY----- and a line break",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ] {
        stays(input);
    }
}

#[test]
fn a_private_key_that_was_cut_off_is_masked_as_far_as_it_goes() {
    let key = private_key();
    let cut = &key[..120];
    fires("key: @@", cut, RedactionKind::PrivateKey);
    fires("PRIVATE_KEY=@@", &key, RedactionKind::PrivateKey);
    fires("private_key: \"@@\"", &key, RedactionKind::PrivateKey);
    let two = format!("{key}{key}");
    assert_eq!(
        text(&two).changes,
        [Change {
            kind: RedactionKind::PrivateKey,
            count: 2
        }]
    );
}

#[test]
fn headers_are_masked_and_their_schemes_stay() {
    use RedactionKind::{AuthorizationHeader, BasicCredentials, BearerToken, Cookie, NamedSecret};
    for (frame, secret, kind) in [
        ("Authorization: Bearer @@", "s3cr3t-value", BearerToken),
        ("Authorization: Bearer @@", "SENTINEL", BearerToken),
        ("authorization: bearer @@\nAccept: */*", "abcdefghij", BearerToken),
        (
            "curl -H 'Authorization: Bearer @@' https://h",
            "abc.def-ghi",
            BearerToken,
        ),
        ("{\"Authorization\": \"Bearer @@\"}", "x1", BearerToken),
        (
            "{\\\"Authorization\\\": \\\"Bearer @@\\\"}",
            "SENTINEL",
            BearerToken,
        ),
        ("headers={'Authorization': 'Bearer @@'}", "SENTINEL", BearerToken),
        ("sent Bearer @@ to the host", "abcdefgh12345678", BearerToken),
        ("Authorization: Basic @@", USER_PASSWORD, BasicCredentials),
        ("used Basic @@ there", USER_PASSWORD, BasicCredentials),
        ("Proxy-Authorization: Basic @@", USER_PASSWORD, BasicCredentials),
        ("Authorization: token @@", "0123456789abcdef", AuthorizationHeader),
        (
            "Authorization: AWS4-HMAC-SHA256 @@\nHost: h",
            "Credential=AKID/2026/s3, SignedHeaders=host, Signature=ab12",
            AuthorizationHeader,
        ),
        (
            "\"authorization\": \"@@\"",
            "raw-secret-value",
            AuthorizationHeader,
        ),
        ("Cookie: @@\nHost: h", "sid=abc; theme=dark", Cookie),
        ("Set-Cookie: @@", "sid=abc; Path=/; HttpOnly", Cookie),
        ("X-Api-Key: @@", "SENTINEL-HEADER", NamedSecret),
        ("X-Auth-Token: @@\r\nHost: h", "0123456789ab", NamedSecret),
    ] {
        fires(frame, secret, kind);
    }
}

#[test]
fn talk_of_headers_stays() {
    for input in [
        "the bearer of bad news",
        "Bearer authentication is required",
        "Bearer tokens-are-not-accepted-here",
        "Bearer <token>",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer authentication is required",
        "authorization: bearer of bad news",
        "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"notes:write\"",
        "WWW-Authenticate: Bearer resource_metadata=\"https://h/.well-known/oauth-protected-resource\"",
        "Basic authentication failed",
        "basic configuration-of-the-server2",
        "authorization: missing",
        "Authorization: required for this route",
        "Cookie: none was sent",
        "X-Api-Key: missing",
    ] {
        stays(input);
    }
}

#[test]
fn urls_lose_user_info_and_secret_parameters() {
    use RedactionKind::{QuerySecret, UrlCredentials};
    for (frame, secret, kind) in [
        ("http://@@@h/mcp", "u:SECRET", UrlCredentials),
        (
            "https://@@@github.com/o/r.git",
            "x-access-token:abc",
            UrlCredentials,
        ),
        ("https://@@@github.com/o/r.git", "SENTINEL", UrlCredentials),
        ("git+https://@@@h/r", "u:p", UrlCredentials),
        ("postgres://@@@db.internal:5432/app", "app:p@ss", UrlCredentials),
        ("postgresql+asyncpg://@@@db/app", "app:hunter2", UrlCredentials),
        ("jdbc:postgresql://@@@db/app", "app:hunter2", UrlCredentials),
        ("mongodb+srv://@@@c.example.net", "u:p", UrlCredentials),
        ("redis://@@@h:6379", ":hunter2", UrlCredentials),
        ("amqp://@@@h", "u:pa/ss", UrlCredentials),
        ("DATABASE_URL=mysql://@@@h/db", "root:root", UrlCredentials),
        ("{\"url\":\"https:\\/\\/@@@h\\/p\"}", "u:SECRET", UrlCredentials),
        ("http://h/mcp?api_key=@@", "TOKEN", QuerySecret),
        ("GET /v1?page=2&access_token=@@&limit=5", "abc", QuerySecret),
        ("https://h/b?sv=2022&sig=@@#top", "a%2Fb%3D", QuerySecret),
        (
            "https://h/o?X-Amz-Expires=60&X-Amz-Signature=@@",
            "deadbeef",
            QuerySecret,
        ),
        ("https://h/o?key=@@", "abcdefgh12345678", QuerySecret),
    ] {
        fires(frame, secret, kind);
    }
    let both = text("http://u:SECRET@h/mcp?api_key=TOKEN");
    assert_eq!(
        both.value,
        "http://[masked: url credentials]@h/mcp?api_key=[masked: query secret]"
    );
    assert_eq!(both.changes.len(), 2);
}

#[test]
fn urls_without_secrets_stay() {
    for input in [
        "https://example.com:8080/path?q=1#frag",
        "https://packages.example.org/@scope/pkg",
        "https://medium.com/@user",
        "ssh://git@github.com/o/r",
        "postgres://db.internal:5432/app",
        "postgres://postgres@localhost/app",
        "redis://[::1]:6379/0",
        "postgres://${DB_USER}:${DB_PASS}@h/app",
        "mail someone@example.com about https://h",
        "https://h/list?page_token=CAESBgoEbmV4dA&max_tokens=4096&next_page_token=abc",
        "https://h/?key=name&sort_key=date&code=404",
        "https://h/?token=&api_key=${API_KEY}",
        "signature=valid",
    ] {
        stays(input);
    }
}

#[test]
fn assignments_are_masked() {
    for (frame, secret) in [
        ("password=@@", "hunter2"),
        ("password=@@", "SECRET"),
        // Stars at its end hide nothing of it.
        ("password=@@", "correct-horse-battery***"),
        ("api_key=@@", "-A_?AKIAIOSFODNN7EXAMPLE***"),
        ("call(password=@@)", "ab(c)d"),
        ("Server=h;User Id=sa;Password=@@;Encrypt=true", "p,w)d"),
        ("connect(user=x, password=@@)", "hunter2"),
        ("{user=x, password=@@}", "hunter2"),
        ("API_KEY=@@ npm start", "abcd"),
        (
            "aws_secret_access_key = @@",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1",
        ),
        ("export GITHUB_TOKEN=@@", "0123456789"),
        ("{\"password\": \"@@\"}", "hunter2222"),
        ("{\"password\":\"@@\"}", "correct horse battery staple"),
        ("{\"password\":\"@@\",\"a\":1}", "with \\\" quote"),
        ("{\\\"client_secret\\\":\\\"@@\\\"}", "abcdefgh"),
        ("{'api_key': '@@'}", "abcdefgh"),
        (":password => \"@@\"", "hunter2"),
        ("password: @@", "hunter2"),
        ("  api_key: @@\n  other: x", "abcd1234"),
        ("\"access_token\": \"@@", "cut-off-here"),
        ("--api-key @@ --port 80", "abcd1234"),
        ("--password=@@", "abcd"),
        ("密码：@@", "hunter22"),
        ("password=\"@@\"", "pa55"),
        ("secret=@@", "550e8400-e29b-41d4-a716-446655440000"),
    ] {
        fires(frame, secret, RedactionKind::NamedSecret);
    }
}

#[test]
fn prose_and_code_about_secrets_stay() {
    for input in [
        "Your password must contain 8 characters; the secret is in the vault.",
        "password: must be at least 8 characters",
        "Password: required",
        "password is too short (minimum is 8 characters)",
        "{\"password\": \"is too short (minimum is 8 characters)\"}",
        "{\"errors\": {\"password\": [\"This field may not be blank.\"], \"token\": \"is invalid\"}}",
        "{\"password\": \"密码长度不足八位\"}",
        "{\"password\": 12345678, \"token\": true, \"secret\": null, \"api_key\": 1e9}",
        "{\"password\": \"short\"}",
        "Unexpected token: identifier",
        "unexpected token: '}', expected token: \"semicolon\"",
        "SyntaxError: Unexpected token < in JSON at position 0",
        "error[E0425]: let token = lexer.next_token();",
        "login(user=user, password=password, token=self.token)",
        "password=os.environ[\"DB_PASS\"]",
        "token=get_token()",
        "if password == other_password {",
        "std::token::Token",
        "max_tokens=4096, token_count: 12345678, page_token=\"CAESBgoEbmV4dA\"",
        "password=********",
        "password=[REDACTED]",
        "password=<your password>",
        "password=${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "password=null",
        "api_key=%s",
        "--token is required when --password is given",
        "usage: login --token TOKEN [--password PASSWORD]",
        "secrets: 3 found",
        "tokenizer=cl100k_base1234",
        "********",
        "",
    ] {
        stays(input);
    }
}

#[test]
fn masks_and_data_uris_are_never_touched() {
    for input in [
        "[masked: bearer token]",
        "password=[masked: secret]",
        "password=hun***",
        "{\"password\": \"[masked: secret]\"}",
        "https://[masked: url credentials]@h",
        "Authorization: Bearer [masked: bearer token]",
    ] {
        stays(input);
    }
    let image = format!(
        "data:image/png;base64,iVBORw0KGgo/AKIA{CAPITALS}/AIza{}+gAAAA/",
        &LETTERS[..35]
    );
    stays(&image);
    stays(&format!("![x]({image})"));
    stays(&format!("{{\"token\": \"{image}\"}}"));
    stays(&format!(
        "{0}/AKIA{CAPITALS}/{0}",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    ));
    fires(
        "data:image/png;base64,iVBO/AKIA @@",
        &format!("AKIA{CAPITALS}"),
        RedactionKind::AwsKey,
    );
}

/// Found by the property tests when these texts still read differently the second time.
#[test]
fn texts_that_once_changed_twice_no_longer_do() {
    for input in ["xoxb-ghp_postgres://u:p@", &format!("ghp_{LETTERS}https://u:p@")] {
        let once = text(input);
        assert!(!once.changes.is_empty());
        assert_eq!(text(&once.value).value, once.value);
    }
    for value in [
        json!({ "password=Bearer ": "：Bearer " }),
        json!({ "xoxb-AKIAAuthorization": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx***"] }),
        json!({ "password": "https://***u:p@" }),
    ] {
        let once = redact_json(&value, &KnownSecrets::default());
        assert!(!once.changes.is_empty());
        assert_eq!(
            redact_json(&once.value, &KnownSecrets::default()).value,
            once.value
        );
    }
}

#[test]
fn json_is_masked_by_name_and_by_format() {
    let token = format!("ghp_{LETTERS}");
    let value = json!({
        "password": "correct horse battery staple is fine",
        "apiKey": HEX,
        "nested": { "list": [ { "client_secret": "abcdefgh" }, token ] },
        "passwords": ["first-one", "second-one"],
        "Authorization": "Bearer abc",
        "headers": { "authorization": "Bearer abcdef" },
        "note": format!("used {token}"),
        "secret": format!("{token} ***"),
        "inner": "{\"password\":\"hunter2222\"}",
        "url": "postgres://u:p@h/db",
    });
    let redacted = redact_json(&value, &KnownSecrets::default());
    assert_eq!(
        redacted.value,
        json!({
            "password": "[masked: secret]",
            "apiKey": "[masked: secret]",
            "nested": { "list": [ { "client_secret": "[masked: secret]" }, "[masked: github token]" ] },
            "passwords": ["[masked: secret]", "[masked: secret]"],
            "Authorization": "Bearer [masked: bearer token]",
            "headers": { "authorization": "Bearer [masked: bearer token]" },
            "note": "used [masked: github token]",
            "secret": "[masked: secret]",
            "inner": "{\"password\":\"[masked: secret]\"}",
            "url": "postgres://[masked: url credentials]@h/db",
        })
    );
    assert_eq!(
        redacted.changes,
        [
            Change {
                kind: RedactionKind::BearerToken,
                count: 2
            },
            Change {
                kind: RedactionKind::UrlCredentials,
                count: 1
            },
            Change {
                kind: RedactionKind::GithubToken,
                count: 2
            },
            Change {
                kind: RedactionKind::NamedSecret,
                count: 7
            },
        ]
    );
    let again = redact_json(&redacted.value, &KnownSecrets::default());
    assert_eq!(again.value, redacted.value);
    assert!(again.changes.is_empty());
}

#[test]
fn json_that_is_no_secret_stays() {
    let image = format!("iVBORw0KGgo/AKIA{CAPITALS}/AIza{}/", &LETTERS[..35]);
    let text = r#"{
        "password": 12345678, "secret": true, "token": null, "api_key": 7205759403792793601, "pwd": 1e400,
        "max_tokens": "4096 or more", "page_token": "CAESBgoEbmV4dA", "nextPageToken": "CAESBgoEbmV4dA",
        "password_hint": "the name of my first pet", "credential": {"name": "prod-database", "kind": "basic"},
        "secrets": [1, 2, 3], "errors": {"password": ["This field may not be blank."]}, "pin": "1234",
        "sha": "9fceb02d0ae598e95dc970b74767f19372d61af8", "id": "550e8400-e29b-41d4-a716-446655440000",
        "token": "********", "api_key": "${API_KEY}", "client_secret": "[REDACTED]", "passwd": "short"
    }"#;
    let mut value: Value = serde_json::from_str(text).unwrap();
    value["content"] = json!([
        { "type": "image", "mimeType": "image/png", "data": image },
        { "type": "resource", "resource": { "uri": "file:///a", "mimeType": "application/octet-stream", "blob": image } },
    ]);
    value["token"] = json!(format!("data:image/png;base64,{image}"));
    let redacted = redact_json(&value, &KnownSecrets::default());
    assert_eq!(
        redacted.value.to_string(),
        value.to_string(),
        "members, order and numbers as they were"
    );
    assert!(redacted.changes.is_empty());
}

#[test]
fn a_blob_member_that_is_no_base64_is_read_like_any_text() {
    let value = json!({ "mimeType": "text/plain", "data": "password=hunter22 here" });
    assert_eq!(
        redact_json(&value, &KnownSecrets::default()).value["data"],
        "password=[masked: secret] here"
    );
}

#[test]
fn secrets_as_member_names_are_masked_and_no_member_is_lost() {
    let value = json!({ format!("ghp_{LETTERS}"): 1, format!("ghp_{LETTERS}x"): 2 });
    let redacted = redact_json(&value, &KnownSecrets::default());
    assert_eq!(
        redacted.value,
        json!({ "[masked: github token]": 1, "[masked: github token] 1": 2 })
    );
}

#[test]
fn known_secrets_go_wherever_they_stand() {
    let secrets = KnownSecrets::new([
        "pa\"ss/w0rd",
        "sentinel-1",
        "sentinel-1-longer",
        "short",
        "masked: s",
    ]);
    for (input, expected) in [
        ("it is pa\"ss/w0rd here", "it is [masked: known secret] here"),
        (r#"{"x":"pa\"ss/w0rd"}"#, r#"{"x":"[masked: known secret]"}"#),
        ("?q=pa%22ss%2Fw0rd&x", "?q=[masked: known secret]&x"),
        ("xsentinel-1-longerx", "x[masked: known secret]x"),
        (
            "sentinel-1sentinel-1",
            "[masked: known secret][masked: known secret]",
        ),
    ] {
        let redacted = known(input, &secrets);
        assert_eq!(redacted.value, expected);
        assert!(known(&redacted.value, &secrets).changes.is_empty());
    }
    for input in ["short", "sentinel", "[masked: secret]", ""] {
        assert!(matches!(known(input, &secrets).value, Cow::Borrowed(same) if same == input));
    }
}

#[test]
fn an_environment_gives_its_secrets_by_name_only() {
    let secrets = KnownSecrets::from_named([
        ("PATH", "/usr/local/bin"),
        ("GITHUB_TOKEN", "abcdefghijkl"),
        ("DB_PASS", "x"),
    ]);
    assert_eq!(
        known("/usr/local/bin abcdefghijkl x", &secrets).value,
        "/usr/local/bin [masked: known secret] x"
    );
    assert!(!format!("{secrets:?}").contains("abcdefghijkl"));
    assert!(KnownSecrets::from_named([("PATH", "/usr/local/bin")]).is_empty());
}
