//! A fixture's mapping as an operator would write it in `candor.toml`.

use candor_fixtures::script::{Document, Mapping};

/// The configuration of one tool of server `fixture`; `more` is what its script has beside a mapping.
pub(crate) fn of(
    tool: &str,
    class: &str,
    mapping: Option<&Mapping>,
    document: Document,
    more: Option<&str>,
) -> String {
    let table = format!("servers.fixture.tools.{tool}");
    let mut text = format!("[{table}]\neffect = \"{class}\"\n");
    if let Some(more) = more {
        text += &more.replace("{tool}", &table);
        text.push('\n');
    }
    let Some(mapping) = mapping else { return text };
    let document = match document {
        Document::Text => "text",
        _ => "structured",
    };
    text += &format!(
        "[servers.fixture.tools.{tool}.outcome]\nfrom = \"{document}\"\npointer = \"{}\"\n",
        mapping.outcome
    );
    for (reading, values) in &mapping.values {
        text += &format!("{reading} = {values:?}\n");
    }
    let clauses = [
        ("code", &mapping.code),
        ("message", &mapping.message),
        ("suggestion", &mapping.suggestion),
        ("reference", &mapping.reference),
        ("reference_name", &mapping.noun),
    ];
    for (key, value) in clauses {
        if let Some(value) = value {
            text += &format!("{key} = \"{value}\"\n");
        }
    }
    text
}

#[test]
fn every_mapping_of_a_fixture_is_a_configuration_that_candor_reads() {
    let mut read = 0;
    for entry in candor_fixtures::CATALOG {
        for tool in entry.script().unwrap().tools {
            for case in &tool.cases {
                let name = tool.name().unwrap();
                for class in &case.class {
                    let text = of(
                        &name,
                        class,
                        tool.mapping.as_ref(),
                        case.document,
                        tool.contract.as_deref(),
                    );
                    let config = candor_gateway::config::Config::parse("candor.toml", &text, &|_| None);
                    let config = config.unwrap_or_else(|faults| panic!("{text}\n{faults:?}"));
                    assert_eq!(config.servers.len(), 1, "{text}");
                    read += 1;
                }
            }
        }
    }
    assert!(read > 100, "only {read} configurations");
}
