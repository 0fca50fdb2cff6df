//! Idempotency keys: one claim wins, also between processes; what became of the first is seen; nothing unknown is freed.

use candor_ledger::{Appended, Entry, FirstUse, KeyStep, Ledger, Phase, Standing};
use uuid::Uuid;

use crate::child::Process;
use crate::support::{Place, assert_clean, intent, keep_all, lost, verdict};

pub(crate) const RACES: u8 = 50;

pub(crate) fn claim_of(number: u8) -> KeyStep {
    KeyStep::Claim {
        scope: [number; 32],
        arguments: [7; 32],
    }
}

async fn claim(ledger: &Ledger, number: u8) -> Result<Uuid, FirstUse> {
    let operation = Uuid::now_v7();
    match ledger
        .append_keyed(vec![intent(operation)], claim_of(number))
        .await
        .unwrap()
    {
        Appended::Written(_) => Ok(operation),
        Appended::Taken(first) => Err(*first),
    }
}

async fn end(ledger: &Ledger, operation: Uuid, outcome: &str, step: KeyStep) {
    let done = ledger
        .append_keyed(vec![verdict(operation, outcome)], step)
        .await
        .unwrap();
    assert!(matches!(done, Appended::Written(_)));
}

fn keep(number: u8) -> KeyStep {
    KeyStep::Keep {
        scope: [number; 32],
        answer: b"the answer".to_vec(),
    }
}

fn long_ago(place: &Place) {
    place
        .raw()
        .execute("UPDATE idempotency_key SET claimed_ms = 0, kept_ms = 0", [])
        .unwrap();
}

#[tokio::test]
async fn the_second_with_a_key_is_not_written_and_sees_the_first() {
    let place = Place::new();
    let ledger = place.open();
    let operation = claim(&ledger, 1).await.unwrap();
    let running = claim(&ledger, 1).await.unwrap_err();
    assert_eq!(
        (running.operation, running.standing),
        (operation, Standing::Running)
    );
    assert_eq!((running.arguments, running.answer), ([7; 32], None));
    assert_eq!(
        place.count("SELECT count(*) FROM record"),
        1,
        "the second is nowhere"
    );
    claim(&ledger, 2).await.unwrap();

    end(&ledger, operation, "reported", keep(1)).await;
    let ended = claim(&ledger, 1).await.unwrap_err();
    assert_eq!(ended.standing, Standing::Ended);
    assert_eq!(ended.answer.as_deref(), Some(&b"the answer"[..]));
    assert_eq!(ended.last.unwrap().entry.outcome.as_deref(), Some("reported"));
    // A further round of the same operation is no second.
    let round = ledger
        .append_keyed(vec![intent(operation)], claim_of(1))
        .await
        .unwrap();
    assert!(matches!(round, Appended::Written(_)));
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_key_is_free_again_where_its_own_operation_says_so_and_no_other() {
    let place = Place::new();
    let ledger = place.open();
    let operation = claim(&ledger, 1).await.unwrap();
    let free = || KeyStep::Free { scope: [1; 32] };
    let stranger = Uuid::now_v7();
    end(&ledger, stranger, "rejected", free()).await;
    claim(&ledger, 1).await.unwrap_err();
    end(&ledger, operation, "failed", free()).await;
    claim(&ledger, 1).await.unwrap();
}

#[tokio::test]
async fn a_key_goes_a_day_after_its_operation_is_settled_and_never_while_it_is_unknown() {
    let place = Place::new();
    let ledger = place.open();
    let operations = [claim(&ledger, 1).await.unwrap(), claim(&ledger, 2).await.unwrap()];
    end(&ledger, operations[0], "reported", keep(1)).await;
    end(&ledger, operations[1], "unknown", claim_of(2)).await;
    let open = claim(&ledger, 3).await.unwrap();
    let now = candor_now();
    let retention = candor_ledger::Retention::default();
    assert_eq!(
        ledger.prune_plan(&retention, now).unwrap().keys,
        0,
        "none is a day old"
    );
    long_ago(&place);
    let plan = ledger.prune_plan(&retention, now).unwrap();
    assert_eq!(plan.keys, 1);
    assert_eq!(place.reader().prune_plan(&retention, now).unwrap().keys, 1);
    assert_eq!(ledger.prune(&plan).unwrap().keys, 1);
    assert_eq!(place.count("SELECT count(*) FROM idempotency_key"), 2);
    claim(&ledger, 1).await.unwrap();
    assert_eq!(claim(&ledger, 2).await.unwrap_err().operation, operations[1]);
    assert_eq!(claim(&ledger, 3).await.unwrap_err().operation, open);
    // Settled by a person long ago: its day is over at once.
    let settled = Entry {
        phase: Phase::Amendment,
        unsettled: false,
        ..verdict(operations[1], "completed")
    };
    ledger.append(vec![settled]).await.unwrap();
    claim(&ledger, 2).await.unwrap();
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_key_whose_holder_died_is_unknown_and_stays_held() {
    let place = Place::new();
    let mut process = Process::start("claim and die", &place.path);
    let operation: Uuid = process.hear("claimed").unwrap().parse().unwrap();
    process.kill("claimed");
    let ledger = place.open();
    let first = claim(&ledger, 0).await.unwrap_err();
    assert_eq!(
        (first.operation, first.standing),
        (operation, Standing::Abandoned)
    );
    assert_eq!(ledger.recover(lost).unwrap().count, 1);
    long_ago(&place);
    let first = claim(&ledger, 0).await.unwrap_err();
    assert_eq!(first.standing, Standing::Ended);
    assert!(first.last.unwrap().entry.unsettled);
    assert_clean(&place.path);
}

#[tokio::test]
async fn of_two_processes_with_one_key_exactly_one_writes_its_intent() {
    let place = Place::new();
    place.open().close().await.unwrap();
    let mut racers = [(); 2].map(|()| Process::start_and_hear("race", &place.path, "ready"));
    racers.iter_mut().for_each(Process::start_off);
    let won: Vec<String> = racers.map(|racer| racer.let_go("won")).into();
    let mut all: Vec<u8> = won
        .iter()
        .flat_map(|line| line.split_whitespace())
        .map(|number| number.parse().unwrap())
        .collect();
    all.sort_unstable();
    assert_eq!(all, (0..RACES).collect::<Vec<_>>(), "each key once: {won:?}");
    let records = place.count("SELECT count(*) FROM record");
    assert_eq!(records, i64::from(RACES));
    assert_clean(&place.path);
}

fn candor_now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// What the child processes do.
pub(crate) async fn race(ledger: &Ledger) -> String {
    let mut won = String::new();
    for number in 0..RACES {
        if claim(ledger, number).await.is_ok() {
            won.push_str(&format!("{number} "));
        }
    }
    won
}

#[tokio::test]
async fn the_last_records_of_operations_are_found() {
    let place = Place::new();
    let ledger = place.open_with(keep_all());
    let operation = Uuid::now_v7();
    ledger.append(vec![intent(operation)]).await.unwrap();
    ledger.append(vec![verdict(operation, "unknown")]).await.unwrap();
    let found = ledger.last_records(&[operation, Uuid::now_v7()]).unwrap();
    assert_eq!(
        found[0].as_ref().unwrap().entry.outcome.as_deref(),
        Some("unknown")
    );
    assert!(found[1].is_none());
}
