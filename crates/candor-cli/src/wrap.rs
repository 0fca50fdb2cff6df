//! `candor [options] -- CMD…`: wrap one server.

use std::env;
use std::time::Duration;

use anyhow::bail;
use candor_gateway::config::{CommandLine, Config, Glob, Pack};
use candor_gateway::packs::{Origin, Packs, built_in};
use candor_gateway::recorder::{Recorder, recover, yields};
use candor_gateway::session::{Options, RunFault, run as run_session};
use candor_ledger::{Ledger, OpenNote, OpenOptions};
use candor_transport::ChildCommand;

use crate::args::WrapArgs;
use crate::exit::Exit;
use crate::{diagnostics, logging, masked, place};

pub(crate) fn run(args: &WrapArgs) -> anyhow::Result<Exit> {
    let Some((program, rest)) = args.server.split_first() else {
        bail!("no server to wrap; give its command after two dashes: candor -- npx some-server");
    };
    let config = match &args.config {
        Some(path) => Config::load(path, &|name| env::var(name).ok())?,
        None => Config::default(),
    };
    // Dropped last: what is queued is written for a second at most.
    let secrets = masked::secrets(&args.server, args.name.as_deref())
        .with_extra(config.redactions(args.name.as_deref()));
    let level = config.log_level.as_ref().map(|level| level.value);
    let _guard = logging::start(&args.log, level, secrets.clone());
    let recorder = recorder(args, &config)?;
    let options = Options {
        command: ChildCommand {
            program: program.clone(),
            args: rest.to_vec(),
            ..ChildCommand::default()
        },
        name: args.name.clone(),
        command_line: CommandLine {
            read_globs: args.read.iter().flat_map(|globs| Glob::list(globs)).collect(),
            trust_annotations: args.trust_annotations,
            timeout: args.timeout,
            arguments: args.arguments,
            principal: args.principal.clone().filter(|name| !name.is_empty()),
        },
        confirm_within: args.confirm_within,
        own_tools: args.own_tools || config.own_tools.as_ref().is_some_and(|own| own.value),
        ledger_required: args.ledger_required
            || config
                .ledger_required
                .as_ref()
                .is_some_and(|required| required.value),
        packs: packs(args, &config)?,
        recorder,
        secrets,
        config,
        tool_timeout: tool_timeout(),
        restart: !args.no_restart,
        frame_limit: args.frame_limit,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(run_session(options));
    // A read of a terminal or a file can't be called back: it must not hold the end up.
    runtime.shutdown_background();
    match ended {
        Ok(exit) => Ok(Exit::of_server(exit.shell_code())),
        Err(fault @ RunFault::Spawn(_)) => {
            diagnostics::print_fault(&fault.into());
            Ok(Exit::UNREACHABLE)
        }
        Err(fault) => Err(fault.into()),
    }
}

/// The contract packs that may be applied: those of the command line, then those that are part of the program.
fn packs(args: &WrapArgs, config: &Config) -> anyhow::Result<Packs> {
    let mut known = args
        .pack
        .iter()
        .map(|path| Pack::load(path))
        .collect::<Result<Vec<_>, _>>()?;
    if args.packs || config.packs.as_ref().is_some_and(|packs| packs.value) {
        match built_in() {
            Ok(packs) => known.extend(packs),
            Err(faults) => bail!("a built-in contract pack can't be read: {faults:?}"),
        }
    }
    let origin = if known.is_empty() {
        None
    } else {
        Origin::of_command(&args.server)
    };
    Ok(Packs::new(known, origin))
}

/// Opens the ledger, and settles what an earlier instance left open. A ledger that can't be opened does not keep the
/// server from starting: calls then say that they are not recorded, and known writes are refused.
fn recorder(args: &WrapArgs, config: &Config) -> anyhow::Result<Recorder> {
    if args.no_ledger {
        return Ok(Recorder::Off);
    }
    let place = match (&args.place.ledger, &config.ledger) {
        (None, Some(configured)) => configured.value.clone().into(),
        _ => match place::ledger(&args.place) {
            Ok(place) => place,
            Err(fault) => {
                tracing::error!(%fault, "calls are not recorded");
                return Ok(Recorder::Unavailable(
                    "there is no place for the ledger".to_owned(),
                ));
            }
        },
    };
    let options = OpenOptions {
        yields: Some(yields),
        ..OpenOptions::default()
    };
    match Ledger::open(&place, options) {
        Ok(opened) => {
            for note in &opened.notes {
                if let OpenNote::NewerFormat { left, opened, .. } = note {
                    tracing::warn!(
                        left = %left.display(), opened = %opened.display(),
                        "the ledger belongs to a newer Candor; it was left alone, and calls are recorded in another file"
                    );
                }
            }
            match recover(&opened.ledger) {
                Ok(recovered) if recovered.count > 0 => tracing::warn!(
                    count = recovered.count,
                    "calls that an earlier run left open are called unknown now; see: candor calls --unsettled"
                ),
                Ok(_) => {}
                Err(fault) => tracing::warn!(%fault, "what an earlier run left open could not be settled"),
            }
            Ok(Recorder::Ledger(opened.ledger))
        }
        Err(fault) => Ok(Recorder::not_opened(&fault)),
    }
}

/// `MCP_TOOL_TIMEOUT` in milliseconds, as hosts that read it pass it on to their servers.
fn tool_timeout() -> Option<Duration> {
    let text = env::var("MCP_TOOL_TIMEOUT").ok()?;
    text.trim().parse().ok().map(Duration::from_millis)
}
