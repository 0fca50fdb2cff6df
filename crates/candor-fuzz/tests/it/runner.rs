//! A run finds a law that breaks and a panic, keeps the input, and is the same every time.

use std::fs;
use std::path::Path;

use candor_fuzz::{Broken, Failure, Plan, Target, Why, run};

const LAW: &str = "no input holds a z";

fn target(check: fn(&[u8]) -> Result<(), Broken>) -> Target {
    Target {
        name: "made_up",
        check,
        words: &["zebra"],
        rounds: 0,
    }
}

fn plan(folder: &Path, rounds: u32) -> Plan {
    let corpus = folder.join("corpus");
    fs::create_dir_all(&corpus).unwrap();
    fs::write(corpus.join("b"), "second").unwrap();
    fs::write(corpus.join("a"), "first").unwrap();
    Plan {
        corpus,
        kept: folder.join("kept"),
        seed: 1,
        rounds,
    }
}

fn no_z(input: &[u8]) -> Result<(), Broken> {
    if input.contains(&b'z') {
        return Err(Broken {
            law: LAW,
            seen: "a z".to_owned(),
        });
    }
    Ok(())
}

/// The input that was kept, and why.
fn found(failure: Failure) -> (Vec<u8>, Why) {
    match failure {
        Failure::Found { why, file, .. } => (fs::read(file).unwrap(), why),
        other @ Failure::File { .. } => panic!("{other}"),
    }
}

#[test]
fn a_broken_law_is_found_by_mutation_and_its_input_is_kept() {
    let kept = || {
        let folder = tempfile::tempdir().unwrap();
        let (input, why) = found(run(&target(no_z), &plan(folder.path(), 500)).unwrap_err());
        assert!(matches!(why, Why::Broken(Broken { law: LAW, .. })));
        assert!(input.contains(&b'z'));
        input
    };
    assert_eq!(kept(), kept(), "one seed, one row of inputs");
}

#[test]
fn a_panic_is_found_too() {
    let folder = tempfile::tempdir().unwrap();
    let panics = target(|input| {
        if input == b"second" {
            panic!("at the second")
        } else {
            Ok(())
        }
    });
    let (input, why) = found(run(&panics, &plan(folder.path(), 0)).unwrap_err());
    assert_eq!(input, b"second");
    assert_eq!(
        why,
        Why::Panicked {
            message: "at the second".to_owned()
        }
    );
}

#[test]
fn what_breaks_nothing_is_run_to_its_end_and_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(&target(|_| Ok(())), &plan(folder.path(), 40)).unwrap();
    assert_eq!((report.corpus, report.made), (2, 40));
    let kept = fs::read_dir(folder.path().join("kept")).unwrap().count();
    assert_eq!(kept, 1, "only the input at work");
}

#[test]
fn without_a_corpus_a_run_starts_from_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        corpus: folder.path().join("none"),
        ..plan(folder.path(), 10)
    };
    assert_eq!(run(&target(|_| Ok(())), &plan).unwrap().corpus, 0);
}
