//! The command line of Candor: parses, prints, exits. What a call means is decided elsewhere.

mod args;
mod calls;
mod completions;
mod contract;
mod demo;
mod diagnostics;
mod doctor;
mod exit;
mod explain;
mod fixture;
mod import;
mod ledger;
mod logging;
mod man;
mod masked;
mod meanings;
mod place;
mod record;
mod report;
mod screen;
mod settle;
mod show;
mod table;
mod times;
mod wrap;
#[cfg(test)]
mod written;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command, WrapAlone};
use crate::exit::Exit;

fn main() -> ExitCode {
    // Hosts wait for a wrapped server to start: for that the other commands are not even built. Whatever is not that, also a
    // fault, is for the whole.
    let args = match WrapAlone::try_parse() {
        Ok(WrapAlone { wrap }) if !wrap.server.is_empty() => Args { command: None, wrap },
        _ => Args::parse(),
    };
    let ended = match args.command {
        None => wrap::run(&args.wrap),
        Some(Command::Calls(args)) => calls::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Settle(args)) => settle::run(&args),
        Some(Command::Ledger(args)) => ledger::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Demo(args)) => demo::run(&args),
        Some(Command::Contract(args)) => contract::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Fixture(args)) => fixture::run(&args),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(fault) => {
            diagnostics::print_fault(&fault);
            Exit::USAGE.into()
        }
    }
}
