//! Every kind of change behind the ledger's back is found, and the first bad record is named.

use candor_ledger::{ChainFault, What};
use rusqlite::Connection;
use uuid::Uuid;

use crate::support::{Place, assert_clean, intent, verdict};

/// Where, whose, what.
type Found = (u64, Option<Uuid>, What);

/// A closed ledger of six records, three operations; returns the operations in order.
async fn six_records(place: &Place) -> [Uuid; 3] {
    let operations =
        [1, 2, 3].map(|number| Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + number));
    let ledger = place.open();
    for operation in operations {
        ledger.append(vec![intent(operation)]).await.unwrap();
        ledger.append(vec![verdict(operation, "reported")]).await.unwrap();
    }
    ledger.close().await.unwrap();
    operations
}

fn faults(place: &Place) -> Vec<ChainFault> {
    let report = place.reader().verify().unwrap();
    assert_eq!(report.chains.len(), 1);
    assert_eq!(
        report.is_clean(),
        report.chains[0].faults.is_empty() && report.open_list.is_empty()
    );
    report.chains[0].faults.clone()
}

fn tamper(place: &Place, sql: &str) {
    place.raw().execute_batch(sql).unwrap();
}

#[tokio::test]
async fn an_untouched_ledger_verifies_and_says_what_that_is_worth() {
    let place = Place::new();
    six_records(&place).await;
    let report = place.reader().verify().unwrap();
    assert!(report.is_clean());
    assert_eq!(report.entries(), 6);
    assert_eq!(
        (report.chains[0].first, report.chains[0].last),
        (Some(1), Some(6))
    );
    assert!(report.limits().contains("An unkeyed chain cannot show"));
}

#[tokio::test]
async fn an_edit_of_any_column_is_found_at_its_record() {
    let columns = [
        ("operation", "x'01990000000070008000000000000009'"),
        ("phase", "2"),
        ("at_ms", "at_ms + 1"),
        ("unsettled", "1 - unsettled"),
        ("previous", "zeroblob(32)"),
        ("server", "'other'"),
        ("tool", "tool || ' '"),
        ("outcome", "'completed'"),
        ("outcome", "NULL"),
        ("outcome", "''"),
        ("effect", "'applied'"),
        ("evidence", "'declared'"),
        ("evidence", "NULL"),
        ("body", "x'7b7d'"),
        ("body", "CAST(body || x'20' AS BLOB)"),
    ];
    for (column, value) in columns {
        let place = Place::new();
        six_records(&place).await;
        tamper(
            &place,
            &format!("UPDATE record SET {column} = {value} WHERE sequence = 4"),
        );
        let found = faults(&place);
        assert_eq!(found.len(), 1, "{column} = {value}: {found:?}");
        assert_eq!(
            (found[0].sequence, found[0].what),
            (4, What::Edited),
            "{column} = {value}"
        );
    }
}

