//! The shape of `candor.toml`, written down once: the reader, the lists of known keys and the JSON Schema all come
//! from here.

use std::collections::BTreeMap;

use candor_core::arguments::check::Mode;
use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Document;
use candor_core::contract::recovery::Lowered;
use candor_core::contract::schema::Formats;
use candor_core::contract::terms::ShapeMode;
use schemars::JsonSchema;
use toml::Spanned;
use toml::de::DeValue;

use super::fault::FaultKind;
use super::keys::{Code, Deadline, FromToml, Listed, Path, Placed, Tried, Verbatim, ZoneName};
use super::reader::Reader;
use super::recovery::{RawBreaker, RawKeyPlace, RawReadBack, RawRetry};
use super::span::Consent;
use super::words::{LogLevel, OneOf};

/// A table with fixed keys: those it needs, and those it may have.
macro_rules! table {
    (
        $(#[$meta:meta])*
        struct $name:ident as $title:literal {
            needs { $($(#[$need_meta:meta])* $need:ident: $need_type:ty,)* }
            may { $($(#[$may_meta:meta])* $may:ident: $may_type:ty,)* }
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default, JsonSchema)]
        #[schemars(deny_unknown_fields, rename = $title)]
        pub(super) struct $name {
            $($(#[$need_meta])* #[schemars(required)] pub(super) $need: Option<Placed<$need_type>>,)*
            $($(#[$may_meta])* pub(super) $may: Option<Placed<$may_type>>,)*
        }

        impl FromToml for $name {
            fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
                const KEYS: &[&str] = &[$(stringify!($need),)* $(stringify!($may),)*];
                let DeValue::Table(members) = value.get_ref() else {
                    return reader.wrong_kind("a table", value);
                };
                let mut table = Self::default();
                for (key, member) in members {
                    match key.get_ref().as_ref() {
                        $(stringify!($need) => table.$need = reader.placed(key.span(), member),)*
                        $(stringify!($may) => table.$may = reader.placed(key.span(), member),)*
                        unknown => reader.unknown_key(key.span(), unknown, KEYS),
                    }
                }
                $(if !members.iter().any(|(key, _)| key.get_ref() == stringify!($need)) {
                    reader.fault::<()>(value.span(), FaultKind::MissingKey { key: stringify!($need) });
                })*
                Some(table)
            }
        }
    };
}

pub(super) use table;

table! {
    /// Contracts and settings of Candor. Every key is optional; unknown keys are refused.
    struct RawConfig as "Config" {
        needs {}
        may {
            /// The file of the ledger. `--ledger` stands over it.
            ledger: String,
            /// Refuse every call but trusted reads while the ledger can't be written.
            ledger_required: bool,
            /// Add Candor's own tools `candor_operation` and `candor_unsettled`, and the resource
            /// `candor://operations/{id}`, to what the server lists.
            own_tools: bool,
            /// How much is logged.
            log_level: OneOf<LogLevel>,
            /// How long a call may take, from its opening: waits for a list of tools, for the record and for a server
            /// that starts are in it. `--timeout` stands over it.
            timeout: Deadline,
            /// How arguments are checked. `--arguments` stands over it.
            arguments: OneOf<Mode>,
            /// The time zone in which the days of rules begin. UTC by default.
            time_zone: ZoneName,
            /// Apply the contract packs that are part of the program: contracts for servers that many people run, by package,
            /// version and tool. What this file says of a tool stands over them. `--packs` does the same.
            packs: bool,
            /// Servers by name.
            servers: BTreeMap<String, Placed<RawServer>>,
        }
    }
}

table! {
    /// What holds for one server.
    struct RawServer as "Server" {
        needs {}
        may {
            /// Believe this server's annotations (readOnlyHint, idempotentHint …).
            trust_annotations: bool,
            /// Believe the verdicts that this server puts under `candor/verdict`: it is written with the library `candor`,
            /// or is another Candor.
            trust_verdicts: bool,
            /// How arguments are checked.
            arguments: OneOf<Mode>,
            /// Refuse every argument that the schema does not list, not only one that looks like a slip. A schema that
            /// says itself what becomes of such names is left to it.
            strict_names: bool,
            /// The time zone in which the days of rules begin.
            time_zone: ZoneName,
            /// What a result that breaks its tool's output schema costs.
            output: OneOf<ShapeMode>,
            /// Whether `format` in a schema decides or only describes.
            format: OneOf<Formats>,
            /// How long a call may take, from its opening: waits for a list of tools, for the record and for a server
            /// that starts are in it.
            timeout: Deadline,
            /// When a call of any of its tools may be sent again. A tool's own clause stands over it, here and below.
            retry: RawRetry,
            /// When this server is left alone for a while because it fails.
            breaker: RawBreaker,
            /// How an idempotency key is passed on to this server.
            idempotency_key: RawKeyPlace,
            /// Ask a person before any call: true, or the sentence they are asked.
            confirm: Consent,
            /// What is masked beside what Candor knows by itself.
            redact: RawRedact,
            /// Tools by name.
            tools: BTreeMap<String, Placed<RawTool>>,
        }
    }
}

table! {
    /// What is masked in everything that Candor writes: to the model where it authors or flags, to the log, to the record.
    struct RawRedact as "Redact" {
        needs {}
        may {
            /// Names of members whose values are secret.
            names: Vec<Placed<String>>,
            /// Regular expressions for secrets with a format of their own; finds under 6 characters are left.
            patterns: Vec<Placed<Verbatim>>,
        }
    }
}

table! {
    /// What one tool promises.
    struct RawTool as "Tool" {
        needs {}
        may {
            /// What a call may change.
            effect: OneOf<EffectClass>,
            /// How arguments are checked.
            arguments: OneOf<Mode>,
            /// Refuse every argument that the schema does not list, not only one that looks like a slip. A schema that
            /// says itself what becomes of such names is left to it.
            strict_names: bool,
            /// The time zone in which the days of rules begin.
            time_zone: ZoneName,
            /// What a result that breaks the output schema costs.
            output: OneOf<ShapeMode>,
            /// Whether `format` in the schemas decides or only describes.
            format: OneOf<Formats>,
            /// How long a call may take, from its opening: waits for a list of tools, for the record and for a server
            /// that starts are in it.
            deadline: Deadline,
            /// Offer calls of this slow tool as tasks to clients that take tasks: they get an id at once, and what became of the
            /// call when they ask for it. Needs the record of calls.
            task: bool,
            /// Refusals by which this server says that nothing was done: JSON-RPC error codes, HTTP statuses, and as strings
            /// the codes that `code` of the outcome reads.
            nothing_done_on: Vec<Placed<Code>>,
            /// How results are read.
            outcome: RawOutcome,
            /// How to look again at what a call left behind.
            read_back: RawReadBack,
            /// When a call may be sent again.
            retry: RawRetry,
            /// When the server is left alone for a while because calls of this tool fail.
            breaker: RawBreaker,
            /// How an idempotency key is passed on.
            idempotency_key: RawKeyPlace,
            /// Ask a person before a call: true, or the sentence they are asked. False takes the server's clause away.
            confirm: Consent,
            /// What texts lower a claim, for a tool that has no field to read.
            text: Vec<Placed<RawText>>,
            /// What expressions over a result lower a claim, for a tool that has no field to read.
            lower: Vec<Placed<RawLower>>,
            /// Extra rules on arguments.
            rules: Vec<Placed<RawRule>>,
        }
    }
}

table! {
    /// Which field of a result decides, and what its values mean.
    struct RawOutcome as "Outcome" {
        needs {}
        may {
            /// The field that decides. Needed, unless there are parts or fields that speak of a failure.
            pointer: Tried<Path>,
            /// Where the pointers point: into `structuredContent`, or into the first text block that is a JSON object.
            from: OneOf<Document>,
            /// Values that mean done.
            completed: Vec<Placed<Listed>>,
            /// Values that mean taken on, not done.
            accepted: Vec<Placed<Listed>>,
            /// Values that mean refused, nothing changed.
            rejected: Vec<Placed<Listed>>,
            /// Values that mean tried and failed, perhaps halfway.
            failed: Vec<Placed<Listed>>,
            /// Values that mean done in part.
            partial: Vec<Placed<Listed>>,
            /// The items of a batch, each with a field of its own: the whole is derived from them.
            parts: RawParts,
            /// Fields that hold something only where the call failed; null, false, 0 and what is empty say nothing. They
            /// can only lower what the rest says.
            failed_where: Vec<Placed<Path>>,
            /// The server's error code.
            code: Path,
            /// The server's message.
            message: Path,
            /// Something to follow: a task id, a ticket, a URL.
            reference: Path,
            /// What such a thing is called: "job".
            reference_name: String,
            /// The tool of this server that shows its state.
            state_tool: String,
            /// The argument of that tool which takes the reference.
            state_argument: String,
            /// How long a caller is kept for the end before it is told that the work was taken on: from 100ms to 60s.
            wait: Deadline,
            /// The server's suggestion.
            suggestion: Path,
            /// How many seconds the server asks to wait before a repeat, where it refused or failed.
            retry_after: Path,
        }
    }
}

table! {
    /// Where the items of a batch are, and which field of each decides.
    struct RawParts as "Parts" {
        needs {
            /// A list, or an object whose keys are the names of the items.
            items: Path,
            /// The field of an item that decides; "" where the item is itself the value.
            pointer: Path,
        }
        may {
            /// The field of an item that names it.
            name: Path,
            /// Values that mean done.
            completed: Vec<Placed<Listed>>,
            /// Values that mean taken on, not done.
            accepted: Vec<Placed<Listed>>,
            /// Values that mean refused, nothing changed.
            rejected: Vec<Placed<Listed>>,
            /// Values that mean tried and failed, perhaps halfway.
            failed: Vec<Placed<Listed>>,
            /// Values that mean done in part.
            partial: Vec<Placed<Listed>>,
            /// The field of an item that holds the server's code.
            code: Path,
        }
    }
}

table! {
    /// What a text that begins so lowers the claim to.
    struct RawText as "Text" {
        needs {
            /// A regular expression that begins with ^: it fits the beginning of a text block.
            matches: Verbatim,
            /// What such a text means.
            means: OneOf<Lowered>,
        }
        may {}
    }
}

table! {
    /// What a result of which an expression holds lowers the claim to.
    struct RawLower as "Lower" {
        needs {
            /// A CEL expression over args, result, text, now and today that holds of such a result.
            when: Verbatim,
            /// What such a result means.
            means: OneOf<Lowered>,
        }
        may {}
    }
}

table! {
    /// One rule on arguments.
    struct RawRule as "Rule" {
        needs {
            /// A name for records and messages.
            name: Verbatim,
            /// A CEL expression over args, principal, now and today that is true for good arguments.
            check: Verbatim,
            /// What is wanted, with {{ expressions }}.
            message: Verbatim,
        }
        may {
            /// The argument that the rule is about.
            path: Path,
            /// Whom it holds for: names of callers, with * and ?. Everybody without it.
            principals: Vec<Placed<String>>,
        }
    }
}

table! {
    /// A contract pack.
    struct RawPack as "Pack" {
        needs {
            /// The package whose server it is for: npm:NAME or pypi:NAME.
            package: String,
            /// The versions of it, as bounds: ">=1.2, <2".
            versions: String,
            /// The names that such a server gives itself.
            server: Vec<Placed<String>>,
        }
        may {
            /// Digests of the input schemas that the clauses of a tool were written for, by tool.
            digests: BTreeMap<String, Placed<Vec<Placed<String>>>>,
            /// Tools by name.
            tools: BTreeMap<String, Placed<RawTool>>,
        }
    }
}
