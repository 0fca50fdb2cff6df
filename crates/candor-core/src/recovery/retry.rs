//! Sending again: may a call be, and when? Nothing here sends or waits.

use std::time::Duration;

use serde_json::Value;

use crate::contract::recovery::Retry;
use crate::judgment::ending::Ending;
use crate::judgment::ruling::{Channel, Ruling};
use crate::judgment::verdict::{Effect, Repeat};
use crate::wire::decode::ErrorObject;
use crate::wire::reply::{Carried, Reply};

/// In seconds. A server that asks to wait longer than this is not believed: nobody plans so far.
pub const LONGEST_ASKED: u64 = 24 * 60 * 60;

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// How often it was handed over, or was to be.
    pub made: u32,
    /// Since its opening.
    pub elapsed: Duration,
}

/// How long to wait before a call is sent again; `None` where it is not. A contract asks for it, and the effect is known
/// to be none, or the tool takes a repeat; no text of a server ever does.
pub fn wait(
    clause: &Retry,
    ending: &Ending,
    ruling: &Ruling,
    tries: Tries,
    asked_wait: Option<u64>,
) -> Option<Duration> {
    let lasts = matches!(ending, Ending::ConnectFailed { lasts: true, .. });
    let told = ruling.channel == Channel::Result;
    // What was answered with an error comes out otherwise only where the server itself says when; and is sent again only
    // where that error did nothing, or a repeat does no harm.
    let harmless = ruling.effect == Effect::NotApplied || ruling.repeat == Some(Repeat::MayHelp);
    let allowed = ruling.may_retry || (harmless && asked_wait.is_some());
    if !told || !allowed || lasts || ruling.kind.is_none() || tries.made == 0 || tries.made >= clause.attempts
    {
        return None;
    }
    let doubled = clause
        .wait
        .saturating_mul(1_u32.checked_shl(tries.made - 1).unwrap_or(u32::MAX));
    let wait = asked_wait.map_or(doubled, Duration::from_secs);
    (tries.elapsed.saturating_add(wait) <= clause.within).then_some(wait)
}

/// How many seconds a server's answer asks to wait before a repeat: in the data of its error, or in the field of its result
/// that the contract names.
pub fn asked(ending: &Ending, reply: &Reply) -> Option<u64> {
    match ending {
        Ending::Replied(reading) => reading.mapped.as_ref()?.asked_wait(),
        _ => in_error(reply),
    }
}

/// `retryAfter` or `retry_after`, a whole number, in the data of an error.
fn in_error(reply: &Reply) -> Option<u64> {
    let Carried::Error(raw) = reply.carried() else {
        return None;
    };
    let data: Value = serde_json::from_str(ErrorObject::read(raw).data?.get()).ok()?;
    let seconds = data
        .get("retryAfter")
        .or_else(|| data.get("retry_after"))?
        .as_u64()?;
    (seconds <= LONGEST_ASKED).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::effect::EffectClass;
    use crate::judgment::ruling::{Clauses, rule};

    const CLAUSE: Retry = Retry {
        attempts: 3,
        within: Duration::from_secs(10),
        wait: Duration::from_secs(1),
    };

    fn waits(ending: &Ending, class: EffectClass, made: u32, asked: Option<u64>) -> Option<u64> {
        let clauses = Clauses {
            refusal_changes_nothing: matches!(
                ending,
                Ending::Refused {
                    changes_nothing: true,
                    ..
                }
            ),
            ..Clauses::default()
        };
        let ruling = rule(ending.how(), class, None, clauses);
        let tries = Tries {
            made,
            elapsed: Duration::from_secs(2),
        };
        wait(&CLAUSE, ending, &ruling, tries, asked).map(|wait| wait.as_secs())
    }

    fn refused(changes_nothing: bool) -> Ending {
        Ending::Refused {
            code: Some(-32_000),
            message: None,
            data: None,
            listed: true,
            changes_nothing,
        }
    }

    fn closed() -> Ending {
        Ending::Closed {
            exit: "exit 9".to_owned(),
            restarts: true,
        }
    }

    #[test]
    fn only_what_did_nothing_or_may_be_repeated_is_sent_again() {
        assert_eq!(waits(&closed(), EffectClass::Write, 1, None), None);
        assert_eq!(waits(&closed(), EffectClass::Idempotent, 1, None), Some(1));
        assert_eq!(waits(&closed(), EffectClass::Read, 1, None), Some(1));
        assert_eq!(
            waits(&refused(false), EffectClass::Write, 1, Some(3)),
            None,
            "no text ever asks for it"
        );
        assert_eq!(
            waits(&refused(false), EffectClass::Idempotent, 1, Some(3)),
            Some(3)
        );
        assert_eq!(
            waits(&refused(false), EffectClass::Idempotent, 1, None),
            None,
            "the same answer would come"
        );
        let unsent = |lasts| Ending::ConnectFailed {
            why: String::new(),
            lasts,
        };
        assert_eq!(waits(&unsent(false), EffectClass::Write, 1, None), Some(1));
        assert_eq!(waits(&unsent(true), EffectClass::Write, 1, None), None);
        assert_eq!(
            waits(&Ending::CancelledSent, EffectClass::Idempotent, 1, None),
            None
        );
    }

    #[test]
    fn waits_double_and_end_with_the_attempts_and_the_time() {
        let unsent = Ending::ConnectFailed {
            why: String::new(),
            lasts: false,
        };
        let waited: Vec<_> = (0..4)
            .map(|made| waits(&unsent, EffectClass::Write, made, None))
            .collect();
        assert_eq!(waited, [None, Some(1), Some(2), None]);
    }

    #[test]
    fn what_the_server_asks_for_stands_over_the_contracts_wait_and_under_its_time() {
        assert_eq!(waits(&refused(true), EffectClass::Write, 1, Some(5)), Some(5));
        assert_eq!(
            waits(&refused(true), EffectClass::Write, 1, Some(9)),
            None,
            "handed on instead"
        );
        assert_eq!(
            waits(&refused(true), EffectClass::Write, 1, None),
            None,
            "the same answer would come"
        );
    }

    #[test]
    fn a_wait_is_read_from_the_data_of_an_error_and_nowhere_else() {
        let reply = |body: &str| Reply::parse(format!(r#"{{"jsonrpc":"2.0","id":1,{body}}}"#)).unwrap();
        let asked = |body| in_error(&reply(body));
        assert_eq!(
            asked(r#""error":{"code":1,"message":"","data":{"retryAfter":7}}"#),
            Some(7)
        );
        assert_eq!(
            asked(r#""error":{"code":1,"message":"","data":{"retry_after":7}}"#),
            Some(7)
        );
        assert_eq!(asked(r#""error":{"code":1,"message":"retryAfter: 7"}"#), None);
        assert_eq!(
            asked(r#""error":{"code":1,"message":"","data":{"retryAfter":1e9}}"#),
            None
        );
        assert_eq!(asked(r#""result":{"content":[],"retryAfter":7}"#), None);
    }
}
