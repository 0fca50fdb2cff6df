//! What a config would become: computed and checked before anything is written.

use candor_core::wire::encode::Edits;

use super::document::Document;
use super::edits::{Front, unwrap, wrap};
use super::fault::FileFault;
use super::file::ConfigFile;
use super::program::is_candor;
use super::servers::{Server, Standing, servers};

/// A config with some of its servers changed.
#[derive(Debug)]
pub(super) struct Outline {
    /// What it becomes.
    pub(super) new: Document,
    /// The places of the servers that change, in [`servers`].
    pub(super) changed: Vec<usize>,
}

/// Is this server among those asked for? Without names, each is.
pub(super) fn is_wanted(server: &Server<'_>, names: &[String]) -> bool {
    names.is_empty() || names.contains(&server.name)
}

/// The config with Candor before each server asked for that has none yet.
pub(super) fn wrapped(file: &ConfigFile, front: &Front, names: &[String]) -> Result<Outline, FileFault> {
    let old = &file.document;
    let said = Some(front.program.as_str());
    let (mut edits, mut changed) = (Edits::new(), Vec::new());
    for (index, server) in servers(old, said).iter().enumerate() {
        if let Standing::Bare(launch) = &server.standing
            && is_wanted(server, names)
        {
            wrap(old, launch, front, &mut edits);
            changed.push(index);
        }
    }
    let new = file.with_text(edits.apply(&old.text))?;
    // Undone, it must be the old text again: then nothing else was touched.
    let back = without(&new, said, &|index| changed.contains(&index), &|index| {
        had_args(old, said, index)
    });
    let reads = reads_as(old, &new, said, &changed, &front.options);
    if back != old.text || !reads {
        return Err(FileFault::Misread {
            place: file.told.clone(),
        });
    }
    Ok(Outline { new, changed })
}

/// The config without Candor before the servers asked for. `before` is what is known of it before Candor came.
pub(super) fn unwrapped(
    file: &ConfigFile,
    names: &[String],
    before: Option<&Document>,
    said: Option<&str>,
) -> Result<Outline, FileFault> {
    let old = &file.document;
    // What was wrapped before the backup was made was wrapped by hand.
    let by_hand = |name: &str| {
        let earlier = before.map(|before| servers(before, said)).unwrap_or_default();
        earlier
            .iter()
            .any(|server| server.name == name && matches!(server.standing, Standing::Wrapped(_)))
    };
    let all = servers(old, said);
    let changed: Vec<usize> = all
        .iter()
        .enumerate()
        .filter(|(_, server)| matches!(server.standing, Standing::Wrapped(_)) && is_wanted(server, names))
        .filter(|(_, server)| !names.is_empty() || !by_hand(&server.name))
        .map(|(index, _)| index)
        .collect();
    let had = |index: usize| {
        let name = all.get(index).map(|server| server.name.as_str());
        let earlier = before.map(|before| servers(before, said)).unwrap_or_default();
        let earlier = earlier.iter().find(|server| Some(server.name.as_str()) == name);
        !earlier.is_some_and(
            |server| matches!(&server.standing, Standing::Bare(launch) if launch.args_member.is_none()),
        )
    };
    let text = without(old, said, &|index| changed.contains(&index), &had);
    let new = file.with_text(text)?;
    if !reads_as(&new, old, said, &changed, &[]) {
        return Err(FileFault::Misread {
            place: file.told.clone(),
        });
    }
    Ok(Outline { new, changed })
}

fn had_args(document: &Document, said: Option<&str>, index: usize) -> bool {
    match servers(document, said).get(index).map(|server| &server.standing) {
        Some(Standing::Bare(launch)) => launch.args_member.is_some(),
        _ => true,
    }
}

/// The text without Candor before these servers.
fn without(
    document: &Document,
    said: Option<&str>,
    chosen: &dyn Fn(usize) -> bool,
    had_args: &dyn Fn(usize) -> bool,
) -> String {
    let mut edits = Edits::new();
    for (index, server) in servers(document, said).iter().enumerate() {
        if let Standing::Wrapped(wrapped) = &server.standing
            && chosen(index)
        {
            unwrap(document, wrapped, had_args(index), &mut edits);
        }
    }
    edits.apply(&document.text)
}

