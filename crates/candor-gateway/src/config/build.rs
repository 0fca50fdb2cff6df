//! Makes clauses of what a file says: mappings, compiled rules, each with the line it came from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path as FilePath;
use std::time::Duration;

use candor_core::arguments::check::Mode;
use candor_core::contract::effect::{EffectClass, Source, Sourced};
use candor_core::contract::lower::LowerClause;
use candor_core::contract::mapping::Mapping;
use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::rules::{Part, Rule, Zone};
use candor_core::contract::schema::Formats;
use candor_core::contract::terms::{Refusal, ShapeMode};
use candor_core::contract::text::TextClause;

use candor_core::delivery::redaction::Extra;

use super::expand::Environment;
use super::fault::{ConfigFault, FaultKind};
use super::glob::Glob;
use super::keys::{Placed, Verbatim};
use super::raw::{RawConfig, RawRule, RawServer, RawTool};
use super::reader::Reader;
use super::recovery::{Classes, RawShared, Recovery};
use super::text::Text;
use super::words::{LogLevel, OneOf};

/// Bytes that are read of a file at most; the reader refuses a little less.
const READ_LIMIT: u64 = 1024 * 1024 + 1;

/// A whole configuration, every clause checked. The default is that of no file.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The ledger's file, as written.
    pub ledger: Option<Sourced<String>>,
    /// Refuse every call but trusted reads while the ledger can't be written.
    pub ledger_required: Option<Sourced<bool>>,
    /// Add Candor's own tools and resource to what the server lists.
    pub own_tools: Option<Sourced<bool>>,
    /// How much is logged.
    pub log_level: Option<Sourced<LogLevel>>,
    /// How long a call may take, from its opening.
    pub timeout: Option<Sourced<Duration>>,
    /// How arguments are checked.
    pub arguments: Option<Sourced<Mode>>,
    /// Apply the contract packs that are part of the program.
    pub packs: Option<Sourced<bool>>,
    /// Servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// What a configuration says of one server.
#[derive(Debug, Clone, Default)]
pub struct ServerConfig {
    /// Whether the server's annotations count.
    pub trust_annotations: Option<Sourced<bool>>,
    /// Whether the server's own verdicts count.
    pub trust_verdicts: Option<Sourced<bool>>,
    /// How arguments are checked.
    pub arguments: Option<Sourced<Mode>>,
    /// Whether every argument that the schema does not list is refused.
    pub strict_names: Option<Sourced<bool>>,
    /// What a broken output shape costs.
    pub output: Option<Sourced<ShapeMode>>,
    /// Whether `format` decides.
    pub formats: Option<Sourced<Formats>>,
    /// How long a call may take, from its opening.
    pub timeout: Option<Sourced<Duration>>,
    /// What is masked beside what Candor knows by itself.
    pub redact: Option<Sourced<Extra>>,
    /// What is done after a verdict, for every tool that says nothing of its own.
    pub recovery: Recovery,
    /// Tools by name.
    pub tools: BTreeMap<String, ToolConfig>,
}

/// What a configuration says of one tool.
#[derive(Debug, Clone, Default)]
pub struct ToolConfig {
    /// What a call may change.
    pub effect: Option<Sourced<EffectClass>>,
    /// How arguments are checked.
    pub arguments: Option<Sourced<Mode>>,
    /// Whether every argument that the schema does not list is refused.
    pub strict_names: Option<Sourced<bool>>,
    /// What a broken output shape costs.
    pub output: Option<Sourced<ShapeMode>>,
    /// Whether `format` decides.
    pub formats: Option<Sourced<Formats>>,
    /// How long a call may take, from its opening.
    pub deadline: Option<Sourced<Duration>>,
    /// Whether a call is offered as a task.
    pub task: Option<Sourced<bool>>,
    /// Refusals by which the server says that nothing was done.
    pub nothing_done_on: BTreeMap<Refusal, Source>,
    /// How results are read.
    pub outcome: Option<Sourced<Mapping>>,
    /// What texts lower a claim, in the order of the file.
    pub text: Vec<Sourced<TextClause>>,
    /// What expressions over a result lower a claim, in the order of the file.
    pub lower: Vec<Sourced<LowerClause>>,
    /// What is done after a verdict.
    pub recovery: Recovery,
    /// Extra rules on arguments, in the order of the file.
    pub rules: Vec<RuleFor>,
}

/// A rule, and whom it holds for.
#[derive(Debug, Clone)]
pub struct RuleFor {
    /// The rule.
    pub rule: Sourced<Rule>,
    /// Names of callers, as globs; every caller where there are none.
    pub principals: Vec<Glob>,
}

