//! A process of its own: this test executable, started again with a role in its environment.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use candor_ledger::Ledger;
use uuid::Uuid;

use crate::support::{intent, keep_all, lost, verdict};

const ROLE: &str = "CANDOR_LEDGER_TEST_ROLE";
const PLACE: &str = "CANDOR_LEDGER_TEST_PLACE";

pub(crate) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn start(role: &str, place: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::act", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Starts one and waits until it says so.
    pub(crate) fn start_and_hear(role: &str, place: &Path, word: &str) -> Self {
        let mut process = Self::start(role, place);
        process.hear(word).unwrap();
        process
    }

    /// The rest of the next line that starts with this word.
    pub(crate) fn hear(&mut self, word: &str) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(rest) = line.strip_prefix(word) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// As `kill -9`, then everything it had said before.
    pub(crate) fn kill(mut self, word: &str) -> Vec<String> {
        self.child.kill().unwrap();
        let mut heard = Vec::new();
        while let Some(rest) = self.hear(word) {
            heard.push(rest);
        }
        self.child.wait().unwrap();
        heard
    }

    /// Closes its input, which it takes as the word to go on.
    pub(crate) fn start_off(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Lets it go on, and waits for its end.
    pub(crate) fn let_go(mut self, word: &str) -> String {
        self.start_off();
        let heard = self.hear(word).unwrap_or_default();
        assert!(self.child.wait().unwrap().success());
        heard
    }
}

#[test]
fn act() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    println!();
    if let Some(round) = role.strip_prefix("kill ") {
        return crate::kills::write(&place, round.parse().unwrap());
    }
    match role.as_str() {
        "load" => load(&place),
        "leave" => leave(&place),
        "sibling" => sibling(&place),
        "recover" => recover(&place),
        "lock" => lock(&place),
        "claim and die" => claim_and_die(&place),
        "race" => race(&place),
        other => panic!("no role {other}"),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap()
}

fn until_input_ends() {
    std::io::stdin().lines().for_each(drop);
}

/// Writes without end, eight at a time, and says after each receipt what it was given for.
fn load(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    runtime().block_on(async {
        let mut callers = Vec::new();
        for _ in 0..8 {
            let ledger = ledger.clone();
            callers.push(tokio::spawn(async move {
                for _ in 0..1_000_000 {
                    let operation = Uuid::now_v7();
                    ledger.append(vec![intent(operation)]).await.unwrap();
                    println!("ack intent {operation}");
                    ledger.append(vec![verdict(operation, "reported")]).await.unwrap();
                    println!("ack verdict {operation}");
                }
            }));
        }
        for caller in callers {
            caller.await.unwrap();
        }
    });
}

/// Leaves five open intents and ends without closing.
fn leave(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    runtime().block_on(async {
        for _ in 0..5 {
            ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
        }
    });
    std::process::abort();
}

/// Holds one open intent for as long as its input is open.
fn sibling(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    let operation = Uuid::now_v7();
    runtime()
        .block_on(ledger.append(vec![intent(operation)]))
        .unwrap();
    println!("open {operation}");
    until_input_ends();
    let receipt = runtime()
        .block_on(ledger.append(vec![verdict(operation, "reported")]))
        .unwrap();
    println!("receipt {}", receipt.sequence);
    runtime().block_on(ledger.close()).unwrap();
}

/// Recovers when its input ends, and says how many it judged.
fn recover(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    println!("ready");
    until_input_ends();
    let recovered = ledger.recover(lost).unwrap();
    println!("judged {}", recovered.count);
    runtime().block_on(ledger.close()).unwrap();
}

/// Claims a key, and is killed before anything is sent under it.
fn claim_and_die(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    let operation = Uuid::now_v7();
    runtime()
        .block_on(ledger.append_keyed(vec![intent(operation)], crate::keys::claim_of(0)))
        .unwrap();
    println!("claimed {operation}");
    until_input_ends();
}

/// Claims the same keys as another, one after the other, and says which it got.
fn race(place: &Path) {
    let ledger = Ledger::open(place, keep_all()).unwrap().ledger;
    println!("ready");
    until_input_ends();
    let won = runtime().block_on(crate::keys::race(&ledger));
    println!("won {won}");
    runtime().block_on(ledger.close()).unwrap();
}

/// Holds the file's write lock for as long as its input is open.
fn lock(place: &Path) {
    let connection = rusqlite::Connection::open(place).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    println!("locked");
    until_input_ends();
    connection.execute_batch("ROLLBACK").unwrap();
    println!("unlocked");
}
