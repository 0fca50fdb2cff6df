//! One cell, from the first start to what is left in the end.

use serde_json::{Value, json};

use crate::{
    backend,
    class::{self, Class},
    conversation::Opening,
    fault::Fault,
    frame,
    host::Host,
    laws,
    seen::{Claim, Seen},
    stage::{SCRIPT, Stage, verdict, wait_until},
};

/// The call's id, and that of the one that lets the rest of it happen.
const CALL: &str = "7";
const RELEASE: &str = "8";

/// Plays one cell: the call with its fault; Candor started again, with the backend well; then what all three say.
pub(crate) fn play(fault: Fault, class: Class) -> Seen {
    let stage = Stage::new("fixture", &class.config(fault));
    stage.play(&backend::with(fault, class));
    let mut seen = Seen::default();
    befall(&stage, fault, class, &mut seen);
    stage.play(&backend::well());
    settle(&stage, SCRIPT, class);
    look(&stage, class, &mut seen);
    seen
}

/// The first start: the call, what goes wrong with it, and what its caller was told.
fn befall(stage: &Stage, fault: Fault, class: Class, seen: &mut Seen) {
    if fault == Fault::LedgerShut {
        std::os::unix::fs::symlink("/dev/null", stage.ledger("")).unwrap();
    }
    let deadline = match (fault.times_out(), class.reads_back()) {
        (false, _) => "20s",
        (true, false) => "2s",
        // Half of it is kept back for looking.
        (true, true) => "4s",
    };
    let restart: &[&str] = if fault == Fault::GoneBefore {
        &["--no-restart"]
    } else {
        &[]
    };
    let options = [&["--timeout", deadline], restart].concat();
    let (mut host, opening) = stage.start(SCRIPT, &options, fault.stop());
    match fault {
        Fault::GoneBefore => host.wait_until_server_is_gone(),
        Fault::PipeFull => {
            let pad = "x".repeat(1 << 20);
            let filler = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": { "_meta": { "pad": pad } } });
            host.send(&filler.to_string());
        }
        _ => {}
    }
    host.send(&opening.call(CALL, class.tool(), &class.arguments()));
    if fault == Fault::LedgerGone {
        wait_until("the call to come", || stage.fact(class.tool()).received > 0);
        carry_ledger(stage, "", ".away");
        release(&mut host, &opening);
    }
    if fault.stop().is_some() {
        let can_be_stopped = cfg!(debug_assertions);
        assert!(can_be_stopped, "only a debug build ends at a named stop");
        stage.wait_until_all_are_gone();
    } else {
        let answer = host.response_to(CALL);
        seen.then = stage.fact(class.tool());
        heard(&answer, seen);
        if matches!(fault, Fault::LateAnswer | Fault::LateAccept) {
            // What comes too late is in the ledger before the host goes.
            let before = stage.operations(class.tool());
            release(&mut host, &opening);
            if class != Class::Read {
                wait_until("the late answer to be recorded", || {
                    stage.operations(class.tool()) != before
                });
            }
        }
    }
    let ended = host.close();
    if let Some(answer) = ended.received.iter().find(|line| frame::id(line) == Some(CALL))
        && seen.told.is_none()
    {
        seen.then = stage.fact(class.tool());
        heard(answer, seen);
    }
    stage.wait_until_all_are_gone();
    match fault {
        Fault::LedgerShut => std::fs::remove_file(stage.ledger("")).unwrap(),
        Fault::LedgerGone => carry_ledger(stage, ".away", ""),
        _ => {}
    }
}

fn release(host: &mut Host, opening: &Opening) {
    host.ask(&opening.call(RELEASE, "release", &json!({})));
}

fn heard(answer: &str, seen: &mut Seen) {
    let verdict = verdict(answer);
    seen.told = Some(Claim::of(&verdict["verdict"]));
    let text = verdict["text"].as_str().unwrap_or_default();
    seen.opening = text.split_once(':').map_or("", |(opening, _)| opening).to_owned();
}

