//! Appending: what a receipt promises, and what every fault promises.

use candor_ledger::{Entry, Fault, Ledger, Misuse, OpenFault, OpenOptions, Phase};
use uuid::Uuid;

use crate::child::Process;
use crate::support::{Place, assert_clean, hasty, intent, keep_all, lost, verdict};

#[tokio::test]
async fn a_receipt_means_that_another_connection_sees_the_record() {
    let place = Place::new();
    let ledger = place.open();
    let other = place.raw();
    for expected in 1..=20 {
        let operation = Uuid::now_v7();
        let receipt = ledger.append(vec![intent(operation)]).await.unwrap();
        let digest: Vec<u8> = other
            .query_row(
                "SELECT digest FROM record WHERE operation = ?1",
                [operation.as_bytes()],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(digest, receipt.digest);
        assert_eq!(
            (receipt.instance, receipt.sequence),
            (ledger.instance(), expected)
        );
    }
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_batch_comes_whole_and_its_receipt_names_the_last() {
    let place = Place::new();
    let ledger = place.open();
    let operation = Uuid::now_v7();
    let receipt = ledger
        .append(vec![intent(operation), verdict(operation, "rejected")])
        .await
        .unwrap();
    assert_eq!(receipt.sequence, 2);
    assert_eq!(place.count("SELECT count(*) FROM record"), 2);
    assert_eq!(place.count("SELECT count(*) FROM open"), 0);
    assert_eq!(ledger.stats().transactions, 1);
}

#[tokio::test]
async fn an_amendment_that_yields_is_left_out_and_answered_with_what_stands() {
    let place = Place::new();
    let ledger = place.open_with(OpenOptions {
        yields: Some(|standing, later| standing.body == b"last word" && later.body != b"last word"),
        ..keep_all()
    });
    let operation = Uuid::now_v7();
    let amendment = |body: &[u8]| Entry {
        phase: Phase::Amendment,
        body: body.to_vec(),
        ..verdict(operation, "completed")
    };
    ledger
        .append(vec![intent(operation), verdict(operation, "unknown")])
        .await
        .unwrap();
    ledger.append(vec![amendment(b"an answer")]).await.unwrap();
    // The word of another process.
    let other = place.open();
    let word = other.append(vec![amendment(b"last word")]).await.unwrap();
    assert_eq!(ledger.append(vec![amendment(b"late")]).await.unwrap(), word);
    ledger.append_later(vec![amendment(b"later")]).unwrap();
    ledger.append(vec![amendment(b"last word")]).await.unwrap();
    // Another operation's amendments are none of it.
    let second = Uuid::now_v7();
    let elsewhere = Entry {
        operation: second,
        ..amendment(b"late")
    };
    ledger
        .append(vec![intent(second), verdict(second, "unknown")])
        .await
        .unwrap();
    ledger.append(vec![elsewhere]).await.unwrap();
    assert_eq!(place.count("SELECT count(*) FROM record WHERE phase = 2"), 4);
    assert_clean(&place.path);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_wait_together_share_one_transaction() {
    let place = Place::new();
    let ledger = place.open();
    // While someone holds the file, 64 callers come and wait; then it is free.
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    let mut callers = Vec::new();
    for _ in 0..64 {
        let ledger = ledger.clone();
        callers.push(tokio::spawn(async move {
            ledger.append(vec![intent(Uuid::now_v7())]).await
        }));
    }
    while ledger.stats().waiting < 64 {
        tokio::task::yield_now().await;
    }
    holder.let_go("unlocked");
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
    let stats = ledger.stats();
    assert_eq!((stats.batches, stats.entries), (64, 64));
    // The first to come may have been picked up alone or with some others; the rest goes together.
    assert!(stats.transactions <= 2, "{stats:?}");
    assert_clean(&place.path);
}

#[tokio::test]
async fn callers_who_come_one_after_the_other_do_not_share() {
    let place = Place::new();
    let ledger = place.open();
    for _ in 0..5 {
        ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    }
    assert_eq!(ledger.stats().transactions, 5);
}

#[tokio::test]
async fn records_nobody_waits_for_keep_their_order_and_are_there_after_closing() {
    let place = Place::new();
    let ledger = place.open();
    let operation = Uuid::now_v7();
    ledger.append_later(vec![intent(operation)]).unwrap();
    ledger.append_later(vec![verdict(operation, "reported")]).unwrap();
    ledger.close().await.unwrap();
    let records = place
        .raw()
        .prepare("SELECT phase FROM record ORDER BY position")
        .unwrap()
        .query_map([], |row| row.get::<_, i64>(0))
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    assert_eq!(records, [0, 1]);
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_closed_ledger_takes_nothing_and_leaves_no_lock_file() {
    let place = Place::new();
    let ledger = place.open();
    let clone = ledger.clone();
    let lock = place
        .path
        .with_file_name("ledger.db.instances")
        .join(format!("{}.lock", ledger.instance()));
    assert!(lock.exists());
    ledger.close().await.unwrap();
    assert!(!lock.exists());
    assert_eq!(
        clone.append(vec![intent(Uuid::now_v7())]).await,
        Err(Fault::Closed)
    );
    assert_eq!(
        clone.append_later(vec![intent(Uuid::now_v7())]),
        Err(Fault::Closed)
    );
    assert_eq!(clone.recover(lost), Err(Fault::Closed));
}

#[tokio::test]
async fn what_makes_no_record_is_refused() {
    let place = Place::new();
    let ledger = place.open();
    assert_eq!(
        ledger.append(Vec::new()).await,
        Err(Fault::Misuse(Misuse::EmptyBatch))
    );
    let mut huge = intent(Uuid::now_v7());
    huge.body = vec![b' '; 17 << 20];
    let refused = ledger.append(vec![huge]).await;
    assert!(
        matches!(
            refused,
            Err(Fault::Misuse(Misuse::BatchTooLarge { entries: 1, .. }))
        ),
        "{refused:?}"
    );
    let many = vec![intent(Uuid::now_v7()); 1025];
    assert!(matches!(
        ledger.append_later(many),
        Err(Fault::Misuse(Misuse::BatchTooLarge { .. }))
    ));
    assert_eq!(place.count("SELECT count(*) FROM record"), 0);
}

#[tokio::test]
async fn a_full_disk_refuses_and_small_batches_still_find_room() {
    let place = Place::new();
    let ledger = place.open_with(OpenOptions {
        max_pages: Some(60),
        ..keep_all()
    });
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    let mut large = intent(Uuid::now_v7());
    large.body = vec![b'x'; 1 << 20];
    let refused = ledger.append(vec![large]).await.unwrap_err();
    assert!(matches!(refused, Fault::Full { .. }), "{refused:?}");
    assert!(refused.never_written());
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert_eq!(place.count("SELECT count(*) FROM record"), 2);
    assert_clean(&place.path);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_batch_without_room_does_not_refuse_its_group() {
    let place = Place::new();
    let ledger = place.open_with(OpenOptions {
        max_pages: Some(100),
        ..keep_all()
    });
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    let mut callers = Vec::new();
    for number in 0..8 {
        let ledger = ledger.clone();
        let mut entry = intent(Uuid::now_v7());
        if number == 3 {
            entry.body = vec![b'x'; 1 << 20];
        }
        callers.push(tokio::spawn(async move { ledger.append(vec![entry]).await }));
    }
    while ledger.stats().waiting < 8 {
        tokio::task::yield_now().await;
    }
    holder.let_go("unlocked");
    for (number, caller) in callers.into_iter().enumerate() {
        let result = caller.await.unwrap();
        assert_eq!(
            number == 3,
            matches!(result, Err(Fault::Full { .. })),
            "{number}: {result:?}"
        );
    }
    assert_clean(&place.path);
}

#[tokio::test]
async fn a_file_that_may_not_be_written_refuses() {
    let place = Place::new();
    let ledger = place.open_with(OpenOptions {
        query_only: true,
        ..keep_all()
    });
    let refused = ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    assert!(matches!(refused, Fault::ReadOnly { .. }), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_not_opened_for_writing() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    drop(place.open());
    std::fs::set_permissions(&place.path, std::fs::Permissions::from_mode(0o400)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(&place.path).is_ok() {
        println!("skipped: this user may write read-only files");
        return;
    }
    let refused = Ledger::open(&place.path, hasty()).unwrap_err();
    assert!(matches!(refused, OpenFault::ReadOnly { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_file_locked_by_another_program_refuses_after_the_patience_and_works_again_later() {
    let place = Place::new();
    let ledger = place.open_with(hasty());
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    let operation = Uuid::now_v7();
    let refused = ledger.append(vec![intent(operation)]).await.unwrap_err();
    assert!(matches!(refused, Fault::Locked { .. }), "{refused:?}");
    assert!(refused.never_written());
    holder.let_go("unlocked");
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    // What was given up on does not turn up later.
    assert_eq!(place.count("SELECT count(*) FROM record"), 1);
    assert_clean(&place.path);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_could_not_be_begun_is_taken_back() {
    let place = Place::new();
    let ended = place.open();
    ended.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    ended.close().await.unwrap();
    let ledger = place.open_with(hasty());
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let (held, is_held) = tokio::sync::oneshot::channel();
    let recovering = ledger.clone();
    let recovery = std::thread::spawn(move || {
        let mut held = Some(held);
        recovering.recover(|open| {
            held.take().unwrap().send(()).unwrap();
            wait.recv().unwrap();
            lost(open)
        })
    });
    is_held.await.unwrap();
    let refused = ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    assert!(matches!(refused, Fault::Slow { .. }), "{refused:?}");
    assert!(refused.never_written());
    go_on.send(()).unwrap();
    assert_eq!(recovery.join().unwrap().unwrap().count, 1);
    ledger.close().await.unwrap();
    assert_eq!(
        place.count("SELECT count(*) FROM record"),
        2,
        "the intent and its verdict, nothing else"
    );
    assert_clean(&place.path);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_moved_away_gets_no_more_receipts() {
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    std::fs::rename(&place.path, place.path.with_extension("aside")).unwrap();
    let refused = ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    assert!(matches!(refused, Fault::Gone { .. }), "{refused:?}");
    std::fs::write(&place.path, b"").unwrap();
    let refused = ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    assert!(matches!(refused, Fault::Gone { .. }), "{refused:?}");
}

#[tokio::test]
async fn late_records_wait_out_a_lock_that_callers_do_not() {
    let place = Place::new();
    let ledger = place.open_with(hasty());
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    let (early, operation) = (Uuid::now_v7(), Uuid::now_v7());
    ledger.append_later(vec![intent(early)]).unwrap();
    assert!(ledger.append(vec![intent(operation)]).await.is_err());
    holder.let_go("unlocked");
    ledger.close().await.unwrap();
    let reader = place.reader();
    let operations = reader.operations(&candor_ledger::Filter::default()).unwrap();
    assert_eq!(
        operations.iter().map(|row| row.operation).collect::<Vec<_>>(),
        [early]
    );
}

#[tokio::test]
async fn late_records_that_never_find_the_file_free_are_counted() {
    let place = Place::new();
    let ledger = place.open_with(OpenOptions {
        late_patience: std::time::Duration::ZERO,
        ..hasty()
    });
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    ledger.append_later(vec![intent(Uuid::now_v7())]).unwrap();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap_err();
    holder.let_go("unlocked");
    ledger.clone().close().await.unwrap();
    assert_eq!(ledger.stats().lost, 1);
}

#[tokio::test]
async fn the_queue_has_a_bound() {
    let place = Place::new();
    let ledger = place.open_with(hasty());
    let holder = Process::start_and_hear("lock", &place.path, "locked");
    let mut large = intent(Uuid::now_v7());
    large.body = vec![b' '; 15 << 20];
    let mut taken = 0;
    let refused = loop {
        match ledger.append_later(vec![large.clone()]) {
            Ok(()) => taken += 1,
            Err(fault) => break fault,
        }
        assert!(taken < 10, "no bound");
    };
    assert!(matches!(refused, Fault::Backlog { .. }), "{refused:?}");
    let mut waits = intent(Uuid::now_v7());
    waits.body = vec![b' '; 8 << 20];
    let refused = ledger.append(vec![waits]).await.unwrap_err();
    assert!(matches!(refused, Fault::Backlog { .. }), "{refused:?}");
    holder.let_go("unlocked");
}

#[tokio::test]
async fn a_second_round_opens_the_operation_again() {
    let place = Place::new();
    let ledger = place.open();
    let operation = Uuid::now_v7();
    ledger.append(vec![intent(operation)]).await.unwrap();
    ledger
        .append(vec![verdict(operation, "input_required")])
        .await
        .unwrap();
    assert_eq!(place.count("SELECT count(*) FROM open"), 0);
    ledger.append(vec![intent(operation)]).await.unwrap();
    assert_eq!(place.count("SELECT count(*) FROM open"), 1);
    let mut settled = verdict(operation, "completed");
    settled.phase = Phase::Amendment;
    ledger.append(vec![settled]).await.unwrap();
    assert_eq!(place.count("SELECT count(*) FROM open"), 0);
    assert_clean(&place.path);
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folders_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    let folder = place.path.parent().unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder), 0o700);
    let mut seen = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(
            mode(&path),
            if path.is_dir() { 0o700 } else { 0o600 },
            "{}",
            path.display()
        );
        seen.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "ledger.db",
            "ledger.db-shm",
            "ledger.db-wal",
            "ledger.db.instances"
        ]
    );
    let lock = folder
        .join("ledger.db.instances")
        .join(format!("{}.lock", ledger.instance()));
    assert_eq!(mode(&lock), 0o600);
}