impl RuleFor {
    /// Does it hold for this caller? One that nobody named has an empty name.
    pub fn holds_for(&self, principal: &str) -> bool {
        self.principals.is_empty() || self.principals.iter().any(|glob| glob.matches(principal))
    }
}

/// Why a file gave no configuration.
#[derive(Debug, thiserror::Error)]
pub enum LoadFault {
    /// The file can't be read.
    #[error("{file} can't be read: {error}")]
    Unreadable {
        /// The file, as named.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// The file's text is not valid.
    #[error("{file} has {} faults, the first: {}", faults.len(), faults.first().map(ToString::to_string).unwrap_or_default())]
    Invalid {
        /// The file, as named.
        file: String,
        /// Its whole text, for showing the lines.
        text: String,
        /// Everything that is wrong, in the order of the file.
        faults: Vec<ConfigFault>,
    },
}

impl Config {
    /// Reads and checks a file. Relative names inside it stay as they are written.
    ///
    /// # Errors
    /// If the file can't be read or anything in it is wrong.
    pub fn load(path: &FilePath, environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, LoadFault> {
        let file = path.display().to_string();
        let text = text_of(path)?;
        Self::parse(&file, &text, environment).map_err(|faults| LoadFault::Invalid { file, text, faults })
    }

    /// Checks the text of a file. `environment` gives the values of `${VAR}`.
    ///
    /// # Errors
    /// Every fault of the text, in its order.
    pub fn parse(
        file: &str,
        source: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Vec<ConfigFault>> {
        let environment: Environment<'_> = environment;
        let mut reader = Reader::new(Text { file, source }, environment);
        let config = reader
            .document::<RawConfig>()
            .map(|raw| Builder { reader: &mut reader }.config(raw));
        let faults = reader.into_faults();
        match config {
            Some(config) if faults.is_empty() => Ok(config),
            _ => Err(faults),
        }
    }
}

/// The text of a file.
pub(super) fn text_of(path: &FilePath) -> Result<String, LoadFault> {
    let mut text = String::new();
    let read = File::open(path).and_then(|open| open.take(READ_LIMIT).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => Err(LoadFault::Unreadable {
            file: path.display().to_string(),
            error,
        }),
    }
}

/// Turns raw tables into clauses, with the reader at hand for positions and faults.
pub(super) struct Builder<'b, 'r> {
    pub(super) reader: &'b mut Reader<'r>,
}

impl Builder<'_, '_> {
    fn config(&mut self, raw: RawConfig) -> Config {
        let zone = raw.time_zone.map_or_else(Zone::utc, |placed| placed.value.0);
        Config {
            ledger: self.sourced(raw.ledger, |ledger| ledger),
            ledger_required: self.sourced(raw.ledger_required, |required| required),
            own_tools: self.sourced(raw.own_tools, |own| own),
            log_level: self.sourced(raw.log_level, |OneOf(level)| level),
            timeout: self.sourced(raw.timeout, |deadline| deadline.0),
            arguments: self.sourced(raw.arguments, |OneOf(mode)| mode),
            packs: self.sourced(raw.packs, |packs| packs),
            servers: named(raw.servers)
                .map(|(name, server)| (name, self.server(server, &zone)))
                .collect(),
        }
    }

    fn server(&mut self, raw: RawServer, zone: &Zone) -> ServerConfig {
        let zone = raw
            .time_zone
            .map_or_else(|| zone.clone(), |placed| placed.value.0);
        let classes = Classes::of(raw.tools.as_ref());
        ServerConfig {
            trust_annotations: self.sourced(raw.trust_annotations, |trust| trust),
            trust_verdicts: self.sourced(raw.trust_verdicts, |trust| trust),
            arguments: self.sourced(raw.arguments, |OneOf(mode)| mode),
            strict_names: self.sourced(raw.strict_names, |strict| strict),
            output: self.sourced(raw.output, |OneOf(mode)| mode),
            formats: self.sourced(raw.format, |OneOf(formats)| formats),
            timeout: self.sourced(raw.timeout, |deadline| deadline.0),
            redact: self.redact(raw.redact),
            recovery: self.shared(RawShared {
                retry: raw.retry,
                breaker: raw.breaker,
                idempotency_key: raw.idempotency_key,
                confirm: raw.confirm,
            }),
            tools: named(raw.tools)
                .map(|(name, tool)| {
                    let tool = self.tool(&name, tool, &classes, &zone);
                    (name, tool)
                })
                .collect(),
        }
    }

    pub(super) fn tool(&mut self, name: &str, raw: RawTool, classes: &Classes, zone: &Zone) -> ToolConfig {
        let zone = raw
            .time_zone
            .map_or_else(|| zone.clone(), |placed| placed.value.0);
        let mut outcome = raw.outcome.and_then(|placed| {
            let source = self.source(&placed.key);
            Some(Sourced::new(self.mapping(placed)?, source))
        });
        let nothing_done_on = self.nothing_done_on(raw.nothing_done_on, &mut outcome);
        ToolConfig {
            effect: self.sourced(raw.effect, |OneOf(class)| class),
            arguments: self.sourced(raw.arguments, |OneOf(mode)| mode),
            strict_names: self.sourced(raw.strict_names, |strict| strict),
            output: self.sourced(raw.output, |OneOf(mode)| mode),
            formats: self.sourced(raw.format, |OneOf(formats)| formats),
            deadline: self.sourced(raw.deadline, |deadline| deadline.0),
            task: self.sourced(raw.task, |task| task),
            nothing_done_on,
            outcome,
            text: self.texts(raw.text),
            lower: self.lower(raw.lower, &zone),
            recovery: Recovery {
                read_back: self.read_back(raw.read_back, name, classes, &zone),
                ..self.shared(RawShared {
                    retry: raw.retry,
                    breaker: raw.breaker,
                    idempotency_key: raw.idempotency_key,
                    confirm: raw.confirm,
                })
            },
            rules: self.rules(list(raw.rules), &zone),
        }
    }

    fn rules(&mut self, raw: impl Iterator<Item = Placed<RawRule>>, zone: &Zone) -> Vec<RuleFor> {
        let mut lines: BTreeMap<String, u32> = BTreeMap::new();
        let mut rules = Vec::new();
        for placed in raw {
            if let Some(name) = &placed.value.name {
                match lines.get(&name.value.0) {
                    Some(line) => {
                        self.reader
                            .fault::<()>(name.span.clone(), FaultKind::SameRuleName { line: *line });
                    }
                    None => drop(lines.insert(name.value.0.clone(), self.reader.line(&name.span))),
                }
            }
            let source = self.source(&placed.key);
            let mut raw = placed.value;
            let principals = list(raw.principals.take())
                .map(|glob| Glob::new(&glob.value))
                .collect();
            rules.extend(self.rule(raw, zone).map(|rule| RuleFor {
                rule: Sourced::new(rule, source),
                principals,
            }));
        }
        rules
    }

    /// Compiles a rule. What is missing has been said already; what is there is looked at all the same.
    fn rule(&mut self, raw: RawRule, zone: &Zone) -> Option<Rule> {
        let path = raw.path.map_or_else(Pointer::whole, |path| path.value.0);
        let text = |placed: &Option<Placed<Verbatim>>, absent: &str| {
            placed
                .as_ref()
                .map_or_else(|| absent.to_owned(), |placed| placed.value.0.clone())
        };
        let (name, check, message) = (
            text(&raw.name, ""),
            text(&raw.check, "true"),
            text(&raw.message, ""),
        );
        let compiled = Rule::compile(&name, &check, &message, &path, zone);
        for fault in compiled.as_ref().err().into_iter().flatten() {
            let blamed = match fault.part {
                Part::Check => &raw.check,
                Part::Message => &raw.message,
            };
            let Some(Placed {
                value: Verbatim(text),
                span,
                ..
            }) = blamed
            else {
                continue;
            };
            let inside = fault.at.and_then(|at| self.reader.inside(span, text, at));
            self.reader.fault::<()>(
                inside.unwrap_or_else(|| span.clone()),
                FaultKind::Rule(fault.clone()),
            );
        }
        let whole = raw.name.is_some() && raw.check.is_some() && raw.message.is_some();
        compiled.ok().filter(|_| whole)
    }

    pub(super) fn source(&self, key: &Range<usize>) -> Source {
        Source::Config {
            file: self.reader.file().to_owned(),
            line: self.reader.line(key),
        }
    }

    pub(super) fn sourced<T, U>(
        &self,
        placed: Option<Placed<T>>,
        take: impl FnOnce(T) -> U,
    ) -> Option<Sourced<U>> {
        placed.map(|placed| Sourced::new(take(placed.value), self.source(&placed.key)))
    }
}

pub(super) fn list<T>(placed: Option<Placed<Vec<Placed<T>>>>) -> impl Iterator<Item = Placed<T>> {
    placed.into_iter().flat_map(|placed| placed.value)
}

pub(super) fn named<T>(
    placed: Option<Placed<BTreeMap<String, Placed<T>>>>,
) -> impl Iterator<Item = (String, T)> {
    placed
        .into_iter()
        .flat_map(|placed| placed.value)
        .map(|(name, item)| (name, item.value))
}
