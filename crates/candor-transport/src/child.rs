//! Starting a child process with its pipes, and saying why it could not be started.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{ChildStdout, Command};

use crate::frame::DEFAULT_FRAME_LIMIT;
use crate::process::ChildProcess;
use crate::reader::FrameReader;
use crate::sink::FrameSink;

/// ENOEXEC, the same on Linux and macOS; there is no `ErrorKind` for it.
const EXEC_FORMAT: i32 = 8;

/// What a child's stdout holds before the child has to wait, in bytes: the most that Linux gives a plain user.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1024 * 1024;

/// What to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildCommand {
    /// A path, or a name to look for in `PATH`.
    pub program: OsString,
    /// Its arguments, as they are: no shell reads them.
    pub args: Vec<OsString>,
    /// Variables added to our own environment, or put in place of ours.
    pub env: Vec<(OsString, OsString)>,
    /// Where to start it; `None`: where we are.
    pub cwd: Option<PathBuf>,
}

/// The bounds of a child's pipes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest line it may write; see [`FrameReader::new`].
    pub frame: usize,
    /// How much may be queued for it before callers are held back; see [`FrameSink::spawn`].
    pub high_water: usize,
}

impl Default for Limits {
    /// [`DEFAULT_FRAME_LIMIT`] and 1 MiB.
    fn default() -> Self {
        Self {
            frame: DEFAULT_FRAME_LIMIT,
            high_water: 1024 * 1024,
        }
    }
}

/// Why a child could not be started. The texts say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnFault {
    /// There is no such program.
    #[error(
        "cannot start `{}`: no such program{}", program.display(),
        advice_on_missing(program)
    )]
    NotFound {
        /// As it was asked for.
        program: OsString,
    },
    /// The file is there, but the interpreter named in its first line is not.
    #[error(
        "cannot start `{}`: the file is there, but what it needs to run is not; install the interpreter named in \
         its first line (`#!...`), or for a binary the loader it was built for", program.display()
    )]
    NoInterpreter {
        /// As it was asked for.
        program: OsString,
    },
    /// The file may not or can not be executed.
    #[error(
        "cannot start `{}`: it is not an executable file ({source}); make it executable with chmod +x, or start it \
         through its interpreter, such as `node {0}` or `python {0}`", program.display()
    )]
    NotExecutable {
        /// As it was asked for.
        program: OsString,
        /// What the operating system said.
        source: io::Error,
    },
    /// The directory to start it in is not there, or is no directory.
    #[error("cannot start `{}` in {}: no such directory; create it or correct `cwd`", program.display(), cwd.display())]
    NoDirectory {
        /// As it was asked for.
        program: OsString,
        /// The directory asked for.
        cwd: PathBuf,
    },
    /// Anything else, such as too many processes or an argument list that is too long.
    #[error("cannot start `{}`: {source}", program.display())]
    Other {
        /// As it was asked for.
        program: OsString,
        /// What the operating system said.
        source: io::Error,
    },
}

/// A started child with its two pipes. Its stderr is ours, untouched.
///
/// Take it apart to use the parts at the same time: read `output` all the while, since a child that blocks on a
/// full pipe stops reading its input.
#[derive(Debug)]
pub struct Child {
    /// What it writes to its stdout.
    pub output: FrameReader<ChildStdout>,
    /// What it reads from its stdin.
    pub input: FrameSink,
    /// The process itself.
    pub process: ChildProcess,
}

/// Starts a child as the leader of a process group of its own, so that a ^C at the terminal reaches only us and
/// its descendants end with it.
///
/// Must be called within a Tokio runtime that has I/O and time enabled.
///
/// # Errors
///
/// [`SpawnFault`], if no process was started.
pub fn spawn(command: &ChildCommand, limits: Limits) -> Result<Child, SpawnFault> {
    let mut prepared = Command::new(&command.program);
    prepared
        .args(&command.args)
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .process_group(0);
    if let Some(cwd) = &command.cwd {
        prepared.current_dir(cwd);
    }
    let mut child = prepared.spawn().map_err(|error| fault(command, error))?;
    if let Some(stdout) = &child.stdout {
        widen(stdout);
    }
    match (child.stdin.take(), child.stdout.take()) {
        (Some(stdin), Some(stdout)) => Ok(Child {
            output: FrameReader::new(stdout, limits.frame),
            input: FrameSink::spawn(stdin, limits.high_water),
            process: ChildProcess::new(child),
        }),
        _ => Err(SpawnFault::Other {
            program: command.program.clone(),
            source: io::Error::other("its pipes are missing"),
        }),
    }
}

fn fault(command: &ChildCommand, source: io::Error) -> SpawnFault {
    let program = command.program.clone();
    if let Some(cwd) = &command.cwd
        && !cwd.is_dir()
    {
        return SpawnFault::NoDirectory {
            program,
            cwd: cwd.clone(),
        };
    }
    match source.kind() {
        io::ErrorKind::NotFound if is_there(command) => SpawnFault::NoInterpreter { program },
        io::ErrorKind::NotFound => SpawnFault::NotFound { program },
        io::ErrorKind::PermissionDenied => SpawnFault::NotExecutable { program, source },
        _ if source.raw_os_error() == Some(EXEC_FORMAT) => SpawnFault::NotExecutable { program, source },
        _ => SpawnFault::Other { program, source },
    }
}

/// Whether the file exists that the operating system says it did not find. Only asked after a failure, so a file
/// that comes or goes meanwhile costs no more than a less fitting text.
fn is_there(command: &ChildCommand) -> bool {
    let program = Path::new(&command.program);
    if program.components().count() > 1 || program.is_absolute() {
        return command
            .cwd
            .as_deref()
            .unwrap_or(Path::new(""))
            .join(program)
            .is_file();
    }
    let own = std::env::var_os("PATH");
    let given = command
        .env
        .iter()
        .rev()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value);
    let Some(path) = given.or(own.as_ref()) else {
        return false;
    };
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

/// Lets a pipe hold a long answer, so that its writer does not wait for us piece by piece. Where that can't be had
/// (another system, the user's share of pipes used up) the pipe stays as it is.
fn widen(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_SIZE) {
        tracing::debug!(%error, "a child's pipe keeps its size");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

fn advice_on_missing(program: &OsString) -> &'static str {
    let name = program.to_string_lossy();
    if name.is_empty() {
        "; give the command of the server after `--`"
    } else if name.contains(char::is_whitespace) {
        "; the name holds a space: write the program and each of its arguments as separate words"
    } else if name.contains('/') {
        " at this path; check the path"
    } else {
        " in PATH; check its spelling, install it, or give its full path"
    }
}

#[cfg(test)]
mod tests;
