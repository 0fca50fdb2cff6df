//! Children as they come: polite, deaf, stubborn, dying, with a family, or not there at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::*;
use crate::{Exit, Frame, Grace};

/// For waits that succeed at once or not at all.
const AMPLE: Duration = Duration::from_secs(60);
/// For waits whose end is the point of the test.
const SHORT: Duration = Duration::from_millis(50);
/// Steps of a stop that must not be reached.
const PATIENT: Grace = Grace {
    after_close: AMPLE,
    after_terminate: AMPLE,
    after_kill: AMPLE,
};

fn command(words: &[&str]) -> ChildCommand {
    ChildCommand {
        program: words[0].into(),
        args: words[1..].iter().map(OsString::from).collect(),
        ..ChildCommand::default()
    }
}

fn shell(script: &str) -> Child {
    spawn(&command(&["/bin/sh", "-c", script]), Limits::default()).unwrap()
}

async fn next(child: &mut Child) -> Option<Frame> {
    timeout(AMPLE, child.output.next())
        .await
        .expect("no frame in time")
        .unwrap()
}

async fn next_text(child: &mut Child) -> String {
    match next(child).await {
        Some(Frame::Line(line)) => String::from_utf8(line.to_vec()).unwrap(),
        other => panic!("not a line: {other:?}"),
    }
}

/// Waits until the process runs no more. A signal is sent at once but obeyed a little later.
async fn gone(pid: &str) -> bool {
    let leaving = async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), leaving).await.is_ok()
}

/// Whether the process still runs; one that only waits to be reaped does not.
fn runs(pid: &str) -> bool {
    let out = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .unwrap();
    let state = String::from_utf8(out.stdout).unwrap();
    !matches!(state.trim().chars().next(), None | Some('Z' | 'X'))
}

#[tokio::test]
async fn a_line_goes_in_and_comes_out() {
    let mut child = shell("exec cat");
    child.input.push(Bytes::from_static(b"hello")).unwrap();
    assert_eq!(next_text(&mut child).await, "hello");
    assert!(child.process.id().is_some());
    assert_eq!(child.process.stop(&child.input, PATIENT).await, Exit::Code(0));
    assert_eq!(next(&mut child).await, None);
    assert_eq!(child.input.closed().await, None);
    assert_eq!(child.process.id(), None);
}

#[tokio::test]
async fn arguments_variables_and_directory_arrive_as_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = command(&[
        "/bin/sh",
        "-c",
        r#"printf '%s\n' "$1" "$CANDOR_TEST" "$(pwd -P)""#,
        "sh",
        "a b $x",
    ]);
    asked.env.push(("CANDOR_TEST".into(), "c d".into()));
    asked.cwd = Some(folder.path().into());
    let mut child = spawn(&asked, Limits::default()).unwrap();
    assert_eq!(next_text(&mut child).await, "a b $x");
    assert_eq!(next_text(&mut child).await, "c d");
    assert_eq!(
        Path::new(&next_text(&mut child).await),
        folder.path().canonicalize().unwrap()
    );
}

#[tokio::test]
async fn each_end_is_told_as_it_was_and_told_again() {
    let cases = [
        ("exit 0", Exit::Code(0)),
        ("exit 7", Exit::Code(7)),
        ("kill -9 $$", Exit::Signal(9)),
        ("kill -TERM $$", Exit::Signal(15)),
    ];
    for (script, expected) in cases {
        let mut child = shell(script);
        assert_eq!(
            timeout(AMPLE, child.process.wait()).await.unwrap(),
            expected,
            "{script}"
        );
        assert_eq!(
            timeout(AMPLE, child.process.wait()).await.unwrap(),
            expected,
            "{script}"
        );
        assert_eq!(
            child.process.stop(&child.input, PATIENT).await,
            expected,
            "{script}"
        );
    }
}

#[tokio::test]
async fn a_wait_that_was_dropped_has_lost_nothing() {
    let mut child = shell("read line; exit 5");
    assert!(
        timeout(SHORT, child.process.wait()).await.is_err(),
        "it waits for a line"
    );
    child.input.push(Bytes::from_static(b"go")).unwrap();
    assert_eq!(timeout(AMPLE, child.process.wait()).await.unwrap(), Exit::Code(5));
}

