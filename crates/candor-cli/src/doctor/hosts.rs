//! The configs of hosts: what they start, whether it is there, and whether Candor stands before it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::config;
use super::finding::{Finding, Part};
use super::probe::Target;
use crate::args::{Args, WrapArgs};
use crate::import::hosts::{Place, Surroundings};
use crate::import::program;
use crate::import::servers::{
    CONTAINERS_TOLD, Launch, Server, Standing, Unclear, Wrapped, has_container, servers,
};
use crate::import::{ConfigFile, FileFault, shown};

/// What the configs say.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What was found.
    pub(super) findings: Vec<Finding>,
    /// The wrapped servers, as they can be started.
    pub(super) targets: Vec<Target>,
    /// Records of calls that wrapped servers name themselves.
    pub(super) ledgers: Vec<PathBuf>,
}

/// Looks at every config that is there, and at those named.
pub(super) fn look(around: &Surroundings, named: &[PathBuf]) -> Seen {
    let mut places = around.found(&[]);
    for path in named {
        let place = around.named(path);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut seen = Seen::default();
    if places.is_empty() {
        let none = Part::Hosts.note(
            "no_config",
            "hosts",
            "no host's config was found in the usual places",
        );
        seen.findings
            .push(none.todo("if yours is elsewhere, name it: candor doctor FILE"));
    }
    for place in &places {
        seen.file(around, place);
    }
    seen
}

impl Seen {
    fn file(&mut self, around: &Surroundings, place: &Place) {
        let told = around.told(&place.path);
        let title = place
            .host
            .map_or_else(|| told.clone(), |host| format!("{} {told}", host.title));
        let file = match ConfigFile::read(&place.path, told) {
            Ok(file) => file,
            Err(fault) => return self.findings.push(unusable(&title, &fault)),
        };
        let all = servers(&file.document, None);
        if all.is_empty() {
            let what = if has_container(&file.document) {
                "names no servers".to_owned()
            } else {
                format!("has no place for servers (looked for {CONTAINERS_TOLD})")
            };
            self.findings
                .push(Part::Hosts.note("no_servers", title.as_str(), what));
        }
        for server in &all {
            let spot = Spot {
                place: format!("{title}: {}", server.name),
                import: match place.host {
                    Some(host) => format!("candor import --host {} --server {}", host.word, server.name),
                    None => format!("candor import {} --server {}", place.path.display(), server.name),
                },
                folder: place.path.parent().map(Path::to_owned).unwrap_or_default(),
            };
            self.server(around, &spot, server);
        }
    }

    fn server(&mut self, around: &Surroundings, spot: &Spot, server: &Server<'_>) {
        let place = spot.place.as_str();
        if server.off {
            self.findings
                .push(Part::Hosts.note("switched_off", place, "switched off in the config"));
            return;
        }
        match &server.standing {
            Standing::Bare(launch) => {
                let what = format!(
                    "would be wrapped: {}",
                    shown::command(launch.program, &launch.args)
                );
                let bare = Part::Hosts.note("not_wrapped", place, what);
                self.findings
                    .push(bare.todo(format!("{} (with --dry-run first)", spot.import)));
                self.findings
                    .extend(missing(spot, launch, launch.program, "command_not_found"));
            }
            Standing::Wrapped(wrapped) => self.wrapped(around, spot, server, wrapped),
            Standing::Remote { url } => {
                let what = format!(
                    "not wrapped yet: HTTP {}",
                    url.map(shown::text).unwrap_or_default()
                );
                self.findings
                    .push(Part::Hosts.note("http", place, what.trim_end()));
            }
            Standing::Managed => {
                let what = "has no command; the host starts it by itself, so it can't be wrapped here";
                self.findings.push(Part::Hosts.note("managed", place, what));
            }
            Standing::Unclear(why @ Unclear::CandorAlone) => {
                self.findings
                    .push(Part::Hosts.note("candor_alone", place, why.to_string()));
            }
            Standing::Unclear(why) => self.findings.push(Part::Hosts.problem(
                "not_understood",
                place,
                format!("not understood: {why}"),
                "correct its entry; it needs a command and a list of args",
            )),
        }
    }

    fn wrapped(&mut self, around: &Surroundings, spot: &Spot, server: &Server<'_>, wrapped: &Wrapped<'_>) {
        let launch = &wrapped.launch;
        let place = spot.place.as_str();
        let own = shown::command(wrapped.program(), wrapped.args());
        self.findings
            .push(Part::Hosts.good("wrapped", place, format!("wrapped: {own}")));
        self.findings
            .extend(missing(spot, launch, launch.program, "candor_not_found"));
        let absent = missing(spot, launch, wrapped.program(), "command_not_found");
        match options(wrapped) {
            Err(fault) => self.findings.push(Part::Hosts.problem(
                "options_refused",
                place,
                format!("its options for Candor are refused: {fault}"),
                "correct what stands before `--` in its args; candor --help lists the options",
            )),
            Ok(options) => {
                if let Some(path) = given(wrapped, options.config, "CANDOR_CONFIG") {
                    let (_, found) = config::look(&path, &around.told(&path), &launch.env);
                    self.findings.extend(found);
                }
                self.ledgers
                    .extend(given(wrapped, options.place.ledger, "CANDOR_LEDGER"));
            }
        }
        if absent.is_none() {
            self.targets.push(Target {
                place: spot.place.clone(),
                name: server.name.clone(),
                program: wrapped.program().to_owned(),
                args: wrapped.args().iter().map(|word| (*word).to_owned()).collect(),
                env: launch
                    .env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                cwd: launch.cwd.map(PathBuf::from),
            });
        }
        self.findings.extend(absent);
    }
}

/// Where a server stands, and how to speak of it.
struct Spot {
    /// The file and the server.
    place: String,
    /// The command that wraps it.
    import: String,
    /// The file's folder.
    folder: PathBuf,
}

fn unusable(title: &str, fault: &FileFault) -> Finding {
    match fault {
        FileFault::Yaml { .. } => Part::Hosts.note("yaml", title, fault.to_string()),
        _ => Part::Hosts.problem(
            "config_unusable",
            title,
            fault.to_string(),
            "mend the file; its host can hardly read it either",
        ),
    }
}

/// The options that a wrapped server's Candor gets, as Candor will read them.
fn options(wrapped: &Wrapped<'_>) -> Result<WrapArgs, String> {
    let words = ["candor"].into_iter().chain(wrapped.options().iter().copied());
    match Args::try_parse_from(words.chain(["--", wrapped.program()])) {
        Ok(parsed) if parsed.command.is_none() => Ok(parsed.wrap),
        Ok(_) => Err("a command stands where options are expected".to_owned()),
        Err(fault) => {
            let text = fault.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(shown::text(first.trim_start_matches("error: ")))
        }
    }
}

/// A file that a wrapped server's Candor gets: by an option, else by a variable of its entry. What the parser took
/// from the environment of this process is not the host's.
fn given(wrapped: &Wrapped<'_>, parsed: Option<PathBuf>, variable: &str) -> Option<PathBuf> {
    let is_typed = |path: &PathBuf| {
        let path = path.to_string_lossy();
        wrapped.options().iter().any(|word| word.ends_with(&*path))
    };
    let set = wrapped.launch.env.iter().find(|(name, _)| *name == variable);
    parsed
        .filter(is_typed)
        .or_else(|| set.map(|(_, value)| PathBuf::from(value)))
}

/// A program that is not found, told with what to do. One that depends on what only its host knows is not looked for.
fn missing(spot: &Spot, launch: &Launch<'_>, program: &str, code: &'static str) -> Option<Finding> {
    if program.contains("${") {
        return None;
    }
    let told = shown::command(program, &[]);
    if program.starts_with("~/") {
        let what = format!("{told} begins with ~, which only a shell understands");
        return Some(Part::Hosts.problem(code, spot.place.as_str(), what, "write the full path"));
    }
    let own_path = launch
        .env
        .iter()
        .find(|(name, _)| *name == "PATH")
        .map(|(_, value)| OsString::from(value));
    let path = own_path.clone().or_else(|| env::var_os("PATH"));
    let is_relative = program.contains('/') && !program.starts_with('/');
    let found = if is_relative {
        // Hosts start servers where `cwd` says, else where they please: for a project most often its folder.
        let mut folders: Vec<PathBuf> = launch.cwd.map(PathBuf::from).into_iter().collect();
        folders.extend(env::current_dir());
        folders.push(spot.folder.clone());
        folders
            .iter()
            .find_map(|folder| program::find(&folder.join(program).display().to_string(), None))
    } else {
        program::find(program, path.as_deref())
    };
    if found.is_some() {
        return None;
    }
    let (what, todo) = match (program.contains('/'), own_path.is_some()) {
        (true, _) => (
            format!("{told} is no executable file"),
            "correct the path, or install it there",
        ),
        (false, true) => (
            format!("{told} is not in the PATH that its env sets"),
            "install it, or write its full path",
        ),
        (false, false) => (
            format!("{told} is not in PATH"),
            "install it, or write its full path",
        ),
    };
    Some(Part::Hosts.problem(code, spot.place.as_str(), what, todo))
}
