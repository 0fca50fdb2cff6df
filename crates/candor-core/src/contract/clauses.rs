//! The clauses that hold for one call, in words, each with where it came from: for the record.

use super::effect::{Source, Sourced};
use super::terms::{Refusal, ShapeMode, ToolTerms};

/// Every clause that somebody stated, and its source. Defaults are left out: they are the program's own.
pub fn clauses(terms: &ToolTerms) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut add = |text: String, source: &Source| {
        if *source != Source::Default {
            out.push((text, source.to_string()));
        }
    };
    if let Some(Sourced { value, source }) = &terms.class {
        add(format!("effect = {value}"), source);
    }
    add(
        format!("arguments = {}", terms.arguments.value),
        &terms.arguments.source,
    );
    add(
        format!("strict_names = {}", terms.strict_names.value),
        &terms.strict_names.source,
    );
    let shape = match terms.output.value {
        ShapeMode::Warn => "warn",
        ShapeMode::Strict => "strict",
    };
    add(format!("output = {shape}"), &terms.output.source);
    if let Some(Sourced { value, source }) = &terms.mapping {
        add(format!("outcome read from {}", value.pointer), source);
    }
    for Sourced { value, source } in &terms.rules {
        add(format!("rule {}", value.name()), source);
    }
    if let Some(Sourced { value, source }) = &terms.deadline {
        add(format!("deadline = {} ms", value.as_millis()), source);
    }
    add(
        format!("trust_annotations = {}", terms.trust_annotations.value),
        &terms.trust_annotations.source,
    );
    add(
        format!("trust_verdicts = {}", terms.trust_verdicts.value),
        &terms.trust_verdicts.source,
    );
    for (refusal, source) in &terms.nothing_done_on {
        let what = match refusal {
            Refusal::JsonRpc(code) => format!("nothing done on {code}"),
            Refusal::Http(status) => format!("nothing done on HTTP {status}"),
        };
        add(what, source);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_stated_is_told_with_its_line_and_defaults_are_not() {
        assert_eq!(clauses(&ToolTerms::default()), []);
        let source = Source::Config {
            file: "candor.toml".to_owned(),
            line: 3,
        };
        let told = clauses(&ToolTerms {
            strict_names: Sourced::new(true, source.clone()),
            output: Sourced::new(ShapeMode::Strict, source.clone()),
            ..ToolTerms::default()
        });
        let clause = |text: &str| (text.to_owned(), source.to_string());
        assert_eq!(told, [clause("strict_names = true"), clause("output = strict")]);
    }
}