/// Does `with` say what `bare` says, but for Candor before the changed servers? Options that somebody wrote by hand
/// are not compared (`options` is empty then).
fn reads_as(
    bare: &Document,
    with: &Document,
    said: Option<&str>,
    changed: &[usize],
    options: &[String],
) -> bool {
    let (before, after) = (servers(bare, said), servers(with, said));
    before.len() == after.len()
        && before
            .iter()
            .zip(&after)
            .enumerate()
            .all(|(index, (before, after))| {
                if !changed.contains(&index) {
                    return before.entry.says_the_same(after.entry);
                }
                match (&before.standing, &after.standing) {
                    (Standing::Bare(own), Standing::Wrapped(wrapped)) => {
                        is_candor(wrapped.launch.program, said)
                            && wrapped.program() == own.program
                            && wrapped.args() == own.args
                            && wrapped.launch.env == own.env
                            && wrapped.launch.cwd == own.cwd
                            && (options.is_empty() || wrapped.options() == options)
                    }
                    _ => false,
                }
            })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, ConfigFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        fs::write(&path, text).unwrap();
        let file = ConfigFile::read(&path, "mcp.json".to_owned()).unwrap();
        (folder, file)
    }

    fn front(program: &str) -> Front {
        Front {
            program: program.to_owned(),
            options: Vec::new(),
        }
    }

    #[test]
    fn only_the_servers_asked_for_change_and_a_second_time_changes_nothing() {
        let (_folder, config) =
            file(r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","args":["1"]}}}"#);
        let one = wrapped(&config, &front("candor"), &["b".to_owned()]).unwrap();
        assert_eq!(one.changed, [1]);
        assert!(
            one.new.text.contains(r#""a":{"command":"x"}"#),
            "{}",
            one.new.text
        );
        let (_folder, config) = file(&one.new.text);
        assert_eq!(
            wrapped(&config, &front("candor"), &["b".to_owned()])
                .unwrap()
                .changed,
            [0_usize; 0]
        );
        let both = wrapped(&config, &front("candor"), &[]).unwrap();
        assert_eq!(both.changed, [0]);
    }

    #[test]
    fn odd_forms_are_no_obstacle() {
        for entry in [
            r#"{"command":"x","args":[ ]}"#,
            "{\"command\":\"x\",\"args\":[ // none\n]}",
            r#"{ /* c */ "command" /* d */ : /* e */ "x" /* f */ , }"#,
            "{\n\n  // c\n  \"command\":\n    \"x\"\n}",
            r#"{"args":["--"],"command":"x"}"#,
            r#"{"args":["--","candor"],"command":"/a b/x","env":{"--":"[,]"}}"#,
            r#"{"command":"x","args":["a" /* , */ , /* , */ "b",],}"#,
            r#"{"command":"x" ,"env":null}"#,
            r#"{"command":"é\u00e9\n/x","args":["",""]}"#,
        ] {
            let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
            let (_folder, config) = file(&text);
            let outline = wrapped(&config, &front("candor"), &[]);
            let outline = outline.unwrap_or_else(|fault| panic!("{entry}: {fault}"));
            assert_eq!(outline.changed, [0], "{entry}");
        }
    }

    #[test]
    fn a_program_of_any_name_is_known_again() {
        let (_folder, config) = file(r#"{"mcpServers":{"a":{"command":"x"}}}"#);
        let once = wrapped(&config, &front("/opt/of-today"), &[]).unwrap();
        let (_folder, config) = file(&once.new.text);
        assert!(
            wrapped(&config, &front("/opt/of-today"), &[])
                .unwrap()
                .changed
                .is_empty()
        );
    }

    #[test]
    fn what_was_wrapped_by_hand_stays_unless_it_is_named() {
        let by_hand = r#"{"mcpServers":{"a":{"command":"candor","args":["--","x"]},"b":{"command":"y"}}}"#;
        let (_folder, before) = file(by_hand);
        let after = wrapped(&before, &front("candor"), &[]).unwrap();
        let (_folder, now) = file(&after.new.text);
        let back = unwrapped(&now, &[], Some(&before.document), None).unwrap();
        assert_eq!(back.new.text, by_hand);
        let named = unwrapped(&now, &["a".to_owned()], Some(&before.document), None).unwrap();
        assert_eq!(named.changed, [0]);
        assert_eq!(unwrapped(&now, &[], None, None).unwrap().changed, [0, 1]);
    }
}