#[tokio::test]
async fn every_change_is_named() {
    let [first, second, third] =
        [1, 2, 3].map(|number| Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + number));
    let swap = |columns: &str| {
        format!(
            "CREATE TEMP TABLE a AS SELECT * FROM record WHERE sequence = 3;
             CREATE TEMP TABLE b AS SELECT * FROM record WHERE sequence = 6;
             UPDATE record SET sequence = -1 WHERE sequence = 3; UPDATE record SET sequence = 3 WHERE sequence = 6;
             UPDATE record SET sequence = 6 WHERE sequence = -1; {columns}"
        )
    };
    let swap_positions = "UPDATE record SET position = -1 WHERE position = 3;
         UPDATE record SET position = 3 WHERE position = 6; UPDATE record SET position = 6 WHERE position = -1;";
    let edited = What::Edited;
    let cases: Vec<(&str, String, Vec<Found>)> = vec![
        ("the digest of a record", "UPDATE record SET digest = zeroblob(32) WHERE sequence = 2".into(),
            vec![(2, Some(first), edited)]),
        ("its order among all", "UPDATE record SET position = 40 WHERE sequence = 2".into(), vec![(2, Some(first), edited)]),
        ("two edits", "UPDATE record SET tool = 'x' WHERE sequence IN (1, 5)".into(),
            vec![(1, Some(first), edited), (5, Some(third), edited)]),
        ("one taken out", "DELETE FROM record WHERE sequence = 3".into(), vec![(3, None, What::Missing { count: 1 })]),
        ("two taken out", "DELETE FROM record WHERE sequence IN (2, 3)".into(),
            vec![(2, None, What::Missing { count: 2 })]),
        ("the first taken out", "DELETE FROM record WHERE sequence = 1".into(), vec![(1, None, What::Missing { count: 1 })]),
        ("the last taken out", "DELETE FROM record WHERE sequence = 6".into(), vec![(6, None, What::Cut { count: 1 })]),
        ("all taken out", "DELETE FROM record".into(), vec![(1, None, What::Cut { count: 6 })]),
        ("taken out and closed up",
            "DELETE FROM record WHERE sequence = 3; UPDATE record SET sequence = sequence - 1 WHERE sequence > 3".into(),
            vec![(3, Some(second), What::Reordered { belongs: 4 }), (4, Some(third), What::Reordered { belongs: 5 }), (5, Some(third), edited),
                 (6, None, What::Cut { count: 1 })]),
        ("one put in",
            "UPDATE record SET sequence = -sequence WHERE sequence > 3; UPDATE record SET sequence = 1 - sequence WHERE sequence < 0;
             INSERT INTO record SELECT 50, instance, 4, operation, phase, at_ms, unsettled, previous, digest, server, tool,
                 outcome, effect, evidence, body FROM record WHERE sequence = 3".into(),
            vec![(4, Some(second), edited), (5, Some(second), What::Reordered { belongs: 4 }), (6, Some(third), What::Reordered { belongs: 5 }), (7, Some(third), What::Reordered { belongs: 6 }),
                 (7, None, What::Forged)]),
        ("one appended", "INSERT INTO record SELECT 50, instance, 7, operation, phase, at_ms, unsettled, digest, digest, server,
             tool, outcome, effect, evidence, body FROM record WHERE sequence = 6".into(),
            vec![(7, Some(third), edited), (7, None, What::Forged)]),
        ("two swapped", swap(""),
            vec![(3, Some(third), What::Reordered { belongs: 6 }), (6, Some(second), What::Reordered { belongs: 3 })]),
        ("two swapped, order of commits too", swap(swap_positions),
            vec![(3, Some(third), What::Reordered { belongs: 6 }), (6, Some(second), What::Reordered { belongs: 3 })]),
        ("the head gone", "DELETE FROM chain".into(), vec![(6, None, What::NoHead)]),
        ("the head's digest", "UPDATE chain SET digest = zeroblob(32)".into(), vec![(6, Some(third), What::Forged)]),
        ("the head further", "UPDATE chain SET sequence = 9".into(), vec![(7, None, What::Cut { count: 3 })]),
        ("a false checkpoint", "DELETE FROM record WHERE sequence < 3; UPDATE chain SET pruned_through = 2".into(),
            vec![(3, Some(second), What::Forged)]),
    ];
    for (name, sql, expected) in cases {
        let place = Place::new();
        six_records(&place).await;
        assert_clean(&place.path);
        tamper(&place, &sql);
        let found: Vec<_> = faults(&place)
            .into_iter()
            .map(|fault| (fault.sequence, fault.operation, fault.what))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test]
async fn a_record_written_anew_with_a_right_digest_does_not_fit_its_successor() {
    // Two ledgers that differ in one record, written by the same hands: the second's record is put in the first.
    let place = Place::new();
    let [_, second, _] = six_records(&place).await;
    let source = place.raw();
    let forged = forge(&source);
    source
        .execute(
            "UPDATE record SET body = ?1, digest = ?2 WHERE sequence = 3",
            rusqlite::params![&b"{}"[..], forged],
        )
        .unwrap();
    let found = faults(&place);
    assert_eq!(
        found,
        [ChainFault {
            sequence: 3,
            operation: Some(second),
            what: What::Forged
        }]
    );
}

