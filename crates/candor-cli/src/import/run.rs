//! Carries `candor import` out, file by file: each is planned whole before it is written, and none stops another.

use std::collections::BTreeSet;
use std::fs;

use anyhow::bail;
use clap::Parser;

use super::args::ImportArgs;
use super::edits::Front;
use super::fault::FileFault;
use super::file::ConfigFile;
use super::hosts::{HOSTS, Place, Surroundings};
use super::outline::{is_wanted, wrapped};
use super::program;
use super::servers::{CONTAINERS_TOLD, Server, Standing, has_container, servers};
use super::shown;
use super::undo::{WayBack, way_back};
use crate::args::Args;
use crate::exit::Exit;
use crate::screen;

/// How many names a fault tells at most.
const NAMES_TOLD: usize = 10;

pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<Exit> {
    check_options(&args.options)?;
    let around = Surroundings::of_process();
    let chosen = args.all || !args.files.is_empty() || !args.host.is_empty();
    let places = places(args, &around)?;
    if places.is_empty() {
        say(&nothing_found(&around))?;
        return Ok(Exit::GOOD);
    }
    let mut import = Import {
        args,
        around: &around,
        only_list: !chosen && !args.dry_run,
        named: BTreeSet::new(),
        known: BTreeSet::new(),
        unclear: false,
        failed: false,
    };
    for place in &places {
        import.file(place)?;
    }
    import.end()
}

/// The files to look at.
fn places(args: &ImportArgs, around: &Surroundings) -> anyhow::Result<Vec<Place>> {
    let mut places: Vec<Place> = args.files.iter().map(|file| around.named(file)).collect();
    for host in &args.host {
        let found = around.found(&[host]);
        if found.is_empty() {
            let looked: Vec<String> = around
                .places(host)
                .iter()
                .map(|place| around.told(&place.path))
                .collect();
            bail!(
                "{} has no config here; looked for {}. If it is elsewhere, name the file: candor import FILE",
                host.title,
                looked.join(" and ")
            );
        }
        places.extend(found);
    }
    if args.files.is_empty() && args.host.is_empty() {
        places = around.found(&[]);
    }
    Ok(places)
}

fn nothing_found(around: &Surroundings) -> String {
    let mut out = "No host's config was found here. Looked for:\n".to_owned();
    for host in HOSTS {
        for place in around.places(host) {
            out.push_str(&format!("  {:<15} {}\n", host.title, around.told(&place.path)));
        }
    }
    out.push_str("If yours is elsewhere, name it: candor import FILE\n");
    out
}

/// Options that Candor would refuse when a host starts it are refused now.
fn check_options(options: &[String]) -> anyhow::Result<()> {
    let words = ["candor"].into_iter().chain(options.iter().map(String::as_str));
    let parsed = match Args::try_parse_from(words.chain(["--", "server"])) {
        Ok(parsed) if parsed.command.is_none() && parsed.wrap.server.len() == 1 => parsed.wrap,
        Ok(_) => {
            bail!("what stands behind `--` must be options of `candor [options] -- CMD`, without a command")
        }
        Err(fault) => bail!("what stands behind `--` are no options of `candor [options] -- CMD`: {fault}"),
    };
    let relative = [&parsed.config, &parsed.place.ledger]
        .into_iter()
        .flatten()
        .find(|path| {
            path.is_relative()
                && options
                    .iter()
                    .any(|option| option.contains(&path.display().to_string()))
        });
    if let Some(path) = relative {
        bail!(
            "give {} by its full path: a host starts its servers in a folder of its own choice",
            path.display()
        );
    }
    Ok(())
}

fn say(text: &str) -> anyhow::Result<()> {
    screen::print(|out| out.write_all(text.as_bytes()))
}

/// One run over several files.
struct Import<'a> {
    args: &'a ImportArgs,
    around: &'a Surroundings,
    only_list: bool,
    /// Servers asked for that were met.
    named: BTreeSet<String>,
    /// All servers that were met.
    known: BTreeSet<String>,
    unclear: bool,
    failed: bool,
}

