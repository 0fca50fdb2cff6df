//! What no line of this program may hold: values that it knows to be secret, and whatever has a credential's format.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use candor_core::delivery::redaction::{self, KnownSecrets};
use serde_json::Value;

/// What the process that wraps `server` knows to be secret: its environment, which the server gets too, and the
/// server's command line. The server's own name is none, whatever a variable's value happens to be.
pub(crate) fn secrets(server: &[OsString], name: Option<&str>) -> KnownSecrets {
    let text = |word: OsString| word.into_string().ok();
    let environment: Vec<(String, String)> = env::vars_os()
        .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
        .collect();
    let command: Vec<String> = server.iter().cloned().filter_map(text).collect();
    let program = command
        .first()
        .and_then(|program| Path::new(program).file_name()?.to_str());
    let names: Vec<&str> = name.into_iter().chain(program).collect();
    KnownSecrets::of_process(&environment, &command, &names)
}

/// One line of a log: its strings lose credentials, and URLs all but scheme, host and path.
pub(crate) fn line(line: &str, secrets: &KnownSecrets) -> String {
    // A line of JSON stays one, whatever is masked in it.
    match serde_json::from_str::<Value>(line) {
        Ok(value @ Value::Object(_)) => format!("{}\n", redaction::least_json(&value, secrets).value),
        _ => redaction::least(line, secrets).value.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_log_holds_no_secret_and_stays_what_it_was() {
        let secrets = KnownSecrets::new(["sentinel-99"]);
        assert_eq!(
            line("WARN at https://u:p@h/x?y=1 with sentinel-99\n", &secrets),
            "WARN at https://h/x?… with [masked: known secret]\n"
        );
        assert_eq!(
            line(
                "{\"level\":\"WARN\",\"line\":\"\\\"sentinel-99\\\"\",\"n\":1.10}\n",
                &secrets
            ),
            "{\"level\":\"WARN\",\"line\":\"\\\"[masked: known secret]\\\"\",\"n\":1.10}\n"
        );
        assert_eq!(line("nothing to see\n", &secrets), "nothing to see\n");
    }

    #[test]
    fn a_servers_own_name_is_no_secret() {
        let server = [
            "/usr/bin/postgres-mcp".into(),
            "--api-key".into(),
            "value-of-it".into(),
        ];
        let secrets = secrets(&server, Some("rooms"));
        assert_eq!(line("postgres-mcp rooms", &secrets), "postgres-mcp rooms");
        assert_eq!(line("value-of-it", &secrets), "[masked: known secret]");
    }
}
