//! Whether a host can show its user a form.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::members::object;
use crate::wire::revision::Revision;

/// What a host says it can do, as far as forms go.
#[derive(Debug, Deserialize)]
struct Capabilities<'a> {
    #[serde(borrow, default)]
    elicitation: Option<&'a RawValue>,
}

/// The ways of elicitation; an object without any means forms (MCP 2025-11-25, client/elicitation).
#[derive(Debug, Deserialize)]
struct Ways<'a> {
    #[serde(borrow, default)]
    form: Option<&'a RawValue>,
    #[serde(borrow, default)]
    url: Option<&'a RawValue>,
}

/// Do these capabilities of a client (raw) say that it shows forms, in this revision? Silence is no.
pub fn shows_forms(capabilities: &str, revision: Revision) -> bool {
    if revision < Revision::V2025_06_18 {
        return false;
    }
    let ways = object::<Capabilities<'_>>(capabilities)
        .and_then(|capabilities| object::<Ways<'_>>(capabilities.elicitation?.get()));
    ways.is_some_and(|ways| ways.form.is_some_and(|form| form.get().starts_with('{')) || ways.url.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_shows_forms_where_it_says_so_and_its_revision_knows_them() {
        let newest = Revision::V2025_11_25;
        for (capabilities, revision, shows) in [
            (r#"{"elicitation":{}}"#, newest, true),
            (r#"{"elicitation":{"form":{}}}"#, newest, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, newest, true),
            (r#"{"elicitation":{"url":{}}}"#, newest, false),
            (r#"{"elicitation":{"form":null,"url":{}}}"#, newest, false),
            (r#"{"elicitation":null}"#, newest, false),
            (r#"{"elicitation":true}"#, newest, false),
            (r#"{"sampling":{}}"#, newest, false),
            ("[]", newest, false),
            (r#"{"elicitation":{}}"#, Revision::V2025_03_26, false),
            (r#"{"elicitation":{"form":{}}}"#, Revision::V2026_07_28, true),
        ] {
            assert_eq!(
                shows_forms(capabilities, revision),
                shows,
                "{capabilities} {revision:?}"
            );
        }
    }
}
