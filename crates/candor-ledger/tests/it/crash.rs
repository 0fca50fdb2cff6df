//! `kill -9` and what the next start makes of it.

use std::collections::HashSet;

use candor_ledger::{Fault, Filter, Ledger, Misuse, Phase, Reader, Recovered, Standing};
use uuid::Uuid;

use crate::child::Process;
use crate::support::{Place, assert_clean, intent, keep_all, lost, verdict};

#[tokio::test]
async fn after_kill_9_every_receipt_holds_and_every_open_intent_gets_one_verdict() {
    let place = Place::new();
    for round in 0..5 {
        let mut process = Process::start("load", &place.path);
        let mut heard: Vec<String> = (0..40 + 60 * round)
            .map(|_| process.hear("ack").unwrap())
            .collect();
        heard.extend(process.kill("ack"));

        assert_clean(&place.path);
        let recorded = recorded(&place);
        for ack in &heard {
            // The last line may be cut short by the kill.
            if let Some((phase, id)) = ack.split_once(' ').filter(|(_, id)| id.len() == 36) {
                assert!(
                    recorded.contains(&(id.parse().unwrap(), phase == "intent")),
                    "{ack}"
                );
            }
        }

        let open = place.count("SELECT count(*) FROM open");
        let ledger = place.open();
        let recovered = ledger.recover(lost).unwrap();
        assert_eq!(
            recovered,
            Recovered {
                count: open.unsigned_abs(),
                living: 0,
                unreadable: 0
            }
        );
        assert_eq!(place.count("SELECT count(*) FROM open"), 0);
        ledger.close().await.unwrap();
        assert_clean(&place.path);
    }
    let unended = place.count(
        "SELECT count(*) FROM (SELECT operation FROM record GROUP BY operation HAVING sum(phase = 1) <> 1)",
    );
    assert_eq!(unended, 0);
    let folder = place.path.with_file_name("ledger.db.instances");
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        0,
        "the ended leave no lock files"
    );
}

fn recorded(place: &Place) -> HashSet<(Uuid, bool)> {
    place
        .raw()
        .prepare("SELECT operation, phase = 0 FROM record")
        .unwrap()
        .query_map([], |row| Ok((Uuid::from_bytes(row.get(0)?), row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[tokio::test]
async fn a_living_siblings_intent_is_left_alone_and_a_dead_ones_is_not() {
    let place = Place::new();
    let mut process = Process::start("sibling", &place.path);
    let operation: Uuid = process.hear("open").unwrap().parse().unwrap();

    let ledger = place.open();
    let recovered = ledger.recover(|_| panic!("it lives")).unwrap();
    assert_eq!(
        recovered,
        Recovered {
            count: 0,
            living: 1,
            unreadable: 0
        }
    );
    let row = place.reader().operations(&Filter::default()).unwrap().remove(0);
    assert_eq!(
        (row.operation, row.standing, row.ended_ms),
        (operation, Standing::Running, None)
    );

    process.kill("open");
    let row = place.reader().operations(&Filter::default()).unwrap().remove(0);
    assert_eq!(
        (row.operation, row.standing, row.ended_ms),
        (operation, Standing::Abandoned, None)
    );
    let recovered = ledger.recover(lost).unwrap();
    assert_eq!(
        recovered,
        Recovered {
            count: 1,
            living: 0,
            unreadable: 0
        }
    );
    let row = place.reader().operations(&Filter::default()).unwrap().remove(0);
    assert_eq!(
        (row.standing, row.ended_ms, row.unsettled),
        (Standing::Ended, Some(1_500), true)
    );
    assert_clean(&place.path);
}

#[cfg(unix)]
#[tokio::test]
async fn a_sibling_is_found_alive_through_a_link() {
    let place = Place::new();
    let mut process = Process::start("sibling", &place.path);
    process.hear("open").unwrap();
    let link = place.path.with_file_name("link.db");
    std::os::unix::fs::symlink(&place.path, &link).unwrap();
    let ledger = Ledger::open(&link, keep_all()).unwrap().ledger;
    assert_eq!(
        ledger.recover(lost).unwrap(),
        Recovered {
            count: 0,
            living: 1,
            unreadable: 0
        }
    );
    let row = Reader::open(&link)
        .unwrap()
        .operations(&Filter::default())
        .unwrap()
        .remove(0);
    assert_eq!(row.standing, Standing::Running);
    process.let_go("receipt");
}

#[tokio::test]
async fn a_sibling_goes_on_after_another_recovered() {
    let place = Place::new();
    let mut process = Process::start("sibling", &place.path);
    process.hear("open").unwrap();
    let ledger = place.open();
    ledger.recover(lost).unwrap();
    assert_eq!(process.let_go("receipt"), "2");
    assert_eq!(place.count("SELECT count(*) FROM open"), 0);
    assert_clean(&place.path);
}

#[tokio::test]
async fn two_that_start_together_judge_each_intent_once() {
    let place = Place::new();
    for _ in 0..4 {
        let mut left = Process::start("leave", &place.path);
        assert!(left.hear("nothing, it aborts").is_none());
        let mut starters = [
            Process::start("recover", &place.path),
            Process::start("recover", &place.path),
        ];
        for starter in &mut starters {
            starter.hear("ready").unwrap();
        }
        let [first, second] = starters;
        let waiting = std::thread::spawn(move || first.let_go("judged").parse::<u64>().unwrap());
        let judged = second.let_go("judged").parse::<u64>().unwrap() + waiting.join().unwrap();
        assert_eq!(judged, 5);
    }
    assert_eq!(place.count("SELECT count(*) FROM record WHERE phase = 1"), 20);
    assert_eq!(
        place.count("SELECT count(DISTINCT operation) FROM record WHERE phase = 1"),
        20
    );
    assert_clean(&place.path);
}

#[tokio::test]
async fn its_own_open_intents_are_not_recovered() {
    let place = Place::new();
    let ledger = place.open();
    ledger.append(vec![intent(Uuid::now_v7())]).await.unwrap();
    assert_eq!(ledger.recover(lost).unwrap(), Recovered::default());
}

#[tokio::test]
async fn an_answer_that_does_not_close_the_intent_writes_nothing() {
    let place = Place::new();
    let ended = place.open();
    let operation = Uuid::now_v7();
    ended.append(vec![intent(operation)]).await.unwrap();
    ended.close().await.unwrap();
    let ledger = place.open();
    let other = Uuid::now_v7();
    let refused = ledger.recover(|_| verdict(other, "unknown")).unwrap_err();
    assert_eq!(
        refused,
        Fault::Misuse(Misuse::Misjudged {
            asked: operation,
            answered: other,
            intent: false
        })
    );
    let refused = ledger.recover(|open| open.entry.clone()).unwrap_err();
    assert_eq!(
        refused,
        Fault::Misuse(Misuse::Misjudged {
            asked: operation,
            answered: operation,
            intent: true
        })
    );
    assert_eq!(place.count("SELECT count(*) FROM record"), 1);

    // A judge that panics leaves the ledger as usable as before.
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ledger.recover(|_| panic!("no idea"))
    }));
    assert!(judged.is_err());
    assert_eq!(ledger.recover(lost).unwrap().count, 1);
    let mut amended = verdict(operation, "completed");
    amended.phase = Phase::Amendment;
    ledger.append(vec![amended]).await.unwrap();
    assert_clean(&place.path);
}
