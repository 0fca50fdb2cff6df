//! The documents tell the truth: what their tables and links name is there as named.

use std::collections::BTreeSet;
use std::path::Path;

use super::code::{code, dense, has_word};
use super::workspace::{documents, root, text};

/// What stands between backticks in some Markdown.
fn quoted(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.split('`').skip(1).step_by(2)
}

/// The rows of all tables: their cells.
fn rows(markdown: &str) -> impl Iterator<Item = Vec<&str>> {
    markdown
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| ---"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

/// What is wrong with a row whose second cell is a file of ours: names that the file has not, values it has otherwise.
fn wrong(cells: &[&str], source: &str) -> Vec<String> {
    let code = code(source);
    let names = cells.get(2).copied().unwrap_or_default();
    if let Some((name, value)) = names.split_once(" = ") {
        let (name, value) = (name.trim_matches('`'), value.trim_matches('`'));
        let written = has_value(&dense(&code), name, &dense(value));
        return if written {
            Vec::new()
        } else {
            vec![format!("{name} is not {value}")]
        };
    }
    let last = |name: &'_ str| name.rsplit("::").next().unwrap_or(name).to_owned();
    let missing = |name: &&str| !has_word(&code, &last(name));
    quoted(names)
        .filter(|name| is_name(name))
        .filter(missing)
        .map(|name| format!("there is no {name}"))
        .collect()
}

/// A name as code has it, maybe with a path: no command, no text.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':')
}

/// Is a constant or a field set to this value in some dense code?
fn has_value(dense: &str, name: &str, value: &str) -> bool {
    let ends = |rest: &str| {
        rest.strip_prefix(value)
            .is_some_and(|rest| rest.starts_with([';', ',', '}']))
    };
    let (constant, field) = (format!("const{name}:"), format!("{name}:"));
    let behind = |at: usize, mark: &str| dense.get(at + mark.len()..).unwrap_or_default();
    let in_constant = dense
        .match_indices(&constant)
        .filter_map(|(at, _)| behind(at, &constant).split_once('='))
        .any(|(_, rest)| ends(rest));
    in_constant
        || dense
            .match_indices(&field)
            .any(|(at, _)| ends(behind(at, &field)))
}

#[test]
fn the_architecture_names_what_is_there() {
    let page = text("ARCHITECTURE.md");
    let (mut broken, mut seen) = (Vec::new(), 0);
    for cells in rows(&page) {
        let Some(path) = cells
            .get(1)
            .map(|cell| cell.trim_matches('`'))
            .filter(|path| path.starts_with("crates/"))
        else {
            continue;
        };
        seen += 1;
        if !root().join(path).is_file() {
            broken.push(format!(
                "{}: there is no file {path}",
                cells.first().unwrap_or(&"")
            ));
            continue;
        }
        broken.extend(
            wrong(&cells, &text(path))
                .into_iter()
                .map(|fault| format!("{path}: {fault}")),
        );
    }
    assert!(broken.is_empty(), "ARCHITECTURE.md:\n{}", broken.join("\n"));
    assert!(seen > 60, "only {seen} rows of ARCHITECTURE.md name a file");
}

#[test]
fn the_architecture_has_all_nine_stops() {
    let page = text("ARCHITECTURE.md");
    let stops: Vec<String> = rows(&page)
        .filter_map(|cells| Some(cells.first()?.split_once(". ")?.0.to_owned()))
        .collect();
    assert_eq!(stops, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

#[test]
fn every_file_named_in_the_core_map_is_there() {
    let page = text("ARCHITECTURE.md");
    let map = page
        .split("## Code map")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("a code map");
    let modules: BTreeSet<&str> = quoted(map).filter(|name| is_name(name)).collect();
    let lib = code(&text("crates/candor-core/src/lib.rs"));
    let declared = lib
        .split("mod ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next());
    let missing: Vec<&str> = declared
        .map(str::trim)
        .filter(|name| is_name(name) && !modules.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "the code map of ARCHITECTURE.md leaves out modules of the core: {missing:?}"
    );
}

/// The targets of links within the repository.
fn links(markdown: &str) -> impl Iterator<Item = &str> {
    let targets = markdown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .filter_map(|target| target.split('#').next())
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for path in documents() {
        let folder = Path::new(&path).parent().unwrap_or(Path::new("")).to_owned();
        let text = text(&path);
        broken.extend(
            links(&text)
                .filter(|link| !root().join(&folder).join(link).exists())
                .map(|link| format!("{path}: {link}")),
        );
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn every_known_host_is_in_the_documents() {
    let table = text("crates/candor-gateway/src/deadline.rs");
    let table = table
        .split("const HOSTS")
        .nth(1)
        .and_then(|rest| rest.split("];").next())
        .expect("the table of hosts");
    let hosts: Vec<&str> = table
        .split("(\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let page = text("docs/wrapping.md");
    let told: BTreeSet<&str> = rows(&page)
        .filter_map(|cells| cells.first().copied())
        .flat_map(quoted)
        .collect();
    let missing: Vec<_> = hosts.iter().filter(|host| !told.contains(*host)).collect();
    assert!(
        missing.is_empty(),
        "docs/wrapping.md leaves out hosts: {missing:?}"
    );
    assert!(
        hosts.len() > 5,
        "the table of hosts is not where this test looks for it"
    );
}

#[test]
fn what_is_not_there_is_seen() {
    let source =
        "/// Says `f`.\nconst A: usize = 4 * 1024;\nfn f() { S { a: B::c(2), } }\nimpl T { fn g() {} }";
    let fits = [
        "`A` = `4 * 1024`",
        "`a` = `B::c(2)`",
        "`f`, `T::g`",
        "prose with no names",
        "`kill -9` and the like",
    ];
    for cell in fits {
        assert_eq!(wrong(&["", "", cell], source), Vec::<String>::new(), "{cell}");
    }
    for cell in [
        "`A` = `4`",
        "`A` = `4 * 102`",
        "`a` = `B::c(3)`",
        "`Says`",
        "`T::h`",
    ] {
        assert_eq!(wrong(&["", "", cell], source).len(), 1, "{cell}");
    }
    assert_eq!(
        links("[a](b.md#c) [d](https://e) [f](#g)").collect::<Vec<_>>(),
        ["b.md"]
    );
    assert_eq!(
        rows("| a | b |\n| --- | --- |\n| `c` | d |\n").collect::<Vec<_>>(),
        [["a", "b"], ["`c`", "d"]]
    );
}
