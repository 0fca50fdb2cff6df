//! A ledger that can't be written, for every reason there is: what the host sees, what the server gets, what stderr says.

use std::{
    fs,
    path::Path,
    sync::mpsc::{Sender, channel},
    thread::JoinHandle,
};

use candor_ledger::{Entry, Ledger, OpenOptions, Phase};
use serde_json::json;

use super::stage::{READ, Session, Stage, UNCLASSIFIED, WRITE, said};

/// Known writes are refused, what nobody classified goes through and says so, known reads go on.
fn the_rule_holds(stage: &Stage, why: &str) -> String {
    let mut session = stage.start(&[]);
    the_rule_holds_in(stage, &mut session, why);
    let mut errors = session.close();

    let before = stage.truly(UNCLASSIFIED);
    let mut required = stage.start(&["--ledger-required"]);
    required.ask(WRITE).assert_refused(WRITE, why);
    required.ask(UNCLASSIFIED).assert_refused(UNCLASSIFIED, why);
    required.ask(READ).assert_delivered();
    errors.push_str(&required.close());
    assert_eq!(stage.truly(UNCLASSIFIED), before, "refused means not sent");
    errors
}

fn the_rule_holds_in(stage: &Stage, session: &mut Session, why: &str) {
    let before = (stage.truly(WRITE), stage.truly(UNCLASSIFIED));
    session.ask(WRITE).assert_refused(WRITE, why);
    session.ask(UNCLASSIFIED).assert_unrecorded(why);
    session.ask(READ).assert_delivered();
    assert_eq!(
        (stage.truly(WRITE), stage.truly(UNCLASSIFIED)),
        (before.0, before.1 + 1)
    );
}

/// A ledger with some calls, closed.
fn written() -> Stage {
    let stage = Stage::new();
    let mut session = stage.start(&[]);
    for tool in [WRITE, UNCLASSIFIED, READ] {
        session.ask(tool).assert_recorded();
    }
    session.close();
    assert_eq!(stage.calls().len(), 3);
    stage
}

#[test]
fn where_nothing_is_wrong_everything_is_recorded() {
    let stage = written();
    let mut session = stage.start(&["--ledger-required"]);
    for tool in [WRITE, UNCLASSIFIED, READ] {
        session.ask(tool).assert_recorded();
    }
    let errors = session.close();
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(stage.calls().len(), 6);
    stage.assert_verifies();
}

#[test]
fn a_disk_that_fills_up() {
    let mut stage = Stage::new();
    if !stage.mount("mount -t tmpfs -o size=400k,mode=700 tmpfs \"$D\"") {
        return;
    }
    let large = json!({ "pad": "x".repeat(14_000) });
    for required in [&[][..], &["--ledger-required"]] {
        let mut session = stage.start(required);
        let full = (0..100).find_map(|_| {
            let answer = session.ask_with(WRITE, &large);
            answer.is_refused().then_some(answer)
        });
        full.expect("400 kB hold no 100 calls of 14 kB")
            .assert_refused(WRITE, "disk full");
        let sent = stage.truly(WRITE);
        session.ask_with(WRITE, &large).assert_refused(WRITE, "disk full");
        assert_eq!(stage.truly(WRITE), sent, "refused means not sent");
        let unclassified = session.ask_with(UNCLASSIFIED, &large);
        if required.is_empty() {
            unclassified.assert_unrecorded("disk full");
        } else {
            unclassified.assert_refused(UNCLASSIFIED, "disk full");
        }
        session.ask_with(READ, &large).assert_delivered();
        let errors = session.close();
        assert!(errors.contains("no room for the ledger"), "{errors}");
        assert!(errors.contains("Free disk space"), "{errors}");
    }
}

#[test]
fn a_disk_that_was_full_before() {
    let mut stage = Stage::new();
    if !stage.mount("mount -t tmpfs -o size=16k,mode=700 tmpfs \"$D\"") {
        return;
    }
    let errors = the_rule_holds(&stage, "disk full");
    assert!(errors.contains("calls are not recorded"), "{errors}");
    assert!(errors.contains("no room for the ledger"), "{errors}");
}

