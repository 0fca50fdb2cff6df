//! For tests: a ledger with fixed ids and times, written by the core's own hand.

use std::path::PathBuf;
use std::time::Duration;

use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::{MappedReading, Reading};
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::judgment::ending::{Ending, Scene, Voice};
use candor_core::judgment::finding::{Finding, FindingCode};
use candor_core::judgment::how::How;
use candor_core::judgment::judge::{judge, judge_late, judge_looked};
use candor_core::names::{OperationId, ServerName, ToolName, UnixMillis};
use candor_core::reading::result::ResultReading;
use candor_core::record::bodies::{self, IntentFacts, VerdictFacts};
use candor_core::record::entry::Concluded;
use candor_core::recovery::read_back::{Look, Shown};
use candor_ledger::{Entry, Ledger, OpenOptions, Phase, Reader};
use serde_json::json;
use uuid::Uuid;

/// 2026-11-30T13:13:00Z, when everything begins.
pub(crate) const BEGIN: i64 = 1_796_044_380_000;

/// A ledger in a folder of its own, and its writer while that lives.
pub(crate) struct Written {
    folder: tempfile::TempDir,
    ledger: Option<Ledger>,
    instance: Uuid,
    runtime: tokio::runtime::Runtime,
}

impl Written {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Long, so that a busy machine does not decide a test; everything kept, so that fixed dates stay.
        let options = OpenOptions {
            patience: Duration::from_secs(30),
            retention: None,
            ..OpenOptions::default()
        };
        let ledger = Ledger::open(&folder.path().join("ledger.sqlite"), options)
            .unwrap()
            .ledger;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            folder,
            instance: ledger.instance(),
            ledger: Some(ledger),
            runtime,
        }
    }

    pub(crate) fn place(&self) -> PathBuf {
        self.folder.path().join("ledger.sqlite")
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.place()).unwrap()
    }

    /// Ends the instance, as a program that is done.
    pub(crate) fn end(&mut self) {
        self.runtime
            .block_on(self.ledger.take().unwrap().close())
            .unwrap();
    }

    pub(crate) fn append(&self, entry: Entry) {
        self.append_all(vec![entry]);
    }

    /// As one write.
    pub(crate) fn append_all(&self, entries: Vec<Entry>) {
        self.runtime
            .block_on(self.ledger.as_ref().unwrap().append(entries))
            .unwrap();
    }

    pub(crate) fn instance(&self) -> Uuid {
        self.instance
    }

    /// A text without what differs from run to run.
    pub(crate) fn fixed(&self, text: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let text = text
            .replace(folder.to_str().unwrap(), "FOLDER")
            .replace(self.folder.path().to_str().unwrap(), "FOLDER");
        let text = text.replace(&self.instance.to_string(), "INSTANCE-OF-36-CHARACTERS-IN-A-UUID0");
        text.replace(&OperationId::new(self.instance).short(), "INSTANCE")
    }

    /// Records an intent of the call with this number, so many milliseconds after the beginning.
    pub(crate) fn intent(&self, number: u128, class: EffectClass, tool: &str, after: i64) -> Scene {
        let scene = scene(number, class, tool);
        let facts = IntentFacts {
            key: None,
            principal: None,
            arguments: Some(r#"{"room":12,"token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}"#),
            class: (number != 1).then(|| class.to_string()),
            schema: Some("ab".repeat(32)),
            revision: "2025-11-25",
            host: Some("a-host"),
            request_id: "\"7\"",
            deadline_ms: 55_000,
            disclosed: json!({
                "coerced": [{ "path": "/room", "from": "12", "to": 12 }],
                "notices": ["/colour: unknown name"],
                "findings": [Finding::new(FindingCode::NotChecked, "/items: more values than are checked")],
            }),
            // The first call is one of which nobody said anything.
            contract: match number {
                1 => vec![],
                _ => vec![
                    (format!("effect = {class}"), "candor.toml:4".into()),
                    ("outcome read from /status".into(), "candor.toml:6".into()),
                    ("deadline = 55000 ms".into(), "command line".into()),
                ],
            },
        };
        self.open(scene, after, &facts)
    }

    /// Records a lost answer of a call whose contract says how to look again.
    pub(crate) fn looked_at(&self, number: u128) {
        let facts = IntentFacts {
            arguments: None,
            class: Some("write".into()),
            schema: None,
            revision: "2025-11-25",
            host: None,
            request_id: "9",
            deadline_ms: 55_000,
            disclosed: json!({}),
            contract: vec![(
                "read_back by list_bookings: applied if answer.n == 1".into(),
                "candor.toml:9".into(),
            )],
            key: None,
            principal: None,
        };
        let scene = self.open(scene(number, EffectClass::Write, "cancel_booking"), 8_000, &facts);
        self.ended(&scene, &Ending::Timeout, 60_000, &VerdictFacts::default());
    }

    /// Records a call that was sent twice, lost, and settled by a look.
    pub(crate) fn sent_twice_and_seen(&self, number: u128) {
        let mut scene = self.intent(number, EffectClass::Idempotent, "book_room", 0);
        scene.attempts = 2;
        let second = json!({ "v": bodies::VERSION, "type": "intent", "attempt": 2 }).to_string();
        self.append(entry(
            &scene,
            Phase::Intent,
            UnixMillis(BEGIN + 700),
            None,
            second,
        ));
        let told = VerdictFacts {
            block: Some("UNKNOWN: book_room was sent twice."),
            ..VerdictFacts::default()
        };
        self.ended(&scene, &Ending::Timeout, 56_000, &told);
        let look = Look {
            tool: "list_bookings".into(),
            shown: Shown::Applied,
            why: String::new(),
            times: 2,
            since_sent: Duration::from_millis(55_800),
            arguments: Some(json!({ "room": 12, "token": "ghp_0123456789abcdefghijABCDEFGHIJ012345" })),
            answer: Some(r#"{"content":[],"structuredContent":{"rooms":[12]}}"#.into()),
        };
        let at = UnixMillis(BEGIN + 56_500);
        let judgment = judge_looked(&scene, &Ending::Timeout, look);
        let body = bodies::verdict(&scene, at, &judgment, &VerdictFacts::default());
        let concluded = Some(Concluded::of(&judgment.verdict));
        self.append(entry(&scene, Phase::Amendment, at, concluded, body));
    }

    fn open(&self, scene: Scene, after: i64, facts: &IntentFacts<'_>) -> Scene {
        let at = UnixMillis(BEGIN + after);
        self.append(entry(
            &scene,
            Phase::Intent,
            at,
            None,
            bodies::intent(&scene, at, facts),
        ));
        scene
    }

    /// Records how it ended.
    pub(crate) fn ended(&self, scene: &Scene, ending: &Ending, after: i64, facts: &VerdictFacts<'_>) {
        let (at, judgment) = (UnixMillis(BEGIN + after), judge(scene, ending));
        let body = bodies::verdict(scene, at, &judgment, facts);
        self.append(entry(
            scene,
            Phase::Verdict,
            at,
            Some(Concluded::of(&judgment.verdict)),
            body,
        ));
    }

    /// Records an answer that came too late.
    pub(crate) fn late(&self, scene: &Scene, ending: &Ending, after: i64, facts: &VerdictFacts<'_>) {
        let (at, judgment) = (UnixMillis(BEGIN + after), judge_late(scene, ending));
        let body = bodies::verdict(scene, at, &judgment, facts);
        self.append(entry(
            scene,
            Phase::Amendment,
            at,
            Some(Concluded::of(&judgment.verdict)),
            body,
        ));
    }

    /// One call of each kind that lists and pages must tell apart. Two are still open.
    pub(crate) fn every_kind(&self) {
        let reported = self.intent(1, EffectClass::Write, "book_room", 0);
        self.ended(
            &reported,
            &replied(How::Ok, None),
            12,
            &VerdictFacts {
                reply: Some(REPLY),
                ..VerdictFacts::default()
            },
        );
        let done = self.intent(2, EffectClass::Write, "book_room", 1_000);
        self.ended(
            &done,
            &replied(How::Ok, Some(Reading::Completed)),
            3_100,
            &VerdictFacts {
                reply: Some(REPLY),
                ..VerdictFacts::default()
            },
        );
        let taken = self.intent(3, EffectClass::Write, "book_room", 2_000);
        let block = "NOT DONE: server \"rooms\" refused book_room.\nThe server's own answer follows.";
        self.ended(
            &taken,
            &replied(How::Ok, Some(Reading::Rejected)),
            2_040,
            &VerdictFacts {
                block: Some(block),
                reply: Some(REPLY),
                ..VerdictFacts::default()
            },
        );
        let silent = self.intent(4, EffectClass::Write, "book_room", 3_000);
        self.ended(
            &silent,
            &Ending::Timeout,
            58_000,
            &VerdictFacts {
                block: Some("UNKNOWN: book_room was sent once.\nIt may be done."),
                ..VerdictFacts::default()
            },
        );
        let amended = self.intent(5, EffectClass::Write, "book_room", 4_000);
        self.ended(
            &amended,
            &Ending::Timeout,
            59_000,
            &VerdictFacts {
                block: Some("UNKNOWN: book_room was sent once."),
                ..VerdictFacts::default()
            },
        );
        self.late(
            &amended,
            &replied(How::Ok, Some(Reading::Completed)),
            70_000,
            &VerdictFacts {
                reply: Some(REPLY),
                ..VerdictFacts::default()
            },
        );
        let hostile = self.intent(6, EffectClass::Write, "x\u{1b}[2J\ny", 5_000);
        self.ended(
            &hostile,
            &Ending::UnknownTool { nearest: vec![] },
            5_000,
            &VerdictFacts::default(),
        );
        self.intent(7, EffectClass::Write, "book_room", 6_000);
        self.intent(8, EffectClass::Read, "list_rooms", 7_000);
    }
}

const REPLY: &str = r#"{"content":[{"type":"text","text":"{\"status\":\"booked\"}"},{"type":"image","data":"AA==","mimeType":"image/png"}],"structuredContent":{"status":"booked"}}"#;

/// A reply as read by a mapping, or by none.
pub(crate) fn replied(how: How, reading: Option<Reading>) -> Ending {
    let mapped = reading.map(|reading| MappedReading {
        reading,
        value: Some("taken".into()),
        code: (reading == Reading::Rejected).then(|| "ROOM_UNAVAILABLE".into()),
        message: None,
        suggestion: None,
        retry_after: None,
        reference: None,
        parts: vec![],
    });
    Ending::Replied(Box::new(ResultReading {
        how,
        mapped,
        lowered: None,
        sign: None,
        reference: None,
        findings: vec![],
        shape: vec![],
        shape_total: 0,
        first_text: None,
        count_is_zero: false,
        believed: false,
        why: None,
    }))
}

/// The id of the call with this number.
pub(crate) fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + 0x1111_1111 * number)
}

fn scene(number: u128, class: EffectClass, tool: &str) -> Scene {
    Scene {
        operation: OperationId::new(id(number)),
        server: ServerName::from("rooms"),
        tool: ToolName::from(tool),
        class,
        claims_read_only: false,
        attempts: 1,
        elapsed: Duration::from_secs(55),
        strict_shape: false,
        recorded: true,
        voice: Voice::Gateway,
        secrets: KnownSecrets::default(),
    }
}

fn entry(scene: &Scene, phase: Phase, at: UnixMillis, concluded: Option<Concluded>, body: String) -> Entry {
    Entry {
        operation: scene.operation.uuid(),
        phase,
        at_ms: at.0,
        server: scene.server.to_string(),
        tool: scene.tool.to_string(),
        outcome: concluded.map(|columns| columns.outcome.to_string()),
        effect: concluded.map(|columns| columns.effect.to_string()),
        evidence: concluded.map(|columns| columns.evidence.to_string()),
        unsettled: concluded.is_some_and(|columns| columns.unsettled),
        body: body.into_bytes(),
    }
}
