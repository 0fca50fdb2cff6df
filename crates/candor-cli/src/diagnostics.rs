//! Faults as a person reads them: configuration with the line it is in, everything else in one sentence and its causes.

use std::io::{IsTerminal, Write as _, stderr};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use candor_core::delivery::redaction::{KnownSecrets, least};
use candor_gateway::config::{ConfigFault, LoadFault};

/// Prints why a command could not be run.
pub(crate) fn print_fault(fault: &anyhow::Error) {
    let mut lines = Vec::new();
    if let Some(LoadFault::Invalid { file, text, faults }) = fault.downcast_ref::<LoadFault>() {
        lines.extend(faults.iter().map(|fault| render(file, text, fault)));
    } else {
        lines.push(format!("error: {fault}"));
        lines.extend(fault.chain().skip(1).map(|cause| format!("  because: {cause}")));
    }
    for line in lines {
        let line = least(&line, &KnownSecrets::default()).value;
        // Where stderr is gone there is nobody left to tell, and the exit code still says it.
        let _ = writeln!(stderr(), "{line}");
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
