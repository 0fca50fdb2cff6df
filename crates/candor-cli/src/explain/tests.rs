//! Every code has its page and every page its code; every name is explained, and one that is not is answered.

use std::collections::BTreeSet;
use std::path::Path;

use candor_core::judgment::finding::FindingCode;

use super::pages::{PAGES, meaning};
use super::*;

const PLAIN: Screen = Screen {
    width: None,
    colour: false,
};

fn explained(what: &str) -> String {
    let decisions = Decisions::read().unwrap();
    let mut out = Vec::new();
    for entry in entry::all(&decisions)
        .iter()
        .filter(|entry| entry.is_called(what))
    {
        entry.print(&mut out, &decisions, PLAIN, READABLE).unwrap();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn every_code_has_its_page_and_every_page_its_code() {
    let decisions = Decisions::read().unwrap();
    let codes: BTreeSet<&str> = decisions
        .codes()
        .into_iter()
        .chain(FindingCode::ALL.iter().map(|code| code.as_str()))
        .collect();
    let built_in: BTreeSet<&str> = PAGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(codes, built_in, "codes, and pages that are built in");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = codes.iter().map(|code| format!("{code}.md")).collect();
    assert_eq!(files, expected, "files of docs/codes, and codes");
}

#[test]
fn every_page_says_what_it_means_and_what_each_reader_can_do() {
    for (name, text) in PAGES {
        assert_eq!(text.lines().next(), Some(format!("# {name}").as_str()));
        assert!(
            meaning(text).len() > 20 && meaning(text).len() <= 120,
            "{name}: {}",
            meaning(text)
        );
        for part in [
            "**The model**",
            "**The operator**",
            "**The author**",
            "Example:\n\n```text\n",
        ] {
            assert!(text.contains(part), "{name} has no {part}");
        }
    }
}

#[test]
fn codes_endings_findings_and_words_are_explained() {
    insta::assert_snapshot!("error_code", explained("CANDOR_NO_ANSWER"));
    insta::assert_snapshot!("ending", explained("timeout"));
    insta::assert_snapshot!("ending_with_readings", explained("ok"));
    insta::assert_snapshot!("ending_by_its_own_word", explained("told"));
    insta::assert_snapshot!("leaning_ending", explained("unrecorded"));
    insta::assert_snapshot!("finding", explained("output_shape"));
    insta::assert_snapshot!("word_of_two_groups", explained("unknown"));
    insta::assert_snapshot!("group", explained("evidence"));
    insta::assert_snapshot!("looking_again", explained("read_back"));
    assert!(!explained("declared").contains("the look shows"));
}

#[test]
fn everything_that_is_listed_is_explained_with_a_meaning() {
    let decisions = Decisions::read().unwrap();
    for entry in entry::all(&decisions) {
        assert!(!entry.meaning.is_empty(), "{}", entry.name);
        assert!(explained(&entry.name).contains(&entry.name), "{}", entry.name);
    }
}

#[test]
fn names_are_found_as_people_write_them() {
    for (written, name) in [
        ("candor_no_answer", "CANDOR_NO_ANSWER"),
        ("output-shape", "output_shape"),
        ("not done", "NOT DONE"),
    ] {
        assert_eq!(explained(written), explained(name));
        assert!(!explained(name).is_empty());
    }
    assert!(explained("tiemout").is_empty());
}

#[test]
fn an_unknown_name_is_answered_with_near_ones() {
    let decisions = Decisions::read().unwrap();
    let entries = entry::all(&decisions);
    for (wrong, near) in [
        ("tiemout", "timeout"),
        ("NO_ANSWER", "CANDOR_NO_ANSWER"),
        ("ouput_shap", "output_shape"),
    ] {
        assert!(
            unknown(wrong, &entries).contains(near),
            "{}",
            unknown(wrong, &entries)
        );
    }
}
