//! What every source file must say, and what none may.

use super::code::{code, dense, has_word, words};
use super::workspace::{Source, sources};

/// Tests that serde's `flatten` in an author's types is read by the library, however exact the numbers are kept.
const FLATTENS: [&str; 2] = [
    "crates/candor/src/parameters.rs",
    "crates/candor/tests/it/rooms.rs",
];

/// What is wrong with one file, each with what to do about it.
fn faults(source: &Source) -> Vec<&'static str> {
    let code = code(&source.text);
    let dense = dense(&code);
    let file = source.path.rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let folder = source.path.rsplit('/').nth(1).unwrap_or_default();
    let mut found = Vec::new();
    let mut check = |broken: bool, fault| {
        if broken {
            found.push(fault);
        }
    };
    check(
        !opens_with_its_purpose(&source.text),
        "does not open with a `//!` that says what the file is for",
    );
    check(
        has_word(&code, "unsafe"),
        "has `unsafe`: find a safe way, or a crate that has one",
    );
    check(
        dense.contains("#[allow(") || dense.contains("#![allow("),
        "has `allow`: use `#[expect(.., reason = \"..\")]`",
    );
    check(
        in_serde(&dense, "untagged"),
        "guesses by shape (serde's `untagged`): decode by what says the kind",
    );
    check(
        in_serde(&dense, "flatten") && !FLATTENS.contains(&source.path.as_str()),
        "has serde's `flatten`: it loses exact numbers and duplicate members",
    );
    check(has_word(&code, "todo") && dense.contains("todo!"), "has `todo!`");
    check(dense.contains("unimplemented!"), "has `unimplemented!`");
    check(
        dense.contains("#[ignore]"),
        "ignores a test without a reason: `#[ignore = \"..\"]`",
    );
    check(
        [stem, folder].iter().any(|name| is_drawer(name)),
        "is a drawer for anything: name the file by what is in it",
    );
    check(
        words(&code).any(is_drawer) && mods(&code).any(is_drawer),
        "declares a module that is a drawer for anything",
    );
    if source.is_product() {
        check(
            dense.contains("Option<bool>"),
            "has `Option<bool>`: three states want a type with three names",
        );
        check(
            dense.contains("Dropfor"),
            "has an `impl Drop`: a failure there has no one to tell",
        );
        check(
            file == "mod.rs" && has_word(&code, "fn"),
            "has logic in `mod.rs`: it only says what the folder is and has",
        );
    }
    found
}

/// A first line that is more than the bare mark.
fn opens_with_its_purpose(text: &str) -> bool {
    text.lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|purpose| purpose.trim().len() > 5)
}

/// Names that say nothing of what is inside.
fn is_drawer(name: &str) -> bool {
    ["prelude", "util", "utils", "helper", "helpers", "misc", "common"].contains(&name)
}

/// The modules that some code declares.
fn mods(code: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    words(code).filter(move |word| std::mem::replace(&mut before, word) == "mod")
}

/// Does a serde attribute say this word?
fn in_serde(dense: &str, word: &str) -> bool {
    dense.match_indices("serde(").any(|(at, _)| {
        let mut depth = 0_i32;
        let end = |letter: char| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ')' && depth == 0
        };
        let rest = dense.get(at..).unwrap_or_default();
        has_word(rest.split(end).next().unwrap_or_default(), word)
    })
}

#[test]
fn every_file_keeps_the_rules_of_the_house() {
    let mut broken = Vec::new();
    for source in sources() {
        broken.extend(
            faults(&source)
                .into_iter()
                .map(|fault| format!("{} {fault}", source.path)),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Names that claim something, and the only product files that may say them: where they are made, where they are used.
const CLAIMS: &[(&str, &[&str])] = &[
    (
        "asserted_by_ledger",
        &[
            "crates/candor-core/src/record/entry.rs",
            "crates/candor-gateway/src/recorder.rs",
        ],
    ),
    (
        "SystemTime",
        &[
            "crates/candor-gateway/src/clock.rs",
            "crates/candor-ledger/src/ledger.rs",
        ],
    ),
    (
        "now_v7",
        &[
            "crates/candor-gateway/src/clock.rs",
            "crates/candor-ledger/src/store.rs",
        ],
    ),
];

#[test]
fn a_claim_is_made_where_it_may_be() {
    let sources = sources();
    for (claim, places) in CLAIMS {
        let makes = |source: &&Source| {
            let in_core_or_below = ["core", "gateway", "ledger", "transport"]
                .iter()
                .any(|name| source.path.starts_with(&format!("crates/candor-{name}/")));
            let product = source.text.split("#[cfg(test)]").next().unwrap_or_default();
            source.is_product() && in_core_or_below && has_word(&code(product), claim)
        };
        let found: Vec<&str> = sources
            .iter()
            .filter(makes)
            .map(|source| source.path.as_str())
            .collect();
        assert_eq!(&found, places, "{claim}");
    }
}

#[test]
fn each_rule_fires_and_stays_quiet() {
    let product = "crates/candor-x/src/thing.rs";
    let opened = |code: &str| format!("//! What it is for.\n{code}");
    let fires = [
        (product, "fn f() {}".to_owned()),
        (product, "//!\nfn f() {}".to_owned()),
        (product, "// What it is for.\n".to_owned()),
        (product, opened("unsafe { f() }")),
        (product, opened("#[allow(dead_code)] fn f() {}")),
        (product, opened("#![ allow (dead_code)]")),
        (product, opened("#[serde(untagged)] enum E {}")),
        (product, opened("#[cfg_attr(x, serde(default, flatten))] a: B,")),
        (product, opened("fn f() { todo!() }")),
        (product, opened("fn f() { unimplemented!() }")),
        (product, opened("#[test] #[ignore] fn f() {}")),
        (product, opened("struct S { a: Option< bool > }")),
        (product, opened("impl Drop for S { }")),
        (product, opened("pub mod prelude;")),
        ("crates/candor-x/src/util.rs", opened("")),
        ("crates/candor-x/src/helpers/thing.rs", opened("")),
        ("crates/candor-x/src/a/mod.rs", opened("fn f() {}")),
    ];
    for (path, text) in fires {
        let source = Source {
            path: path.to_owned(),
            text,
        };
        assert_eq!(faults(&source).len(), 1, "{}: {:?}", source.text, faults(&source));
    }
    let quiet = [
        (
            product,
            opened("// unsafe, todo!, Option<bool>\nconst A: &str = \"#[allow(x)] unsafe\";"),
        ),
        (
            product,
            opened("#[command(flatten)] a: B, fn f() { a.flatten() }"),
        ),
        (product, opened("#[serde(rename = \"flatten\")] a: B,")),
        (
            product,
            opened("#[serde(default)] struct S(T); fn untagged(flatten: u8) {}"),
        ),
        (product, opened("#[expect(dead_code, reason = \"r\")] fn f() {}")),
        (product, opened("#[ignore = \"measures\"] fn f() {}")),
        (product, opened("use proptest::prelude::Just;")),
        ("crates/candor-x/src/a/mod.rs", opened("mod b;\npub use b::C;")),
        (
            "crates/candor-x/tests/it/main.rs",
            opened("struct S { a: Option<bool> }"),
        ),
    ];
    for (path, text) in quiet {
        let source = Source {
            path: path.to_owned(),
            text,
        };
        assert_eq!(faults(&source), Vec::<&str>::new(), "{}", source.text);
    }
}
