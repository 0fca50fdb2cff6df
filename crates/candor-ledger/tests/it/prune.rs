//! Pruning: planned first, leaves a chain that verifies, takes nothing that someone still has to settle.

use std::time::Duration;

use candor_ledger::{Entry, HeldBecause, Ledger, OpenOptions, Phase, PrunePlan, Retention, What};
use uuid::Uuid;

use crate::support::{Place, assert_clean, intent, keep_all, verdict};

const DAY_MS: i64 = 86_400_000;
const NOW: i64 = 100 * DAY_MS;

fn at(day: i64, entry: Entry) -> Entry {
    Entry {
        at_ms: day * DAY_MS,
        ..entry
    }
}

async fn one(ledger: &Ledger, day: i64, outcome: &str) -> Uuid {
    let operation = Uuid::now_v7();
    let batch = vec![at(day, intent(operation)), at(day, verdict(operation, outcome))];
    ledger.append(batch).await.unwrap();
    operation
}

fn month() -> Retention {
    Retention {
        age: Duration::from_hours(30 * 24),
        bytes: u64::MAX,
    }
}

#[tokio::test]
async fn the_old_and_settled_go_and_the_chain_verifies() {
    let place = Place::new();
    let ledger = place.open();
    for day in [1, 2, 60, 69, 71, 99] {
        one(&ledger, day, "reported").await;
    }
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(
        (plan.cuts.len(), plan.cuts[0].through, plan.cuts[0].records),
        (1, 8, 8)
    );
    assert_eq!(
        place.count("SELECT count(*) FROM record"),
        12,
        "a plan changes nothing"
    );
    let pruned = ledger.prune(&plan).unwrap();
    assert_eq!((pruned.records, pruned.chains, pruned.held.len()), (8, 1, 0));
    assert_eq!(place.count("SELECT min(sequence) FROM record"), 9);
    assert_clean(&place.path);

    // Nothing is left to do, the chain goes on, and a loss behind the checkpoint is still seen.
    assert!(ledger.prune_plan(&month(), NOW).unwrap().is_empty());
    one(&ledger, 99, "reported").await;
    assert_clean(&place.path);
    place
        .raw()
        .execute_batch("DELETE FROM record WHERE sequence = 9")
        .unwrap();
    let report = place.reader().verify().unwrap();
    assert_eq!(
        (report.chains[0].pruned_through, report.chains[0].faults[0].what),
        (8, What::Missing { count: 1 })
    );
}

#[tokio::test]
async fn a_whole_chain_may_go_and_still_grow() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "reported").await;
    ledger.prune(&ledger.prune_plan(&month(), NOW).unwrap()).unwrap();
    assert_eq!(place.count("SELECT count(*) FROM record"), 0);
    assert_clean(&place.path);
    one(&ledger, 99, "reported").await;
    assert_eq!(place.count("SELECT min(sequence) FROM record"), 3);
    assert_clean(&place.path);
}

