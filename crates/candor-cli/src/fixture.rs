//! `candor fixture`: a lying server on our own stdin and stdout.

use crate::args::FixtureArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &FixtureArgs) -> anyhow::Result<Exit> {
    Ok(Exit::of_server(candor_fixtures::run(&args.name, &args.rest)?))
}
