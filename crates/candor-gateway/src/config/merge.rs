//! The terms of one tool: the command line over the file, the tool over its server over the whole.

use std::fmt;
use std::time::Duration;

use candor_core::arguments::check::Mode;
use candor_core::contract::effect::{EffectClass, Source, Sourced};
use candor_core::contract::terms::ToolTerms;

use super::build::{Config, ServerConfig, ToolConfig};
use super::glob::Glob;

/// How many servers of a file a warning names.
const NAMED: usize = 8;

/// What was said on the command line.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Tools that change nothing (`--read`).
    pub read_globs: Vec<Glob>,
    /// Whether every server's annotations count (`--trust-annotations`). Its absence says nothing.
    pub trust_annotations: bool,
    /// How long a call may take, from its opening (`--timeout`).
    pub timeout: Option<Duration>,
    /// How arguments are checked (`--arguments`).
    pub arguments: Option<Mode>,
    /// Who calls (`--principal`).
    pub principal: Option<String>,
}

impl Config {
    /// Everything that holds for `tool` of `server` but for the tool's own annotations, which are not known here:
    /// [`ToolTerms::with_annotations`] adds them. Names are matched exactly; an unknown one gets what holds for all.
    pub fn for_tool(&self, server: &str, tool: &str, command_line: &CommandLine) -> ToolTerms {
        self.for_tool_over(server, tool, command_line, None)
    }

    /// The same, over what a contract pack says of the tool.
    pub fn for_tool_over(
        &self,
        server: &str,
        tool: &str,
        command_line: &CommandLine,
        pack: Option<&ToolConfig>,
    ) -> ToolTerms {
        let (no_server, no_tool) = (ServerConfig::default(), ToolConfig::default());
        let of_server = self.servers.get(server).unwrap_or(&no_server);
        let of_tool = of_server.tools.get(tool).unwrap_or(&no_tool);
        let with_pack = pack.map(|below| of_tool.clone().over(below));
        let of_tool = with_pack.as_ref().unwrap_or(of_tool);
        let (tool_recovery, server_recovery) = (&of_tool.recovery, &of_server.recovery);
        let defaults = ToolTerms::default();
        ToolTerms {
            class: command_line.class_of(tool).or_else(|| of_tool.effect.clone()),
            arguments: first([
                command_line.arguments.map(said).as_ref(),
                of_tool.arguments.as_ref(),
                of_server.arguments.as_ref(),
                self.arguments.as_ref(),
            ])
            .unwrap_or(defaults.arguments),
            strict_names: first([of_tool.strict_names.as_ref(), of_server.strict_names.as_ref()])
                .unwrap_or(defaults.strict_names),
            output: first([of_tool.output.as_ref(), of_server.output.as_ref()]).unwrap_or(defaults.output),
            formats: first([of_tool.formats.as_ref(), of_server.formats.as_ref()])
                .unwrap_or(defaults.formats),
            mapping: of_tool.outcome.clone(),
            text: of_tool.text.clone(),
            lower: of_tool.lower.clone(),
            rules: of_tool
                .rules
                .iter()
                .filter(|rule| rule.holds_for(command_line.principal.as_deref().unwrap_or_default()))
                .map(|rule| rule.rule.clone())
                .collect(),
            deadline: first([
                command_line.timeout.map(said).as_ref(),
                of_tool.deadline.as_ref(),
                of_server.timeout.as_ref(),
                self.timeout.as_ref(),
            ]),
            task: of_tool.task.clone().unwrap_or(defaults.task),
            nothing_done_on: of_tool.nothing_done_on.clone(),
            read_back: tool_recovery.read_back.clone(),
            retry: first([tool_recovery.retry.as_ref(), server_recovery.retry.as_ref()]),
            breaker: first([tool_recovery.breaker.as_ref(), server_recovery.breaker.as_ref()]),
            key_place: first([
                tool_recovery.key_place.as_ref(),
                server_recovery.key_place.as_ref(),
            ]),
            confirm: first([tool_recovery.confirm.as_ref(), server_recovery.confirm.as_ref()])
                .and_then(|asked| Some(Sourced::new(asked.value?, asked.source))),
            redact: of_server.redact.clone(),
            trust_annotations: first([
                command_line.trust_annotations.then(|| said(true)).as_ref(),
                of_server.trust_annotations.as_ref(),
            ])
            .unwrap_or(defaults.trust_annotations),
            trust_verdicts: first([of_server.trust_verdicts.as_ref()]).unwrap_or(defaults.trust_verdicts),
        }
    }
}

impl Config {
    /// Is any tool of any server offered as a task? Asked before the server's name is known.
    pub fn offers_tasks(&self) -> bool {
        let tools = self.servers.values().flat_map(|server| server.tools.values());
        tools.into_iter().any(ToolConfig::is_task)
    }
}

impl ToolConfig {
    /// Is it offered as a task?
    pub fn is_task(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.value)
    }
}

/// A file that names servers, and not the one that is wrapped: none of its contracts holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmatched<'c> {
    /// The server, by the name that was looked for.
    pub server: &'c str,
    /// The servers of the file.
    pub named: Vec<&'c str>,
}

impl Config {
    /// What to warn of if the file names servers and none of them is `server`: a slip in a name would otherwise leave
    /// every contract of the file without effect, silently.
    pub fn unmatched<'c>(&'c self, server: &'c str) -> Option<Unmatched<'c>> {
        let missed = !self.servers.is_empty() && !self.servers.contains_key(server);
        missed.then(|| Unmatched {
            server,
            named: self.servers.keys().map(String::as_str).collect(),
        })
    }
}

impl fmt::Display for Unmatched<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.named.iter().take(NAMED).map(|name| format!("{name:?}"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = match self.named.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        write!(
            out,
            "no contract of the configuration holds for this server: it is called {:?}, and the file names {shown}{more}; \
             name it as the file does with --name, or write its own name into the file",
            self.server
        )
    }
}

impl CommandLine {
    fn class_of(&self, tool: &str) -> Option<Sourced<EffectClass>> {
        self.read_globs
            .iter()
            .any(|glob| glob.matches(tool))
            .then(|| said(EffectClass::Read))
    }
}

fn said<T>(value: T) -> Sourced<T> {
    Sourced::new(value, Source::CommandLine)
}

/// The first clause that somebody stated.
fn first<T: Clone, const N: usize>(clauses: [Option<&Sourced<T>>; N]) -> Option<Sourced<T>> {
    clauses.into_iter().flatten().next().cloned()
}