#[test]
fn a_disk_that_is_read_only() {
    let mut stage = written();
    if !stage.mount("mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"") {
        return;
    }
    let errors = the_rule_holds(&stage, "the ledger is not writable");
    assert!(errors.contains("can't be written by this user"), "{errors}");
    // What is there can still be read, though SQLite may make nothing beside it.
    assert_eq!(stage.calls().len(), 3);
    stage.assert_verifies();
    let out = stage.file("copy.jsonl");
    let output = stage.look(&["ledger", "export", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// Takes the right to write away from file or folder.
fn forbid_writing(path: &Path) {
    let mut mode = fs::metadata(path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(path, mode).unwrap();
}

#[test]
fn a_file_that_may_only_be_read() {
    let mut stage = written();
    if !stage.drop_rights() {
        return;
    }
    forbid_writing(&stage.ledger());
    let errors = the_rule_holds(&stage, "the ledger is not writable");
    assert!(errors.contains("can't be written by this user"), "{errors}");
    assert_eq!(stage.calls().len(), 3);
    stage.assert_verifies();
}

#[test]
fn a_folder_that_may_only_be_read() {
    let mut stage = written();
    if !stage.drop_rights() {
        return;
    }
    // A reader leaves these two behind, and where they are nothing has to be made.
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(stage.ledger_file(suffix)).unwrap();
    }
    forbid_writing(&stage.file("disk"));
    let errors = the_rule_holds(&stage, "the ledger is not writable");
    assert!(errors.contains("can't be written by this user"), "{errors}");
    assert_eq!(stage.calls().len(), 3);
    stage.assert_verifies();
}

/// Another program that holds the write lock until it is told to let go.
fn lock(place: &Path) -> (Sender<()>, JoinHandle<()>) {
    let options = OpenOptions {
        retention: None,
        ..OpenOptions::default()
    };
    let ledger = Ledger::open(place, options).unwrap().ledger;
    let left = Ledger::open(place, options).unwrap().ledger;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let intent = Entry {
        operation: uuid::Uuid::from_u128(7),
        phase: Phase::Intent,
        at_ms: i64::MAX,
        server: "other".into(),
        tool: "other".into(),
        outcome: None,
        effect: None,
        evidence: None,
        unsettled: false,
        body: b"{}".to_vec(),
    };
    runtime.block_on(left.append(vec![intent])).unwrap();
    runtime.block_on(left.close()).unwrap();
    let (let_go, wait) = channel::<()>();
    let (held, is_held) = channel();
    let holder = std::thread::spawn(move || {
        let recovered = ledger.recover(|open| {
            held.send(()).unwrap();
            let _ = wait.recv();
            Entry {
                phase: Phase::Verdict,
                ..open.entry.clone()
            }
        });
        assert_eq!(recovered.unwrap().count, 1);
    });
    is_held.recv().unwrap();
    (let_go, holder)
}

#[test]
fn a_file_locked_by_another_program_and_then_free_again() {
    for required in [false, true] {
        let stage = written();
        let options: &[&str] = if required { &["--ledger-required"] } else { &[] };
        let mut session = stage.start(options);
        session.ask(WRITE).assert_recorded();
        let (let_go, holder) = lock(&stage.ledger());
        let why = "the ledger is locked by another program";
        if required {
            session.ask(UNCLASSIFIED).assert_refused(UNCLASSIFIED, why);
            session.ask(READ).assert_delivered();
        } else {
            the_rule_holds_in(&stage, &mut session, why);
        }
        let_go.send(()).unwrap();
        holder.join().unwrap();
        session.ask(WRITE).assert_recorded();
        let errors = session.close();
        assert!(errors.contains("stayed locked by another program"), "{errors}");
        // The read waited in the queue for the lock to go, and is there too.
        assert!(
            stage.calls().iter().filter(|call| call["tool"] == READ).count() == 2,
            "{:#?}",
            stage.calls()
        );
        stage.assert_verifies();
    }
}

#[test]
fn a_file_that_is_no_ledger() {
    let stage = Stage::new();
    fs::write(stage.ledger(), "[settings]\n".repeat(100)).unwrap();
    let before = fs::read(stage.ledger()).unwrap();
    let errors = the_rule_holds(&stage, "something else is in the ledger's place");
    assert!(errors.contains("is not a ledger of Candor"), "{errors}");
    assert!(errors.contains("Choose another place with --ledger"), "{errors}");
    assert_eq!(fs::read(stage.ledger()).unwrap(), before, "it was left as it was");
}

#[test]
fn what_is_no_file_at_all() {
    let stage = Stage::new();
    std::os::unix::fs::symlink("/dev/null", stage.ledger()).unwrap();
    let errors = the_rule_holds(&stage, "something else is in the ledger's place");
    for part in ["a device is there", "a regular file", "--ledger", "--no-ledger"] {
        assert!(errors.contains(part), "no {part:?} in {errors}");
    }
    for suffix in ["-journal", "-wal", "-shm", ".instances"] {
        assert!(!stage.ledger_file(suffix).exists(), "{suffix} was left");
    }
}

#[test]
fn a_file_whose_beginning_is_damaged() {
    let stage = written();
    let mut bytes = fs::read(stage.ledger()).unwrap();
    bytes[100..4096].fill(0xff);
    fs::write(stage.ledger(), &bytes).unwrap();
    let errors = the_rule_holds(&stage, "the ledger is damaged");
    assert!(errors.contains("is damaged"), "{errors}");
    assert!(
        errors.contains("Move it aside with its -wal and -shm"),
        "{errors}"
    );
    assert_eq!(fs::read(stage.ledger()).unwrap(), bytes, "it was left as it was");
    let output = stage.look(&["ledger", "verify"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

/// A ledger of many pages, closed.
fn long() -> Stage {
    let stage = Stage::new();
    let mut session = stage.start(&[]);
    for _ in 0..20 {
        session
            .ask_with(WRITE, &json!({ "pad": "x".repeat(12_000) }))
            .assert_recorded();
    }
    session.close();
    stage
}

#[test]
fn a_file_that_was_cut_short() {
    let stage = long();
    let bytes = fs::read(stage.ledger()).unwrap();
    fs::write(stage.ledger(), &bytes[..bytes.len() / 2]).unwrap();
    let errors = the_rule_holds(&stage, "the ledger is damaged");
    assert!(errors.contains("is damaged"), "{errors}");
}

#[test]
fn a_file_whose_end_is_damaged_opens_and_then_refuses() {
    let stage = long();
    let mut bytes = fs::read(stage.ledger()).unwrap();
    // Behind the pages that the tables begin with.
    bytes[16 * 4096..].fill(0xff);
    fs::write(stage.ledger(), &bytes).unwrap();
    let errors = the_rule_holds(&stage, "the ledger is damaged");
    assert!(errors.contains("a call could not be recorded"), "{errors}");
    assert!(
        errors.contains("Move it aside with its -wal and -shm"),
        "{errors}"
    );
    for command in [&["ledger", "verify"][..], &["ledger", "export"]] {
        let output = stage.look(command);
        assert_ne!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("damaged"), "{}", said(&output));
    }
}

#[test]
fn a_log_that_was_cut_anywhere_opens_and_holds() {
    for kept in [0, 1, 31, 32, 500, 4_151, 4_152, 20_000, 100_001] {
        let stage = Stage::new();
        let mut session = stage.start(&[]);
        for _ in 0..20 {
            session.ask(WRITE).assert_recorded();
        }
        session.host.kill();
        let log = stage.ledger_file("-wal");
        let whole = fs::metadata(&log).unwrap().len();
        assert!(kept < whole, "{whole}");
        fs::OpenOptions::new()
            .write(true)
            .open(&log)
            .and_then(|log| log.set_len(kept))
            .unwrap();
        let mut session = stage.start(&[]);
        session.ask(WRITE).assert_recorded();
        session.close();
        let calls = stage.calls().len();
        assert!((1..=21).contains(&calls), "{kept}: {calls}");
        stage.assert_verifies();
    }
}

/// What a newer program would leave: the same file with the next major in its header.
fn make_newer(place: &Path) {
    let mut bytes = fs::read(place).unwrap();
    assert_eq!(bytes[60..64], [0, 0, 0, 1]);
    bytes[63] = 2;
    fs::write(place, bytes).unwrap();
}

#[test]
fn a_file_of_a_newer_program_is_left_and_another_one_is_used() {
    let stage = written();
    make_newer(&stage.ledger());
    let before = fs::read(stage.ledger()).unwrap();
    let mut session = stage.start(&["--ledger-required"]);
    for tool in [WRITE, UNCLASSIFIED, READ, READ] {
        session.ask(tool).assert_recorded();
    }
    let errors = session.close();
    assert!(
        errors.contains("the ledger belongs to a newer Candor"),
        "{errors}"
    );
    assert_eq!(fs::read(stage.ledger()).unwrap(), before, "it was left as it was");
    assert_eq!(stage.calls().len(), 4, "only those in the file beside it");
    let output = stage.look(&["ledger", "verify"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        said(&output).contains("belongs to a newer Candor"),
        "{}",
        said(&output)
    );

    // Where the file beside it is a newer program's, too, nothing is left to write.
    make_newer(&stage.ledger_file(".v1"));
    let errors = the_rule_holds(&stage, "a newer program has taken the ledger over");
    assert!(errors.contains("both made by newer programs"), "{errors}");
    assert!(errors.contains("Update Candor"), "{errors}");
}

#[test]
fn a_log_that_can_not_be_read_where_it_is() {
    let mut stage = Stage::new();
    let mut session = stage.start(&[]);
    session.ask(WRITE).assert_recorded();
    session.host.kill();
    fs::remove_file(stage.ledger_file("-shm")).unwrap();
    if !stage.mount("mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"") {
        return;
    }
    // Without the log the file would look like a ledger with less in it than was promised.
    let output = stage.look(&["calls"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("Copy both"), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn a_folder_that_went_away_while_in_use() {
    let stage = written();
    let mut session = stage.start(&[]);
    session.ask(WRITE).assert_recorded();
    fs::rename(stage.file("disk"), stage.file("elsewhere")).unwrap();
    the_rule_holds_in(&stage, &mut session, "the ledger's file was moved away");
    let errors = session.close();
    assert!(errors.contains("Start Candor again"), "{errors}");
}
