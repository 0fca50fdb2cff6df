//! Plays a subject: opens it, lists its tools, makes its calls, and ends it, bare or through Candor.

use std::{collections::BTreeMap, process::Command};

use candor_fixtures::script::{Era, REVISIONS};
use serde_json::{Value, json};

use crate::{
    harness::{
        conversation::Opening,
        frame,
        host::Host,
        scene::{Scene, Way, candor},
        spec::SpecCheck,
        transcript::Transcript,
    },
    isolation,
    subject::Subject,
};

/// What one run of a subject gave.
pub(crate) struct Played {
    /// Every page of `tools/list`, as it came.
    pub(crate) pages: Vec<String>,
    /// The answers to other methods, in their order.
    pub(crate) others: Vec<String>,
    /// The answer to each call, by its name.
    pub(crate) answers: BTreeMap<String, String>,
    transcript: Option<Transcript>,
    /// What the ledger holds, where Candor stood between.
    pub(crate) ledger: Vec<Value>,
}

impl Played {
    /// All that was said. Only a run through Candor has it.
    pub(crate) fn transcript(&self) -> &Transcript {
        self.transcript.as_ref().expect("a run through Candor")
    }
}

/// Methods that some servers know and others don't.
const OTHERS: [&str; 4] = [
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "x-unknown",
];

/// A host that can do nothing for its server: server-everything asks such as can for their roots, and lives on for a
/// minute after its stdin ended if nobody answers.
pub(crate) fn opening(era: Era) -> Opening {
    Opening {
        capabilities: json!({}),
        ..Opening::newest(era)
    }
}

/// Every page of `tools/list`.
pub(crate) fn pages(opening: &Opening, host: &mut Host) -> Vec<String> {
    opening.list(host);
    let pages = (1..).map(|page| {
        let id = format!("\"list {page}\"");
        let is_page = |line: &&String| frame::id(line) == Some(&id) && frame::method(line).is_none();
        host.received.iter().find(is_page).cloned()
    });
    pages.map_while(|page| page).collect()
}

/// Makes all calls of the subject. Those that Candor must refuse are made through Candor only, and those that it mends
/// are made bare as they should reach the server.
pub(crate) fn calls(subject: &Subject, way: Way) -> Played {
    subject.lay();
    let scene = Scene::with_server(&subject.command());
    let opening = opening(Era::Legacy);
    let mut host = scene.start(way);
    opening.open(&mut host);
    let opened = frame::value(&host.response_to("\"open\""));
    let pages = pages(&opening, &mut host);
    let ask = |method: &&str| host.ask(&opening.request(&format!("\"{method}\""), method, json!({})));
    let others = match subject.discover.as_str() {
        // What one unknown method does to these is looked at elsewhere.
        "dies" => Vec::new(),
        _ => OTHERS.iter().map(ask).collect(),
    };
    let mut answers = BTreeMap::new();
    let mut call = |name: String, tool: &str, arguments: &Value| {
        let answer = host.ask(&opening.call(&format!("\"{name}\""), tool, arguments));
        answers.insert(name, answer);
    };
    for (at, repaired) in subject.repaired.iter().enumerate() {
        let arguments = match way {
            Way::Bare => &repaired.reaches,
            Way::Through => &repaired.arguments,
        };
        call(format!("repaired {at}"), &repaired.tool, arguments);
    }
    if way == Way::Through {
        for (at, bad) in subject.bad.iter().enumerate() {
            call(format!("bad {at}"), &bad.tool, &bad.arguments);
        }
    }
    for (name, reaching) in subject.calls() {
        call(name, &reaching.tool, &reaching.arguments);
    }
    let mut played = Played {
        pages,
        others,
        answers,
        transcript: None,
        ledger: Vec::new(),
    };
    match way {
        // Some do not end by themselves, which is looked at elsewhere.
        Way::Bare => {
            host.kill();
            isolation::end_all(&subject.folder());
        }
        Way::Through => {
            let transcript = scene.end(way, host);
            // Behind a tee, which a signal may end before the server: what is started by a starter must go too.
            isolation::assert_none_left(&subject.folder());
            for line in &transcript.host_received {
                let is_message = frame::method(line).is_some() || frame::id(line).is_some();
                assert!(is_message, "{}: noise came through: {line}", subject.name);
            }
            let negotiated = &opened["result"]["protocolVersion"];
            let revision = REVISIONS.into_iter().find(|known| negotiated == known).unwrap();
            if let Some(spec) = SpecCheck::of(revision) {
                spec.check(&transcript);
            }
            secrets_are_kept(subject, &scene, &transcript);
            played.transcript = Some(transcript);
            played.ledger = scene.calls();
        }
    }
    played
}

/// What the server was told in confidence is neither in the ledger's files nor on stderr.
fn secrets_are_kept(subject: &Subject, scene: &Scene, transcript: &Transcript) {
    let ledger = scene.ledger();
    let wal = ledger.with_extension("sqlite-wal");
    let mut written = std::fs::read(&ledger).unwrap();
    written.extend(std::fs::read(wal).unwrap_or_default());
    let is_written = |text: &str| written.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(is_written("tool"), "the ledger can't be read as text");
    for secret in &subject.secrets {
        assert!(!is_written(secret), "{}: {secret} is in the ledger", subject.name);
        assert!(
            !transcript.errors.contains(secret),
            "{}: {secret} is on stderr",
            subject.name
        );
    }
}

/// Opens the subject through Candor, with nothing else between, closes, and gives the code for the report. Nothing of
/// the server may be left then.
pub(crate) fn end(subject: &Subject) -> String {
    subject.lay();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(candor());
    command.arg("--ledger").arg(folder.path().join("ledger.sqlite"));
    command
        .arg("--")
        .args(subject.command())
        .current_dir(folder.path());
    let mut host = Host::start(command);
    let opening = opening(Era::Legacy);
    opening.open(&mut host);
    opening.list(&mut host);
    let running = isolation::processes_of(&subject.folder());
    assert!(
        !running.is_empty() || cfg!(not(target_os = "linux")),
        "the server is not seen while it runs, so its end would not be either"
    );
    let ended = host.close();
    assert_eq!(
        ended.code,
        Some(subject.exit),
        "{}: exit code\n{}",
        subject.name,
        ended.errors
    );
    isolation::assert_none_left(&subject.folder());
    match subject.exit {
        143 => "143, by SIGTERM".to_owned(),
        137 => "137, by SIGKILL".to_owned(),
        code => code.to_string(),
    }
}