fn sequences(place: &Place) -> Vec<i64> {
    place
        .raw()
        .prepare("SELECT sequence FROM record ORDER BY instance, sequence")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

async fn settle(ledger: &Ledger, day: i64, operation: Uuid) {
    let settled = Entry {
        phase: Phase::Amendment,
        unsettled: false,
        ..verdict(operation, "completed")
    };
    ledger.append(vec![at(day, settled)]).await.unwrap();
}

fn prune_a_month(ledger: &Ledger) -> (u64, Vec<(Uuid, HeldBecause)>) {
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    let pruned = ledger.prune(&plan).unwrap();
    assert_eq!(pruned.records, plan.records(), "what was planned is done");
    let held = pruned.held.iter().map(|held| (held.operation, held.because));
    (pruned.records, held.collect())
}

#[tokio::test]
async fn what_is_open_or_unsettled_stays_alone_and_is_named() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "reported").await;
    let unsettled = one(&ledger, 2, "unknown").await;
    one(&ledger, 3, "reported").await;
    let open = Uuid::now_v7();
    ledger.append(vec![at(4, intent(open))]).await.unwrap();
    one(&ledger, 5, "reported").await;
    one(&ledger, 99, "reported").await;
    let (records, held) = prune_a_month(&ledger);
    assert_eq!(records, 6);
    assert_eq!(
        held,
        [(unsettled, HeldBecause::Unsettled), (open, HeldBecause::Open)]
    );
    assert_eq!(sequences(&place), [3, 4, 7, 10, 11]);
    assert_clean(&place.path);
    let report = place.reader().verify().unwrap().chains.remove(0);
    assert_eq!((report.pruned_through, report.pruned_within), (2, 4));

    // Nothing is left to do until somebody settles them; then the gaps close up to one checkpoint.
    assert_eq!(prune_a_month(&ledger).0, 0);
    settle(&ledger, 6, unsettled).await;
    settle(&ledger, 6, open).await;
    assert_eq!(prune_a_month(&ledger), (3, vec![]));
    assert_eq!(place.count("SELECT count(*) FROM gap"), 0);
    assert_eq!(place.count("SELECT pruned_through FROM chain"), 9);
    assert_eq!(sequences(&place), [10, 11, 12, 13]);
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_chain_may_end_in_a_gap_and_still_grow() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "unknown").await;
    one(&ledger, 2, "reported").await;
    assert_eq!(prune_a_month(&ledger).0, 2);
    assert_eq!(sequences(&place), [1, 2]);
    assert_clean(&place.path);
    one(&ledger, 3, "reported").await;
    assert_clean(&place.path);
    assert_eq!(prune_a_month(&ledger).0, 2);
    assert_eq!(place.count("SELECT count(*) FROM gap"), 1, "neighbours are one");
    assert_eq!(place.count("SELECT last_sequence FROM gap"), 6);
    assert_clean(&place.path);
}

#[tokio::test]
async fn what_is_changed_around_a_gap_is_found() {
    let what = |sql: &'static str, found: &'static [(u64, What)]| (sql, found);
    for (sql, expected) in [
        what(
            "UPDATE record SET tool = 'x' WHERE sequence = 4",
            &[(4, What::Edited)],
        ),
        what(
            "DELETE FROM record WHERE sequence = 4",
            &[(4, What::Missing { count: 1 })],
        ),
        what(
            "DELETE FROM record WHERE sequence = 7",
            &[(7, What::Missing { count: 1 })],
        ),
        what("DELETE FROM gap", &[(5, What::Missing { count: 2 })]),
        what("UPDATE gap SET previous = zeroblob(32)", &[(4, What::Forged)]),
        what("UPDATE gap SET digest = zeroblob(32)", &[(7, What::Forged)]),
        what(
            "UPDATE gap SET first_sequence = 6",
            &[(5, What::Missing { count: 1 })],
        ),
        what(
            "UPDATE gap SET last_sequence = 5",
            &[(6, What::Missing { count: 1 })],
        ),
        // Record 7 is there, and record 8 does not hang on what the gap says.
        what(
            "UPDATE gap SET last_sequence = 7",
            &[(7, What::Forged), (8, What::Forged)],
        ),
        what(
            "INSERT INTO gap SELECT instance, 3, 4, previous, digest FROM gap",
            &[(3, What::Forged)],
        ),
    ] {
        let place = Place::new();
        let ledger = place.open();
        one(&ledger, 1, "reported").await;
        one(&ledger, 2, "unknown").await;
        one(&ledger, 3, "reported").await;
        one(&ledger, 99, "reported").await;
        prune_a_month(&ledger);
        assert_eq!(sequences(&place), [3, 4, 7, 8]);
        assert_clean(&place.path);
        place.raw().execute_batch(sql).unwrap();
        let report = place.reader().verify().unwrap();
        let found: Vec<_> = report.chains[0]
            .faults
            .iter()
            .map(|fault| (fault.sequence, fault.what))
            .collect();
        assert_eq!(found, expected, "{sql}");
    }
}

