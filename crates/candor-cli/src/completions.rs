//! `candor completions SHELL`: what a shell needs to complete Candor's commands.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Args;
use crate::exit::Exit;
use crate::screen;

/// `candor completions`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  candor completions bash > ~/.local/share/bash-completion/completions/candor
  candor completions zsh > ~/.zfunc/_candor          with ~/.zfunc in fpath
  candor completions fish > ~/.config/fish/completions/candor.fish")]
pub(crate) struct CompletionsArgs {
    /// For which shell.
    pub(crate) shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    generate(args.shell, &mut Args::command(), "candor", &mut script);
    screen::print(|out| out.write_all(&script))?;
    Ok(Exit::GOOD)
}
