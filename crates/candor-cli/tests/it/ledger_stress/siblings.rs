//! Eight servers, each behind a Candor of its own, and one file for all.

use std::{
    collections::HashSet,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::stage::{Stage, UNCLASSIFIED, WRITE};

const SIBLINGS: usize = 8;
const CALLS: usize = 200;

#[test]
fn eight_siblings_share_one_file() {
    let stage = Stage::new();
    let longest: Vec<Duration> = thread::scope(|scope| {
        let siblings: Vec<_> = (0..SIBLINGS)
            .map(|_| {
                scope.spawn(|| {
                    let mut session = stage.start(&[]);
                    let mut longest = Duration::ZERO;
                    for number in 0..CALLS {
                        let begun = Instant::now();
                        // Whoever waits longer than 2 s for the file is refused, or goes through unrecorded.
                        session
                            .ask(if number % 2 == 0 { WRITE } else { UNCLASSIFIED })
                            .assert_recorded();
                        longest = longest.max(begun.elapsed());
                    }
                    assert_eq!(session.close(), "", "nothing had to be said");
                    longest
                })
            })
            .collect();
        siblings
            .into_iter()
            .map(|sibling| sibling.join().unwrap())
            .collect()
    });
    println!("the longest wait of each: {longest:?}");

    let calls = stage.calls();
    assert_eq!(calls.len(), SIBLINGS * CALLS, "every call is there");
    let ids: HashSet<_> = calls.iter().map(|call| call["operationId"].as_str()).collect();
    assert_eq!(ids.len(), calls.len(), "and there once");
    assert!(calls.iter().all(|call| call["outcome"].is_string()), "and ended");
    assert_eq!(stage.truly(WRITE) + stage.truly(UNCLASSIFIED), calls.len());
    let output = stage.look(&["ledger", "verify", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let chains: Vec<_> = found["chains"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chain| chain["entries"].as_u64())
        .collect();
    assert_eq!(chains, [Some(2 * CALLS as u64); SIBLINGS]);
}
