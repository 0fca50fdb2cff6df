//! The order of the whole: scenes, ledger, what to type next.

use std::io::{self, ErrorKind, Write, stdout};
use std::path::Path;
use std::process::Command;

use super::fault::DemoFault;
use super::folder::Folder;
use super::layout::{Line, heading};
use super::play::{Side, Stage};
use super::scene::{CONTRACT, SCENES, Scene};
use super::seen::VerdictSeen;
use super::{next, page};
use crate::args::DemoArgs;
use crate::diagnostics;
use crate::exit::Exit;
use crate::screen::Screen;

/// How wide the page is where nothing is known of the reader's place.
const USUAL_WIDTH: usize = 80;
/// Below this nothing can be laid out.
const LEAST_WIDTH: usize = 40;
/// Above this a line is no longer read with ease.
const MOST_WIDTH: usize = 120;

/// Plays the demo.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<Exit> {
    match perform(args) {
        Ok(()) => Ok(Exit::GOOD),
        // Whoever reads us has seen enough.
        Err(DemoFault::Output { source }) if source.kind() == ErrorKind::BrokenPipe => Ok(Exit::GOOD),
        Err(fault @ DemoFault::Stage { .. }) => {
            diagnostics::print_fault(&fault.into());
            Ok(Exit::UNREACHABLE)
        }
        Err(fault) => Err(fault.into()),
    }
}

fn perform(args: &DemoArgs) -> Result<(), DemoFault> {
    let scenes = chosen(&args.only)?;
    let program = std::env::current_exe().map_err(|source| DemoFault::OwnProgram { source })?;
    let folder = Folder::open(args.keep.as_deref())?;
    let stage = Stage {
        program,
        folder,
        contract: !args.no_contract,
    };
    let screen = Screen::of_stdout();
    let shown = show(
        &stage,
        &scenes,
        Paper {
            width: width(screen),
            colour: screen.colour,
        },
    );
    if shown.is_err() {
        stage.folder.remove_if_fresh();
    }
    shown
}

/// What the page is written on.
#[derive(Debug, Clone, Copy)]
struct Paper {
    /// In columns.
    width: usize,
    /// May colours be used?
    colour: bool,
}

/// The terminal's width, else what COLUMNS says, else the usual.
fn width(screen: Screen) -> usize {
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    screen
        .width
        .or_else(said)
        .unwrap_or(USUAL_WIDTH)
        .clamp(LEAST_WIDTH, MOST_WIDTH)
}

fn show(stage: &Stage, scenes: &[&Scene], paper: Paper) -> Result<(), DemoFault> {
    if stage.contract {
        stage.folder.write_contract(CONTRACT)?;
    }
    let mut verdicts: Vec<VerdictSeen> = Vec::new();
    print(&page::opening(stage.contract, paper.width), paper)?;
    for (at, scene) in scenes.iter().enumerate() {
        print(&page::announced(at + 1, scene, paper.width), paper)?;
        let bare = stage.play(scene, Side::Bare)?;
        let through = stage.play(scene, Side::Through)?;
        print(
            &page::played(scene, stage.contract, &bare, &through, paper.width),
            paper,
        )?;
        verdicts.extend(through.seen.verdict().cloned());
    }
    print(
        &[heading("The ledger: what Candor wrote down", paper.width)],
        paper,
    )?;
    list_calls(&stage.program, &stage.folder.ledger())?;
    print(&[Line::default()], paper)?;
    print(&next::section(stage, &verdicts, paper.width), paper)
}

/// The scenes of the servers that were asked for, or all.
fn chosen(only: &[String]) -> Result<Vec<&'static Scene>, DemoFault> {
    let mut known: Vec<&str> = SCENES.iter().map(|scene| scene.server).collect();
    known.dedup();
    if let Some(asked) = only.iter().find(|asked| !known.contains(&asked.as_str())) {
        return Err(DemoFault::UnknownScene {
            asked: asked.clone(),
            known: known.join(", "),
        });
    }
    let wanted = |scene: &&Scene| only.is_empty() || only.iter().any(|asked| asked == scene.server);
    Ok(SCENES.iter().filter(wanted).collect())
}

fn print(lines: &[Line], paper: Paper) -> Result<(), DemoFault> {
    let write = || -> io::Result<()> {
        let mut out = stdout().lock();
        for line in lines {
            writeln!(out, "{}", line.render(paper.colour))?;
        }
        out.flush()
    };
    write().map_err(|source| DemoFault::Output { source })
}

/// `candor calls`, as the user would type it, on our own stdout.
fn list_calls(program: &Path, ledger: &Path) -> Result<(), DemoFault> {
    let ended = Command::new(program)
        .args(["calls", "--ledger"])
        .arg(ledger)
        .status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(DemoFault::Calls {
            how: status.to_string(),
        }),
        Err(fault) => Err(DemoFault::Calls {
            how: fault.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_chosen_by_their_server_and_a_wrong_name_is_answered_with_all() {
        let titles = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            chosen(&only)
                .map(|scenes| scenes.len())
                .map_err(|fault| fault.to_string())
        };
        assert_eq!(titles(&[]), Ok(SCENES.len()));
        assert_eq!(titles(&["flights", "rooms"]), Ok(3));
        let fault = titles(&["romms"]).unwrap_err();
        assert!(
            fault.contains("\"romms\"") && fault.contains("rooms, flights, reports"),
            "{fault}"
        );
    }
}