impl Import<'_> {
    /// Looks at one file and changes it, if it is to be changed.
    fn file(&mut self, place: &Place) -> anyhow::Result<()> {
        let told = self.around.told(&place.path);
        let outcome = ConfigFile::read(&place.path, told).and_then(|file| {
            self.meet(&file);
            if self.only_list {
                Ok(self.listed(place, &file))
            } else if self.args.undo {
                self.undo(place, &file)
            } else {
                self.wrap(place, &file)
            }
        });
        match outcome {
            Ok(text) => say(&text),
            Err(fault) => {
                self.failed = true;
                screen::note(&format!("error: {fault}"));
                Ok(())
            }
        }
    }

    fn meet(&mut self, file: &ConfigFile) {
        for server in servers(&file.document, self.args.candor.as_deref()) {
            if self.args.server.contains(&server.name) {
                self.named.insert(server.name.clone());
            }
            self.known.insert(server.name);
        }
    }

    fn front(&self, place: &Place) -> Front {
        let program = self.args.candor.clone();
        Front {
            program: program.unwrap_or_else(|| program::for_hosts(place.shared)),
            options: self.args.options.clone(),
        }
    }

    fn listed(&mut self, place: &Place, file: &ConfigFile) -> String {
        let mut out = heading(place, file);
        let all = servers(&file.document, self.args.candor.as_deref());
        let wanted: Vec<_> = all
            .iter()
            .filter(|server| is_wanted(server, &self.args.server))
            .collect();
        for server in &wanted {
            let note = match &server.standing {
                Standing::Bare(launch) => {
                    format!(
                        "would be wrapped: {}",
                        shown::command(launch.program, &launch.args)
                    )
                }
                Standing::Wrapped(wrapped) => {
                    format!(
                        "is wrapped: {}",
                        shown::command(wrapped.program(), wrapped.args())
                    )
                }
                _ => self.left(server).unwrap_or_default(),
            };
            out.push_str(&row(server, &note));
        }
        if wanted.is_empty() {
            out.push_str(&without_servers(file));
        }
        out
    }

    fn wrap(&mut self, place: &Place, file: &ConfigFile) -> Result<String, FileFault> {
        let front = self.front(place);
        let outline = wrapped(file, &front, &self.args.server)?;
        let mut rows = String::new();
        let all = servers(&file.document, Some(&front.program));
        for (index, server) in all.iter().enumerate() {
            if !is_wanted(server, &self.args.server) {
                continue;
            }
            let note = match &server.standing {
                Standing::Bare(_) if self.args.dry_run => continue,
                Standing::Bare(launch) if outline.changed.contains(&index) => {
                    format!("wrapped: {}", shown::command(launch.program, &launch.args))
                }
                Standing::Bare(_) => continue,
                Standing::Wrapped(_) => "is wrapped already".to_owned(),
                _ => self.left(server).unwrap_or_default(),
            };
            rows.push_str(&row(server, &note));
        }
        if all.is_empty() {
            rows.push_str(&without_servers(file));
        }
        if self.args.dry_run {
            for line in rows.lines() {
                screen::note(&format!("{}:{line}", file.told));
            }
            return Ok(shown::diff(&file.told, &file.document, &outline.new));
        }
        let mut out = heading(place, file);
        out.push_str(&rows);
        if outline.changed.is_empty() {
            out.push_str("  Nothing to change.\n");
            return Ok(out);
        }
        let backup = file.change(&outline.new.text)?;
        out.push_str(&format!(
            "  Backup: {}\n{}",
            self.around.told(&backup),
            restart(place)
        ));
        Ok(out)
    }

    fn undo(&self, place: &Place, file: &ConfigFile) -> Result<String, FileFault> {
        let back = way_back(file, &self.args.server, self.args.candor.as_deref())?;
        let (new, what) = match &back {
            WayBack::Nothing => {
                return Ok(format!(
                    "{}  Nothing to undo: no server here starts `candor` (if yours has another name, say --candor PATH).\n",
                    heading(place, file)
                ));
            }
            WayBack::Restored { new, .. } => (new, "as it was before the import, byte for byte".to_owned()),
            WayBack::Unwrapped { new, names } if self.args.server.is_empty() => (
                new,
                format!(
                    "`candor --` taken out of {}; all else stays, since the file was changed after the import",
                    listed(names)
                ),
            ),
            WayBack::Unwrapped { new, names } => (new, format!("`candor --` taken out of {}", listed(names))),
        };
        if self.args.dry_run {
            screen::note(&format!("{}: would be {what}", file.told));
            return Ok(shown::diff(&file.told, &file.document, new));
        }
        file.put(&new.text)?;
        let mut out = format!("{}  Undone: {what}.\n", heading(place, file));
        match &back {
            WayBack::Restored { used, .. } => {
                for backup in used {
                    // It says what the file says now.
                    let _ = fs::remove_file(&backup.path);
                }
            }
            _ => {
                for backup in file.backups().iter().take(1) {
                    out.push_str(&format!(
                        "  The backup stays: {}\n",
                        self.around.told(&backup.path)
                    ));
                }
            }
        }
        out.push_str(&restart(place));
        Ok(out)
    }

    /// Why a server is left as it is.
    fn left(&mut self, server: &Server<'_>) -> Option<String> {
        match &server.standing {
            Standing::Remote { url } => {
                let url = url.map(shown::text).unwrap_or_default();
                Some(format!("not wrapped yet: HTTP {url}").trim_end().to_owned())
            }
            Standing::Managed => Some("left: it has no command; the host starts it by itself".to_owned()),
            Standing::Unclear(why) => {
                self.unclear = true;
                Some(format!("left, not understood: {why}"))
            }
            Standing::Bare(_) | Standing::Wrapped(_) => None,
        }
    }

    fn end(self) -> anyhow::Result<Exit> {
        if let Some(name) = self.args.server.iter().find(|name| !self.named.contains(*name)) {
            let known: Vec<String> = self.known.into_iter().take(NAMES_TOLD).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                listed(&known)
            };
            screen::note(&format!(
                "error: no server is called `{name}` in what was read; there is: {known}"
            ));
            return Ok(Exit::USAGE);
        }
        if self.only_list {
            say(
                "\nNothing was changed. `candor import --dry-run` shows the changes; `--host NAME`, a FILE or `--all` says \
                 which to make.\n",
            )?;
        }
        Ok(match (self.failed, self.unclear && !self.only_list) {
            (true, _) => Exit::USAGE,
            (false, true) => Exit::FINDINGS,
            (false, false) => Exit::GOOD,
        })
    }
}

fn heading(place: &Place, file: &ConfigFile) -> String {
    let title = place
        .host
        .map_or(String::new(), |host| format!("{}: ", host.title));
    format!("{title}{}\n", screen::line(&file.told))
}

fn row(server: &Server<'_>, note: &str) -> String {
    let off = if server.off { " (switched off)" } else { "" };
    format!("  {}{off}  {note}\n", screen::line(&server.name))
}

fn without_servers(file: &ConfigFile) -> String {
    if has_container(&file.document) {
        "  It names no servers.\n".to_owned()
    } else {
        format!("  It has no place for servers; looked for {CONTAINERS_TOLD}.\n")
    }
}

fn restart(place: &Place) -> String {
    let host = place.host.map_or("the host", |host| host.title);
    format!("  Start {host} anew: it reads this file when it starts.\n")
}

fn listed(names: &[String]) -> String {
    screen::line(&names.join(", "))
}
