//! Our own pipes as real hosts give them, tried in a process whose stdin and stdout they are.
//!
//! This program is its own subject: started again with `ROLE` set it echoes every frame it reads.

#![expect(
    clippy::print_stderr,
    reason = "it is its own test harness, and names what it tries"
)]

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

use candor_transport::{DEFAULT_FRAME_LIMIT, Frame, own_pipes};
use rustix::fs::{OFlags, fcntl_getfl};

const ROLE: &str = "CANDOR_TEST_OWN_PIPES";

/// How the echo ends when it found its host gone.
const HOST_GONE: u8 = 3;

type Outcome = Result<(), Box<dyn Error>>;
type Case = fn() -> Outcome;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::var_os(ROLE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        return runtime.block_on(echo());
    }
    let cases: [(&str, Case); 7] = [
        ("pipes carry lines both ways", pipes_carry_lines_both_ways),
        (
            "pipes shared with others keep their flags",
            pipes_shared_with_others_keep_their_flags,
        ),
        ("one socket can be both ends", one_socket_can_be_both_ends),
        ("a file in gives a file out", a_file_in_gives_a_file_out),
        ("nothing in, nowhere out", nothing_in_nowhere_out),
        ("a host that leaves is noticed", a_host_that_leaves_is_noticed),
        (
            "a host that left before is noticed",
            a_host_that_left_before_is_noticed,
        ),
    ];
    let mut failed = false;
    for (name, case) in cases {
        match case() {
            Ok(()) => eprintln!("test {name} ... ok"),
            Err(error) => {
                failed = true;
                eprintln!("test {name} ... FAILED: {error}");
            }
        }
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Echoes frames until the host ends its side or is gone.
async fn echo() -> Result<ExitCode, Box<dyn Error>> {
    let mut pipes = own_pipes(DEFAULT_FRAME_LIMIT, 1024)?;
    while let Some(frame) = pipes.input.next().await? {
        pipes.output.ready().await;
        if let Frame::Line(line) | Frame::Unterminated(line) = frame
            && pipes.output.push(line).is_err()
        {
            break;
        }
    }
    pipes.output.close();
    Ok(match pipes.output.closed().await {
        None => ExitCode::SUCCESS,
        Some(std::io::ErrorKind::BrokenPipe) => ExitCode::from(HOST_GONE),
        Some(other) => return Err(std::io::Error::from(other).into()),
    })
}

fn subject() -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(ROLE, "echo");
    Ok(command)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:.200?}, expected {expected:.200?}").into())
}

/// Small lines, then one that no pipe holds at once.
fn lines() -> Vec<u8> {
    let mut lines = b"one\ntwo\n".to_vec();
    lines.extend(std::iter::repeat_n(b'x', 1_000_000));
    lines.extend_from_slice(b"\nthree\n");
    lines
}

/// Writes on one thread and reads on another, as a host does; `end` ends the writing.
fn exchange<W: Write + Send + 'static>(
    mut to: W,
    mut from: impl Read,
    end: fn(W) -> std::io::Result<()>,
) -> Result<bool, Box<dyn Error>> {
    let writer = std::thread::spawn(move || {
        to.write_all(&lines())?;
        end(to)
    });
    let mut echoed = Vec::new();
    from.read_to_end(&mut echoed)?;
    writer.join().map_err(|_| "the writer panicked")??;
    Ok(echoed == lines())
}

fn pipes_carry_lines_both_ways() -> Outcome {
    let mut child = subject()?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
    same("echo", &exchange(to, from, |_dropped| Ok(()))?, &true)?;
    same("exit", &child.wait()?.code(), &Some(0))
}

fn pipes_shared_with_others_keep_their_flags() -> Outcome {
    let (their_input, mut to) = std::io::pipe()?;
    let (mut from, their_output) = std::io::pipe()?;
    let mut child = subject()?
        .stdin(their_input.try_clone()?)
        .stdout(their_output.try_clone()?)
        .spawn()?;
    to.write_all(b"x\n")?;
    from.read_exact(&mut [0; 2])?;
    for shared in [their_input.as_fd(), their_output.as_fd()] {
        same(
            "non-blocking",
            &fcntl_getfl(shared)?.contains(OFlags::NONBLOCK),
            &false,
        )?;
    }
    drop(to);
    same("exit", &child.wait()?.code(), &Some(0))
}

fn one_socket_can_be_both_ends() -> Outcome {
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = std::os::fd::OwnedFd::from(theirs);
    let mut child = subject()?.stdin(theirs.try_clone()?).stdout(theirs).spawn()?;
    same(
        "echo",
        &exchange(ours.try_clone()?, ours, |socket| socket.shutdown(Shutdown::Write))?,
        &true,
    )?;
    same("exit", &child.wait()?.code(), &Some(0))
}

fn a_file_in_gives_a_file_out() -> Outcome {
    let (mut input, mut output): (File, File) = (tempfile::tempfile()?, tempfile::tempfile()?);
    input.write_all(&lines())?;
    input.rewind()?;
    let mut child = subject()?.stdin(input).stdout(output.try_clone()?).spawn()?;
    same("exit", &child.wait()?.code(), &Some(0))?;
    output.rewind()?;
    let mut echoed = Vec::new();
    output.read_to_end(&mut echoed)?;
    same("echo", &(echoed == lines()), &true)
}

fn nothing_in_nowhere_out() -> Outcome {
    same(
        "exit",
        &subject()?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?
            .code(),
        &Some(0),
    )?;
    let mut child = subject()?.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    child.stdin.take().ok_or("no pipe")?.write_all(&lines())?;
    same("exit", &child.wait()?.code(), &Some(0))
}

fn a_host_that_leaves_is_noticed() -> Outcome {
    let mut child = subject()?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (mut to, mut from) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
    to.write_all(b"x\n")?;
    from.read_exact(&mut [0; 2])?;
    drop(from);
    to.write_all(b"y\n")?;
    drop(to);
    same("exit", &child.wait()?.code(), &Some(HOST_GONE.into()))
}

fn a_host_that_left_before_is_noticed() -> Outcome {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut child = subject()?.stdin(Stdio::piped()).stdout(writer).spawn()?;
    let mut to = child.stdin.take().ok_or("no pipe")?;
    to.write_all(b"y\n")?;
    drop(to);
    same("exit", &child.wait()?.code(), &Some(HOST_GONE.into()))
}