#[tokio::test]
async fn frames_to_a_dead_child_end_in_a_broken_pipe() {
    let mut child = shell("exec <&-; echo closed; exec sleep 1000");
    assert_eq!(next_text(&mut child).await, "closed");
    // More than once: while another test starts a child, that one holds every pipe for a moment and could read.
    let mut number = crate::FrameNumber::NONE;
    while let Ok(pushed) = child.input.push(Bytes::from_static(b"anyone?")) {
        number = pushed;
        timeout(AMPLE, child.input.flushed()).await.unwrap();
    }
    assert_eq!(
        timeout(AMPLE, child.input.closed()).await.unwrap(),
        Some(io::ErrorKind::BrokenPipe)
    );
    assert!(child.input.begun() < number, "it provably never left");
    child.process.kill_group();
    assert_eq!(
        timeout(AMPLE, child.process.wait()).await.unwrap(),
        Exit::Signal(9)
    );
}

#[tokio::test]
async fn a_child_that_heeds_only_sigterm_gets_it() {
    let mut child = shell("echo up; exec sleep 1000");
    assert_eq!(next_text(&mut child).await, "up");
    let grace = Grace {
        after_close: SHORT,
        ..PATIENT
    };
    assert_eq!(child.process.stop(&child.input, grace).await, Exit::Signal(15));
}

#[tokio::test]
async fn a_child_that_heeds_neither_is_killed() {
    let mut child = shell("trap '' TERM; echo up; while :; do sleep 1; done");
    assert_eq!(next_text(&mut child).await, "up");
    let grace = Grace {
        after_close: SHORT,
        after_terminate: SHORT,
        ..PATIENT
    };
    assert_eq!(child.process.stop(&child.input, grace).await, Exit::Signal(9));
    assert_eq!(
        next(&mut child).await,
        None,
        "with it went all that held its pipe"
    );
}

#[tokio::test]
async fn grandchildren_end_with_the_child_however_it_ends() {
    let scripts = [
        "sleep 1000 & echo $!; cat",
        "sleep 1000 & echo $!; exit 3",
        "trap '' TERM; sleep 1000 & echo $!; cat",
    ];
    for script in scripts {
        let mut child = shell(script);
        let grandchild = next_text(&mut child).await;
        assert!(runs(&grandchild), "{script}");
        let grace = Grace {
            after_terminate: Duration::from_millis(500),
            ..PATIENT
        };
        child
            .process
            .stop(
                &child.input,
                Grace {
                    after_kill: SHORT,
                    ..grace
                },
            )
            .await;
        assert!(gone(&grandchild).await, "{script}");
    }
}

#[tokio::test]
async fn killing_the_group_reaches_grandchildren_too() {
    let mut child = shell("sleep 1000 & echo $!; wait");
    let grandchild = next_text(&mut child).await;
    child.process.kill_group();
    assert_eq!(
        timeout(AMPLE, child.process.wait()).await.unwrap(),
        Exit::Signal(9)
    );
    assert_eq!(next(&mut child).await, None, "end of file: nobody holds the pipe");
    assert!(gone(&grandchild).await);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_us() {
    let mut child = shell("sleep 1000 & echo last words; printf unfinished; exit 4");
    assert_eq!(timeout(AMPLE, child.process.wait()).await.unwrap(), Exit::Code(4));
    assert!(
        timeout(SHORT, async {
            while child.output.next().await.unwrap().is_some() {}
        })
        .await
        .is_err()
    );
    let mut child_again = shell("sleep 1000 & echo last words; printf unfinished; exit 4");
    assert_eq!(
        timeout(AMPLE, child_again.process.wait()).await.unwrap(),
        Exit::Code(4)
    );
    let mut said = Vec::new();
    while let Some(frame) = child_again.output.next_within(SHORT).await.unwrap() {
        said.push(frame);
    }
    let expected = [
        Frame::Line(Bytes::from_static(b"last words")),
        Frame::Unterminated(Bytes::from_static(b"unfinished")),
    ];
    assert_eq!(said, expected);
    child.process.kill_group();
    child_again.process.kill_group();
}

#[tokio::test]
async fn a_child_that_never_reads_can_still_be_read_from() {
    // A megabyte each way is far more than either pipe holds.
    let mut child = shell("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo done; exec sleep 1000");
    let number = child.input.push(Bytes::from(vec![b'y'; 1_000_000])).unwrap();
    assert_eq!(next_text(&mut child).await.len(), 1_000_000);
    assert_eq!(next_text(&mut child).await, "done");
    // The writer's task may not have had its turn yet.
    let begun = async {
        while child.input.begun() != number {
            tokio::task::yield_now().await;
        }
    };
    timeout(AMPLE, begun).await.expect("the writer begins");
    assert_eq!(child.input.finished(), crate::FrameNumber::NONE);
    let grace = Grace {
        after_close: SHORT,
        ..PATIENT
    };
    assert_eq!(child.process.stop(&child.input, grace).await, Exit::Signal(15));
    let end = timeout(AMPLE, child.input.closed())
        .await
        .expect("the writer is not stuck");
    assert!(
        matches!(
            end,
            Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted)
        ),
        "{end:?}"
    );
}

