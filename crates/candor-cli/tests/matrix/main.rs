//! The fault matrix: everything that can go wrong with a call, against every class of call. For each the claim, as the caller
//! got it and as the ledger has it in the end, is held against the truth that the backend wrote. `docs/fault-matrix.md` is
//! written by this test (`UPDATE=1`) and checked by it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod backend;
mod cell;
mod class;
#[path = "../it/harness/conversation.rs"]
mod conversation;
mod fault;
#[path = "../it/harness/frame.rs"]
mod frame;
#[path = "../it/harness/host.rs"]
#[expect(dead_code, reason = "the other test program uses the rest of it")]
mod host;
mod laws;
mod page;
mod seen;
mod stage;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use class::Class;
use fault::Fault;
use seen::Seen;

/// Cells that are played beside each other: most of each is waiting.
const AT_A_TIME: usize = 6;

/// Plays every cell; gives what was seen in the order of the table, or why it could not be played.
fn play_all(cells: &[(Fault, Class)]) -> Vec<Result<Seen, String>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; cells.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(&(fault, class)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let place = cells.iter().position(|cell| *cell == (fault, class)).unwrap();
                    let played = std::panic::catch_unwind(|| cell::play(fault, class));
                    let played = played.map_err(|why| {
                        let why = why.downcast_ref::<String>().map(String::as_str);
                        format!("could not be played: {}", why.unwrap_or("it panicked"))
                    });
                    results.lock().unwrap()[place] = Some(played);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    results.into_iter().map(Option::unwrap).collect()
}

/// `CANDOR_MATRIX` plays only the rows and columns whose names hold this text, and then checks no page: to look into one of them.
fn wanted() -> (Vec<(Fault, Class)>, bool) {
    let only = std::env::var("CANDOR_MATRIX").ok();
    let cells = Fault::ALL
        .iter()
        .flat_map(|fault| Class::ALL.iter().map(|class| (*fault, *class)))
        .filter(|(fault, class)| {
            let name = format!("{} × {}", fault.name(), class.name());
            only.as_ref().is_none_or(|only| name.contains(only.as_str()))
        });
    (cells.collect(), only.is_none())
}

#[test]
fn no_cell_claims_more_than_the_truth() {
    let (cells, whole) = wanted();
    let played = play_all(&cells);
    let mut broken = Vec::new();
    for ((fault, class), result) in cells.iter().zip(&played) {
        let faults = match result {
            Ok(seen) => laws::broken(*class, seen),
            Err(why) => vec![why.clone()],
        };
        let place = |law: &String| format!("{} × {}: {law}", fault.name(), class.name());
        broken.extend(faults.iter().map(place));
        if let (Ok(seen), false) = (result, whole) {
            eprintln!("{} × {}: {seen:#?}", fault.name(), class.name());
        }
    }
    assert!(
        broken.is_empty(),
        "{} faults in {} cells:\n{}",
        broken.len(),
        cells.len(),
        broken.join("\n")
    );
    if whole {
        let seen: Vec<Seen> = played.into_iter().map(Result::unwrap).collect();
        page::check(&seen);
    }
}

#[test]
fn rooms_killed_at_every_stop_end_with_ledger_and_backend_in_agreement() {
    let broken: Vec<String> = fault::STOPS
        .iter()
        .flat_map(|stop| {
            cell::play_rooms(stop)
                .into_iter()
                .map(move |law| format!("killed at {stop}: {law}"))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
