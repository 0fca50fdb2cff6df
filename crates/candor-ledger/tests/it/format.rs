//! Whose file it is: a newer program's, another program's, a damaged one, an older or fresh one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use candor_ledger::{Fault, Filter, Ledger, OpenFault, OpenNote, Reader};
use uuid::Uuid;

use crate::support::{Place, assert_clean, hasty, intent, keep_all};

/// Makes the ledger at `path` one of the next major, as a newer program would leave it.
fn make_newer(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch("UPDATE meta SET major = 2; PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
}

fn beside(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.v1", path.display()))
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_newer_programs_file_is_left_untouched_and_another_one_is_used() {
    let place = Place::new();
    place.open().close().await.unwrap();
    make_newer(&place.path);
    let folder = place.path.parent().unwrap();
    let before = files(folder);
    assert_eq!(before.len(), 1);
    let note = OpenNote::NewerFormat {
        left: place.path.clone(),
        major: 2,
        opened: beside(&place.path),
    };

    // Reading before the other one exists: says both things, and makes nothing.
    let reader = place.reader();
    let none = OpenNote::NoLedger {
        place: beside(&place.path),
    };
    assert_eq!(reader.notes(), [note.clone(), none]);
    assert_eq!(files(folder), before);

    let opened = Ledger::open(&place.path, keep_all()).unwrap();
    assert_eq!(opened.notes.as_slice(), std::slice::from_ref(&note));
    assert_eq!(opened.ledger.place(), beside(&place.path));
    opened.ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    let reader = place.reader();
    assert_eq!(reader.notes(), [note]);
    assert_eq!(reader.operations(&Filter::default()).unwrap().len(), 1);
    opened.ledger.close().await.unwrap();
    drop(reader);

    assert_eq!(fs::read(&place.path).unwrap(), before[0].1);
    let names: Vec<_> = files(folder)
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| !path.starts_with(beside(&place.path)))
        .collect();
    assert!(
        !names
            .iter()
            .any(|name| name.to_string_lossy().ends_with("ledger.db-wal")),
        "{names:?}"
    );
}

#[tokio::test]
async fn a_newer_major_that_still_stands_in_the_log_is_seen_too() {
    let made = Place::new();
    made.open().close().await.unwrap();
    // The newer program was killed: its log is not in the file yet, and whoever closes the file last moves it.
    let newer = made.raw();
    newer
        .execute_batch("UPDATE meta SET major = 2; PRAGMA user_version = 2")
        .unwrap();
    let place = Place::new();
    fs::create_dir_all(place.path.parent().unwrap()).unwrap();
    let log = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    fs::copy(&made.path, &place.path).unwrap();
    fs::copy(log(&made.path), log(&place.path)).unwrap();
    let before = (
        fs::read(&place.path).unwrap(),
        fs::read(log(&place.path)).unwrap(),
    );
    assert_eq!(
        before.0.get(60..64),
        Some(&[0, 0, 0, 1][..]),
        "the header alone does not tell"
    );

    let opened = Ledger::open(&place.path, keep_all()).unwrap();
    assert!(
        matches!(opened.notes.as_slice(), [OpenNote::NewerFormat { major: 2, .. }]),
        "{:?}",
        opened.notes
    );
    opened.ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert!(matches!(place.reader().notes(), [OpenNote::NewerFormat { .. }]));
    assert_eq!(
        (
            fs::read(&place.path).unwrap(),
            fs::read(log(&place.path)).unwrap()
        ),
        before
    );
}

#[tokio::test]
async fn a_file_that_became_newer_while_open_is_not_written_any_more() {
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    place.raw().pragma_update(None, "user_version", 2).unwrap();
    let refused = ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    assert!(
        matches!(refused, Fault::NewerFormat { found: 2, .. }),
        "{refused:?}"
    );
    assert_eq!(place.count("SELECT count(*) FROM record"), 1);
}

#[tokio::test]
async fn a_newer_minor_is_written_as_before_and_keeps_its_number() {
    let place = Place::new();
    place.open().close().await.unwrap();
    place.raw().execute_batch("UPDATE meta SET minor = 7").unwrap();
    let opened = Ledger::open(&place.path, keep_all()).unwrap();
    assert_eq!(opened.notes, []);
    opened.ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert_eq!(place.count("SELECT minor FROM meta"), 7);
}

/// Makes the ledger what the first format was.
fn make_first(place: &Place) {
    place
        .raw()
        .execute_batch(
            "DROP TABLE gap; DROP TABLE idempotency_key; DELETE FROM migration WHERE number > 1;
             UPDATE meta SET minor = 0",
        )
        .unwrap();
}

#[tokio::test]
async fn a_file_of_the_first_minor_is_read_as_it_is_and_written_as_the_newer() {
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    ledger.close().await.unwrap();
    make_first(&place);
    let reader = place.reader();
    assert_eq!(reader.format().unwrap().unwrap().to_string(), "1.0");
    assert!(reader.verify().unwrap().is_clean());
    assert!(
        reader
            .prune_plan(&candor_ledger::Retention::default(), i64::MAX)
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        place.count("SELECT count(*) FROM migration"),
        1,
        "reading changes nothing"
    );
    place.open().append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert_eq!(place.reader().format().unwrap().unwrap().to_string(), "1.2");
    assert_clean(&place.path);
}

#[test]
fn two_newer_files_are_an_error() {
    let place = Place::new();
    drop(place.open());
    make_newer(&place.path);
    fs::copy(&place.path, beside(&place.path)).unwrap();
    assert!(matches!(
        Ledger::open(&place.path, hasty()),
        Err(OpenFault::NewerFormat { .. })
    ));
    assert!(matches!(
        Reader::open(&place.path),
        Err(OpenFault::NewerFormat { .. })
    ));
}

#[test]
fn what_is_no_ledger_is_left_as_it_is() {
    let place = Place::new();
    fs::create_dir_all(place.path.parent().unwrap()).unwrap();
    for content in [&b"[settings]\nname = 1\n"[..], &[b'x'; 8192]] {
        fs::write(&place.path, content).unwrap();
        assert!(matches!(
            Ledger::open(&place.path, hasty()),
            Err(OpenFault::NotALedger { .. })
        ));
        assert!(matches!(
            Reader::open(&place.path),
            Err(OpenFault::NotALedger { .. })
        ));
        assert_eq!(fs::read(&place.path).unwrap(), content);
    }
    fs::remove_file(&place.path).unwrap();
    place
        .raw()
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    let before = fs::read(&place.path).unwrap();
    assert!(matches!(
        Ledger::open(&place.path, hasty()),
        Err(OpenFault::NotALedger { .. })
    ));
    assert!(matches!(
        Reader::open(&place.path),
        Err(OpenFault::NotALedger { .. })
    ));
    assert_eq!(fs::read(&place.path).unwrap(), before);
}

#[tokio::test]
async fn a_ledger_of_other_migrations_is_refused() {
    let place = Place::new();
    place.open().close().await.unwrap();
    place
        .raw()
        .execute_batch("UPDATE migration SET checksum = zeroblob(32)")
        .unwrap();
    let refused = Ledger::open(&place.path, hasty()).unwrap_err();
    assert!(
        matches!(refused, OpenFault::ForeignSchema { number: 1, .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_damaged_file_is_a_typed_error_that_says_what_to_do() {
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    ledger.close().await.unwrap();
    let mut bytes = fs::read(&place.path).unwrap();
    bytes[100..4096].fill(0xff);
    fs::write(&place.path, &bytes).unwrap();
    let refused = Ledger::open(&place.path, hasty()).unwrap_err();
    assert!(matches!(refused, OpenFault::Corrupt { .. }), "{refused:?}");
    assert!(refused.to_string().contains("Move it aside"), "{refused}");
    assert!(matches!(
        Reader::open(&place.path),
        Err(OpenFault::Corrupt { .. })
    ));
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

#[tokio::test]
async fn an_empty_file_becomes_a_ledger() {
    let place = Place::new();
    fs::create_dir_all(place.path.parent().unwrap()).unwrap();
    fs::write(&place.path, b"").unwrap();
    place.open().append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert_clean(&place.path);
}

#[test]
fn a_place_that_cannot_be_is_named() {
    let place = Place::new();
    fs::create_dir_all(place.path.parent().unwrap()).unwrap();
    fs::write(&place.path, b"").unwrap();
    let inside_a_file = place.path.join("ledger.db");
    let refused = Ledger::open(&inside_a_file, hasty()).unwrap_err();
    assert!(matches!(refused, OpenFault::Place { .. }), "{refused:?}");
    assert!(refused.to_string().contains("--ledger"), "{refused}");
}

#[test]
fn all_that_make_the_file_together_get_it() {
    for _ in 0..10 {
        let place = Place::new();
        let path = &place.path;
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| Ledger::open(path, keep_all()).map(drop)))
                .collect();
            for opener in openers {
                opener.join().unwrap().unwrap();
            }
        });
        assert_eq!(place.count("SELECT count(*) FROM migration"), 3);
    }
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/null", at("device")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
    assert!(made.unwrap().success());
    let listed = || {
        let names = fs::read_dir(folder.path()).unwrap();
        names
            .map(|file| file.unwrap().file_name())
            .collect::<BTreeSet<_>>()
    };
    let before = listed();
    for (name, kind) in [
        ("folder", "a folder"),
        ("socket", "a socket"),
        ("device", "a device"),
        ("pipe", "a pipe"),
    ] {
        let written = Ledger::open(&at(name), keep_all()).map(drop).unwrap_err();
        let read = Reader::open(&at(name)).map(drop).unwrap_err();
        for fault in [written, read] {
            assert!(
                matches!(&fault, OpenFault::NotAFile { found, .. } if *found == kind),
                "{name}: {fault:?}"
            );
            let text = fault.to_string();
            for part in [&*at(name).to_string_lossy(), kind, "a regular file", "--ledger"] {
                assert!(text.contains(part), "no {part:?} in {text}");
            }
        }
    }
    assert_eq!(listed(), before);

    // A link to a file is a place like any other.
    std::os::unix::fs::symlink(at("real"), at("link")).unwrap();
    for name in ["real", "link"] {
        let opened = Ledger::open(&at(name), keep_all());
        opened.unwrap().ledger.close().await.unwrap();
    }
}