#[tokio::test]
#[cfg(target_os = "linux")] // macOS has no setsid command
async fn a_daemon_that_took_the_pipe_with_it_does_not_keep_the_writer() {
    let mut child = shell("exec 3<&0; setsid sh -c 'echo $$; exec sleep 60' 0<&3 & wait");
    let daemon = next_text(&mut child).await;
    child.input.push(Bytes::from(vec![b'y'; 1_000_000])).unwrap();
    let grace = Grace {
        after_close: SHORT,
        ..PATIENT
    };
    assert_eq!(child.process.stop(&child.input, grace).await, Exit::Signal(15));
    let end = timeout(AMPLE / 2, child.input.closed())
        .await
        .expect("the writer is stuck");
    assert_eq!(end, Some(io::ErrorKind::ConnectionAborted));
    assert!(runs(&daemon), "it left the group, so it is not reached");
    std::process::Command::new("kill").arg(&daemon).status().unwrap();
}

#[tokio::test]
async fn megabytes_pass_both_ways_at_once() {
    let mut child = shell("exec cat");
    for letter in b'a'..=b'h' {
        child.input.push(Bytes::from(vec![letter; 500_000])).unwrap();
    }
    for letter in b'a'..=b'h' {
        assert_eq!(
            next(&mut child).await,
            Some(Frame::Line(Bytes::from(vec![letter; 500_000])))
        );
    }
    timeout(AMPLE, child.input.flushed()).await.unwrap();
    assert_eq!(child.process.stop(&child.input, PATIENT).await, Exit::Code(0));
}

#[tokio::test]
async fn a_line_over_the_limit_does_not_cost_the_next() {
    let limits = Limits {
        frame: 1000,
        ..Limits::default()
    };
    let asked = command(&[
        "/bin/sh",
        "-c",
        "head -c 100000 /dev/zero | tr '\\0' x; echo; echo next",
    ]);
    let mut child = spawn(&asked, limits).unwrap();
    match next(&mut child).await {
        Some(Frame::Oversized { head, length }) => assert_eq!((head.len(), length), (4096, 100_000)),
        other => panic!("{other:?}"),
    }
    assert_eq!(next_text(&mut child).await, "next");
}

#[tokio::test]
async fn what_can_not_be_started_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let plain = file("plain", "words", 0o644);
    let orphan = file("orphan", "#!/no/such/interpreter\n", 0o755);
    let noise = file("noise", "\x01\x02\x03 no program\n", 0o755);
    let absent = folder.path().join("absent").to_str().unwrap().to_owned();
    let mut in_path = command(&["orphan"]);
    in_path.env.push(("PATH".into(), folder.path().into()));
    let astray = ChildCommand {
        cwd: Some(absent.clone().into()),
        ..command(&["/bin/sh"])
    };

    let cases = [
        (command(&["candor-no-such-program"]), "NotFound", "install it"),
        (command(&["npx -y some-server"]), "NotFound", "separate words"),
        (command(&[""]), "NotFound", "give the command"),
        (command(&[&absent]), "NotFound", "check the path"),
        (command(&[&orphan]), "NoInterpreter", "install the interpreter"),
        (in_path, "NoInterpreter", "install the interpreter"),
        (command(&[&plain]), "NotExecutable", "chmod +x"),
        (command(&[&noise]), "NotExecutable", "chmod +x"),
        (command(&["/"]), "NotExecutable", "not an executable file"),
        (astray, "NoDirectory", "correct `cwd`"),
        (
            command(&["/bin/echo", &"x".repeat(4 << 20)]),
            "Other",
            "cannot start",
        ),
    ];
    for (asked, variant, advice) in cases {
        let fault = spawn(&asked, Limits::default()).expect_err(&asked.program.to_string_lossy());
        assert!(format!("{fault:?}").starts_with(variant), "{fault:?}");
        assert!(fault.to_string().contains(advice), "{fault}");
    }
}