/// Moves the ledger's files.
fn carry_ledger(stage: &Stage, from: &str, to: &str) {
    for file in ["", "-wal", "-shm"] {
        let (from, to) = (
            stage.ledger(&format!("{from}{file}")),
            stage.ledger(&format!("{to}{file}")),
        );
        if from.exists() {
            std::fs::rename(from, to).unwrap();
        }
    }
}

/// The second start, with the backend well: every intent gets its end, and what can be looked at is settled.
fn settle(stage: &Stage, script: &str, class: Class) {
    let (host, _) = stage.start(script, &[], None);
    wait_until("every call in the ledger to have an end", || {
        stage
            .operations(class.tool())
            .iter()
            .all(|call| !call["outcome"].is_null())
    });
    if class.reads_back() {
        // Whether it was settled is for the laws to say.
        let start = std::time::Instant::now();
        while stage.operations(class.tool()).iter().any(is_open) && start.elapsed() < PATIENCE {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    host.close();
    stage.wait_until_all_are_gone();
}

/// How long settling may take before a cell is taken to stay as it is.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(15);

fn is_open(call: &Value) -> bool {
    call["unsettled"] == true || call["effect"] == "unknown"
}

/// What the ledger and the backend say in the end.
fn look(stage: &Stage, class: Class, seen: &mut Seen) {
    seen.truth = stage.fact(class.tool());
    let operations = stage.operations(class.tool());
    seen.operations = operations.len();
    if let Some(call) = operations.first() {
        seen.unsettled = call["unsettled"] == true;
        seen.recorded = call["outcome"].is_string().then(|| Claim::of(call));
        let id = call["operationId"].as_str().unwrap();
        let shown = stage.look(&["show", id, "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
        let records = shown["records"].as_array().unwrap();
        let verdicts = records.iter().filter(|record| record["outcome"].is_string());
        seen.verdicts = verdicts.map(Claim::of).collect();
    }
    let verified = stage.look(&["ledger", "verify"]);
    if !verified.status.success() {
        seen.damage = Some(String::from_utf8_lossy(&verified.stdout).into_owned());
    }
}

/// The rooms of the demo behind their own contract and a clause to look again, killed at this stop. Gives the laws that break.
pub(crate) fn play_rooms(stop: &'static str) -> Vec<String> {
    let contract = include_str!("../../src/demo/contract.toml");
    let looked = class::read_back("rooms", "made", Fault::Nothing);
    let reads = "[servers.rooms.tools.list_bookings]\neffect = \"read\"\n";
    // A day is asked for, as the tool's schema wants it.
    let looked = looked.replace("{ room = \"args.room\" }", "{ date = \"args.date\" }");
    let stage = Stage::new("rooms", &format!("{contract}\n{looked}{reads}"));
    let mut seen = Seen::default();
    let (mut host, opening) = stage.start("rooms", &[], Some(stop));
    let arguments = json!({ "room": "14", "date": "2027-03-01", "from": "14:00", "to": "15:00" });
    host.send(&opening.call(CALL, "book_room", &arguments));
    stage.wait_until_all_are_gone();
    let ended = host.close();
    if let Some(answer) = ended.received.iter().find(|line| frame::id(line) == Some(CALL)) {
        heard(answer, &mut seen);
    }
    settle(&stage, "rooms", Class::ReadBack);
    look(&stage, Class::ReadBack, &mut seen);
    let settled = seen.verdicts.clone();
    // What is settled is not looked for again.
    settle(&stage, "rooms", Class::ReadBack);
    look(&stage, Class::ReadBack, &mut seen);
    // Its script writes one line a call: what was booked came.
    seen.truth.received = seen.truth.done;
    seen.then = seen.truth;
    let mut broken = laws::broken(Class::ReadBack, &seen);
    let agrees = match &seen.recorded {
        None => seen.truth.done == 0,
        Some(recorded) => (recorded.effect == "applied") == (seen.truth.done == 1),
    };
    if seen.verdicts != settled {
        broken.push(format!("one more start makes of {settled:?} {:?}", seen.verdicts));
    }
    if !agrees {
        broken.push(format!(
            "the ledger says {:?}, and the backend {:?}",
            seen.recorded, seen.truth
        ));
    }
    broken
}