/// The digest that record 3 would have with the body `{}`, by the documented layout.
fn forge(connection: &Connection) -> Vec<u8> {
    use sha2::{Digest as _, Sha256};
    connection
        .query_row(
            "SELECT previous, instance, sequence, position, operation, at_ms FROM record WHERE sequence = 3",
            [],
            |row| {
                let mut hash = Sha256::new();
                hash.update(b"candor-ledger record 1\0");
                hash.update(row.get::<_, Vec<u8>>(0)?);
                hash.update(row.get::<_, Vec<u8>>(1)?);
                hash.update(row.get::<_, i64>(2)?.to_be_bytes());
                hash.update(row.get::<_, i64>(3)?.to_be_bytes());
                hash.update(row.get::<_, Vec<u8>>(4)?);
                hash.update([0, 0]);
                hash.update(row.get::<_, i64>(5)?.to_be_bytes());
                for text in ["rooms", "book_room"] {
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text);
                }
                hash.update([0, 0, 0]);
                hash.update(2_u64.to_be_bytes());
                hash.update("{}");
                Ok(hash.finalize().to_vec())
            },
        )
        .unwrap()
}

#[tokio::test]
async fn a_row_that_is_no_record_is_named_and_does_not_end_the_walk() {
    let place = Place::new();
    let [_, second, third] = six_records(&place).await;
    tamper(
        &place,
        "PRAGMA ignore_check_constraints = ON; UPDATE record SET phase = 9 WHERE sequence = 4;
         UPDATE record SET tool = 'x' WHERE sequence = 6",
    );
    let found = faults(&place);
    assert_eq!(
        found,
        [
            ChainFault {
                sequence: 4,
                operation: Some(second),
                what: What::Edited
            },
            ChainFault {
                sequence: 6,
                operation: Some(third),
                what: What::Edited
            },
        ]
    );
}

#[tokio::test]
async fn a_record_moved_to_another_chain_is_found_in_both() {
    let place = Place::new();
    six_records(&place).await;
    tamper(
        &place,
        "UPDATE record SET instance = zeroblob(16) WHERE sequence = 4",
    );
    let report = place.reader().verify().unwrap();
    let found: Vec<_> = report
        .chains
        .iter()
        .flat_map(|chain| &chain.faults)
        .map(|fault| fault.what)
        .collect();
    assert_eq!(
        found,
        [
            What::Missing { count: 3 },
            What::Edited,
            What::NoHead,
            What::Missing { count: 1 }
        ]
    );
}

#[tokio::test]
async fn a_changed_list_of_open_operations_is_found() {
    let place = Place::new();
    let [first, ..] = six_records(&place).await;
    let ledger = place.open();
    let running = Uuid::now_v7();
    ledger.append(vec![intent(running)]).await.unwrap();
    assert_clean(&place.path);
    tamper(&place, "DELETE FROM open");
    assert_eq!(place.reader().verify().unwrap().open_list, [running]);
    tamper(
        &place,
        "INSERT INTO open SELECT operation, instance, position FROM record WHERE phase = 0 AND position IN (1, 7)",
    );
    let report = place.reader().verify().unwrap();
    assert_eq!(report.open_list, [first]);
    assert!(!report.is_clean());
}

#[tokio::test]
async fn what_an_unkeyed_chain_cannot_show_is_not_claimed() {
    // The honest counterpart: a cut tail with a changed head passes, as `limits` says.
    let place = Place::new();
    six_records(&place).await;
    tamper(
        &place,
        "DELETE FROM record WHERE sequence > 4;
         UPDATE chain SET sequence = 4, digest = (SELECT digest FROM record WHERE sequence = 4)",
    );
    assert_clean(&place.path);
}