#[tokio::test]
async fn records_of_one_operation_in_two_chains_stay_together_while_it_is_unsettled() {
    let place = Place::new();
    let ended = place.open();
    let operation = Uuid::now_v7();
    one(&ended, 1, "reported").await;
    ended.append(vec![at(1, intent(operation))]).await.unwrap();
    one(&ended, 2, "reported").await;
    ended.close().await.unwrap();
    let ledger = place.open();
    let judged = ledger.recover(|open| at(3, crate::support::lost(open))).unwrap();
    assert_eq!(judged.count, 1);
    one(&ledger, 4, "reported").await;
    assert_eq!(
        prune_a_month(&ledger),
        (6, vec![(operation, HeldBecause::Unsettled)])
    );
    assert_eq!(place.count("SELECT count(*) FROM record"), 2);
    assert_clean(&place.path);
    settle(&ledger, 5, operation).await;
    assert_eq!(prune_a_month(&ledger), (3, vec![]));
    assert_eq!(place.count("SELECT count(*) FROM record"), 0);
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_late_amendment_keeps_its_operation_young() {
    let place = Place::new();
    let ledger = place.open();
    let operation = one(&ledger, 1, "reported").await;
    let late = Entry {
        phase: Phase::Amendment,
        unsettled: false,
        ..verdict(operation, "completed")
    };
    ledger.append(vec![at(99, late)]).await.unwrap();
    assert_eq!(ledger.prune_plan(&month(), NOW).unwrap(), PrunePlan::default());
}

#[tokio::test]
async fn what_became_unsettled_since_the_plan_stays() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "reported").await;
    let operation = one(&ledger, 2, "reported").await;
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(plan.cuts[0].through, 4);
    let doubt = Entry {
        phase: Phase::Amendment,
        ..verdict(operation, "unknown")
    };
    ledger.append(vec![at(3, doubt)]).await.unwrap();
    assert_eq!(ledger.prune(&plan).unwrap().records, 2);
    assert_clean(&place.path);
}

#[tokio::test]
async fn beyond_the_size_the_oldest_go_over_all_chains() {
    let place = Place::new();
    let (first, second) = (place.open(), place.open());
    for day in 90..98 {
        let mut large = intent(Uuid::now_v7());
        large.body = vec![b' '; 100_000];
        let operation = large.operation;
        let ledger = if day % 2 == 0 { &first } else { &second };
        ledger
            .append(vec![at(day, large), at(day, verdict(operation, "reported"))])
            .await
            .unwrap();
    }
    let limit = Retention {
        bytes: 500_000,
        ..month()
    };
    let plan = first.prune_plan(&limit, NOW).unwrap();
    assert_eq!(plan.cuts.len(), 2);
    first.prune(&plan).unwrap();
    let kept: Vec<i64> = place
        .raw()
        .prepare("SELECT at_ms / 86400000 FROM record WHERE phase = 0 ORDER BY position")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(kept, [94, 95, 96, 97]);
    assert!(first.prune_plan(&limit, NOW).unwrap().is_empty());
    assert_clean(&place.path);
    one(&second, 99, "reported").await;
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_start_prunes_what_is_old_without_making_callers_wait_for_all_of_it() {
    let place = Place::new();
    let ledger = place.open();
    for number in 0..1500 {
        let operation = Uuid::from_u128(number);
        ledger
            .append_later(vec![intent(operation), verdict(operation, "reported")])
            .unwrap();
    }
    ledger.close().await.unwrap();
    let ledger = place.open_with(OpenOptions {
        retention: Some(month()),
        ..keep_all()
    });
    let young = Entry {
        at_ms: i64::MAX,
        ..intent(Uuid::now_v7())
    };
    ledger.append(vec![young]).await.unwrap();
    while ledger.stats().pruned < 3000 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(place.count("SELECT count(*) FROM record"), 1);
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_start_that_keeps_everything_prunes_nothing() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "reported").await;
    ledger.close().await.unwrap();
    let ledger = place.open_with(keep_all());
    one(&ledger, 1, "reported").await;
    ledger.close().await.unwrap();
    assert_eq!(place.count("SELECT count(*) FROM record"), 4);
}

#[tokio::test]
async fn a_damaged_chain_is_not_pruned_over() {
    let place = Place::new();
    let ledger = place.open();
    for day in [1, 2, 3] {
        one(&ledger, day, "reported").await;
    }
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(plan.cuts[0].through, 6);
    place
        .raw()
        .execute_batch("DELETE FROM record WHERE sequence IN (3, 4)")
        .unwrap();
    assert_eq!(ledger.prune(&plan).unwrap().records, 0);
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(
        (plan.cuts[0].through, plan.held[0].sequence, plan.held[0].because),
        (2, 5, HeldBecause::Damaged)
    );
    assert_eq!(ledger.prune(&plan).unwrap().records, 2);
    let report = place.reader().verify().unwrap();
    assert_eq!(report.chains[0].faults[0].what, What::Missing { count: 2 });
}
