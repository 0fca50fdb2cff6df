//! `candor man`: the manual pages, made from what the commands say of themselves.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Command, CommandFactory};
use clap_mangen::{Man, generate_to};

use crate::args::Args;
use crate::exit::Exit;
use crate::screen;

/// `candor man`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor man | man -l -              read the page of `candor`
  candor man ledger verify           the page of one command
  candor man --dir share/man/man1    write all pages, for a package")]
pub(crate) struct ManArgs {
    /// The command whose page is wanted.
    pub(crate) command: Vec<String>,
    /// Write all pages into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut root = Args::command();
    root.build();
    if let Some(folder) = &args.dir {
        let told = || format!("the pages can't be written to {}", folder.display());
        fs::create_dir_all(folder).with_context(told)?;
        generate_to(root, folder).with_context(told)?;
        return Ok(Exit::GOOD);
    }
    let page = page(root, &args.command)?;
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    screen::print(|out| out.write_all(&text))?;
    Ok(Exit::GOOD)
}

/// The command of these words, named as its page is.
fn page(mut command: Command, words: &[String]) -> anyhow::Result<Command> {
    for word in words {
        let Some(next) = command.find_subcommand(word) else {
            let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
            let known: Vec<&str> = commands.map(Command::get_name).collect();
            bail!("there is no command `{word}` here, but: {}", known.join(", "));
        };
        command = next.clone();
    }
    Ok(command)
}
