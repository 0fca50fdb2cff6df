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

#[tokio::test]
async fn what_is_open_or_unsettled_stays_with_all_behind_it_and_is_named() {
    let place = Place::new();
    let ledger = place.open();
    one(&ledger, 1, "reported").await;
    let unsettled = one(&ledger, 2, "unknown").await;
    one(&ledger, 3, "reported").await;
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(plan.cuts[0].through, 2);
    assert_eq!(
        (plan.held[0].operation, plan.held[0].because),
        (unsettled, HeldBecause::Unsettled)
    );
    ledger.prune(&plan).unwrap();
    assert_clean(&place.path);

    // A person settles it long ago by the clock; then it goes, up to the next that is open.
    let settled = Entry {
        phase: Phase::Amendment,
        unsettled: false,
        ..verdict(unsettled, "completed")
    };
    ledger.append(vec![at(4, settled)]).await.unwrap();
    let open = Uuid::now_v7();
    ledger.append(vec![at(5, intent(open))]).await.unwrap();
    one(&ledger, 6, "reported").await;
    let plan = ledger.prune_plan(&month(), NOW).unwrap();
    assert_eq!(
        (plan.held[0].operation, plan.held[0].because),
        (open, HeldBecause::Open)
    );
    assert_eq!(ledger.prune(&plan).unwrap().records, 5);
    assert_eq!(place.count("SELECT count(*) FROM record"), 3);
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
