//! Faults as a person reads them: configuration with the line it is in, everything else in one sentence and its causes.

use std::io::{IsTerminal, stderr};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use candor_core::delivery::redaction::{KnownSecrets, least};
use candor_gateway::config::{ConfigFault, LoadFault};

/// Prints why a command could not be run.
#[expect(clippy::print_stderr, reason = "this is where faults are told")]
pub(crate) fn print_fault(fault: &anyhow::Error) {
    if let Some(LoadFault::Invalid { file, text, faults }) = fault.downcast_ref::<LoadFault>() {
        for fault in faults {
            eprintln!("{}", render(file, text, fault));
        }
        return;
    }
    let told = |text: String| least(&text, &KnownSecrets::default()).value.into_owned();
    eprintln!("error: {}", told(fault.to_string()));
    for cause in fault.chain().skip(1) {
        eprintln!("  because: {}", told(cause.to_string()));
    }
}

fn render(file: &str, text: &str, fault: &ConfigFault) -> String {
    let label = fault.kind.to_string();
    let snippet = Snippet::source(text)
        .path(file)
        .line_start(1)
        .annotation(AnnotationKind::Primary.span(fault.span.clone()).label(&label));
    let mut group = Group::with_title(Level::ERROR.primary_title(&label)).element(snippet);
    if let Some(help) = fault.help() {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = if stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&[group])
}
