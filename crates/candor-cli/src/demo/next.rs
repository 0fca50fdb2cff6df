//! What to type next: commands that work as they are printed.

use std::env;
use std::path::{Path, PathBuf};

use super::layout::{Ink, Line, heading, paragraph};
use super::play::Stage;
use super::seen::VerdictSeen;

/// How many characters of an operation's id are shown; `candor show` takes them.
const SHORT: usize = 8;

/// The last section.
pub(super) fn section(stage: &Stage, verdicts: &[VerdictSeen], width: usize) -> Vec<Line> {
    let candor = spoken(&stage.program, &Surroundings::ours());
    let ledger = quoted(&stage.folder.ledger().to_string_lossy());
    // What nobody knows the end of is worth the closest look.
    let unknown = verdicts.iter().find(|verdict| verdict.outcome == "unknown");
    let mut lines = vec![heading("What to type next", width)];
    let mut say = |why: &str, command: String| {
        lines.extend(paragraph(Ink::Plain, why, 2, width));
        // Never wrapped by us: a command must be whole to be copied.
        lines.push(Line::of(Ink::Plain, "    ").and(Ink::Strong, command));
    };
    if let Some(verdict) = unknown.or(verdicts.first()) {
        let id = short(&verdict.operation_id);
        say(
            "One call in full: what arrived, how it was judged, what the model was told",
            format!("{candor} show {id} --ledger {ledger}"),
        );
    }
    say(
        "What a person must settle",
        format!("{candor} calls --unsettled --ledger {ledger}"),
    );
    // Codes of Candor's own have a page; a tool's codes are the tool's.
    let code = unknown
        .and_then(|verdict| verdict.error.as_ref())
        .filter(|error| error.code.starts_with("CANDOR_"));
    match (code, verdicts.first()) {
        (Some(error), _) => {
            say(
                "Why it was judged so: the rows of the decision table",
                format!("{candor} explain {}", error.code),
            );
        }
        (None, Some(verdict)) => say(
            "What a word means",
            format!("{candor} explain {}", verdict.outcome),
        ),
        (None, None) => {}
    }
    if stage.contract {
        say(
            "What Candor was told beforehand, and what it can know without",
            format!("cat {}", quoted(&stage.folder.contract().to_string_lossy())),
        );
        lines.push(Line::of(Ink::Plain, "    ").and(Ink::Strong, format!("{candor} demo --no-contract")));
    }
    let absolute = serde_json::to_string(&stage.program.to_string_lossy()).unwrap_or_default();
    lines.extend(paragraph(
        Ink::Plain,
        "Before a server of your own: in the host's config, Candor and two dashes in front of the command",
        2,
        width,
    ));
    lines.push(Line::of(Ink::Plain, "    ").and(Ink::Strong, format!(r#""command": {absolute},"#)));
    lines
        .push(Line::of(Ink::Plain, "    ").and(Ink::Strong, r#""args": ["--", "npx", "-y", "your-server"]"#));
    lines.push(Line::default());
    let place = format!(
        "The files of this demo stay in {} until you remove them.",
        stage.folder.path().display()
    );
    lines.extend(paragraph(Ink::Quiet, &place, 2, width));
    lines
}

/// Where the user stands.
struct Surroundings {
    path: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Surroundings {
    fn ours() -> Self {
        let path = env::var_os("PATH")
            .map(|path| env::split_paths(&path).collect())
            .unwrap_or_default();
        Self {
            path,
            folder: env::current_dir().ok(),
        }
    }
}

/// How the user can call this program: by its name if that finds it, else by a path.
fn spoken(program: &Path, surroundings: &Surroundings) -> String {
    let own = program.canonicalize().ok();
    let found = surroundings
        .path
        .iter()
        .map(|folder| folder.join("candor"))
        .find(|file| file.is_file());
    if own.is_some() && found.and_then(|file| file.canonicalize().ok()) == own {
        return "candor".to_owned();
    }
    // From the root every path is "below"; the whole one is plainer.
    let folder = surroundings
        .folder
        .as_deref()
        .filter(|folder| folder.parent().is_some());
    let relative = folder.and_then(|folder| program.strip_prefix(folder).ok());
    match relative {
        Some(below) => quoted(&Path::new(".").join(below).to_string_lossy()),
        None => quoted(&program.to_string_lossy()),
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%=".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn short(id: &str) -> &str {
    let from = id.len().saturating_sub(SHORT);
    id.get(from..).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_would_cut_them() {
        for (word, expected) in [
            ("/srv/a-b_c.d", "/srv/a-b_c.d"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn the_program_is_named_as_it_can_be_called_from_here() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for place in ["bin", "other"] {
            fs::create_dir(root.join(place)).unwrap();
            fs::write(root.join(place).join("candor"), place).unwrap();
        }
        let program = root.join("bin/candor");
        let from = |path: &[&str], folder: &Path| {
            let path = path.iter().map(|place| root.join(place)).collect();
            spoken(
                &program,
                &Surroundings {
                    path,
                    folder: Some(folder.to_owned()),
                },
            )
        };
        assert_eq!(from(&["bin", "other"], &root), "candor");
        assert_eq!(
            from(&["other", "bin"], &root),
            "./bin/candor",
            "another candor comes first"
        );
        assert_eq!(from(&[], &root.join("bin")), "./candor");
        assert_eq!(from(&[], Path::new("/")), program.to_string_lossy());
    }

    #[test]
    fn ids_are_shown_by_their_end() {
        assert_eq!(short("01a22c95-e520-7438-9b1c-910b1144fd4f"), "1144fd4f");
        assert_eq!(short("abc"), "abc");
    }
}
