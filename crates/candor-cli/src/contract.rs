//! `candor contract`: drafts contracts from what a server lists, and tries them on recorded calls.

pub(crate) mod args;
mod draft;
mod from_ledger;
mod listed;
mod nouns;
mod recorded;
mod replay;
mod signs;
mod test;

#[cfg(test)]
mod packs_tests;

use crate::contract::args::{ContractArgs, ContractCommand};
use crate::exit::Exit;

pub(crate) fn run(args: &ContractArgs) -> anyhow::Result<Exit> {
    match &args.command {
        ContractCommand::Draft(args) => draft::run(args),
        ContractCommand::Test(args) => test::run(args),
    }
}
