//! Which calls a report is about.

use anyhow::bail;
use candor_ledger::{Reader, Session};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::args::ReportArgs;

/// The fewest hex digits of a session's id that are looked up.
const LEAST_DIGITS: usize = 4;

/// A span of time, or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    /// Only calls that began at or after this, in milliseconds since 1970.
    pub(super) from_ms: Option<i64>,
    /// Only calls that began before this.
    pub(super) to_ms: Option<i64>,
    /// Only calls of this session.
    pub(super) session: Option<Uuid>,
}

impl Span {
    /// What was asked for.
    ///
    /// # Errors
    /// No such session, or an end before the beginning.
    pub(super) fn of(args: &ReportArgs, reader: &Reader, now_ms: i64) -> anyhow::Result<Self> {
        if let Some(asked) = &args.session {
            return Ok(Self {
                session: Some(session(&reader.sessions()?, asked)?),
                ..Self::default()
            });
        }
        let back = |span: std::time::Duration| {
            now_ms.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
        };
        let span = Self {
            from_ms: args.since.map(back).or(args.from),
            to_ms: args.to,
            session: None,
        };
        if let (Some(from), Some(to)) = (span.from_ms, span.to_ms)
            && from >= to
        {
            bail!("the span ends before it begins: nothing can stand in it. --to is a moment after --from");
        }
        Ok(span)
    }
}

/// The session that is meant.
fn session(sessions: &[Session], asked: &str) -> anyhow::Result<Uuid> {
    let Some(last) = sessions.last() else {
        bail!("no session is in this record yet: one begins when `candor -- CMD` carries its first call");
    };
    if asked == "last" {
        return Ok(last.instance);
    }
    let digits: String = asked
        .chars()
        .filter(|digit| *digit != '-')
        .map(|digit| digit.to_ascii_lowercase())
        .collect();
    if digits.len() < LEAST_DIGITS || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        bail!("{asked:?} is no session: give last, or the end of its id, at least {LEAST_DIGITS} hex digits");
    }
    let fits = |session: &&Session| session.instance.simple().to_string().ends_with(&digits);
    let found: Vec<&Session> = sessions.iter().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok(one.instance),
        [] => bail!(
            "no session has an id that ends in {asked:?}; the last one is {}",
            last.instance
        ),
        several => bail!(
            "several sessions have an id that ends in {asked:?}; give more of it: {}",
            several
                .iter()
                .take(5)
                .map(|session| session.instance.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

/// A moment: RFC 3339, or a date with or without a time, which are in UTC.
pub(super) fn moment(text: &str) -> Result<i64, String> {
    let stamp = text.parse::<Timestamp>().ok().or_else(|| {
        let plain = text.parse::<DateTime>().ok()?;
        TimeZone::UTC.to_timestamp(plain).ok()
    });
    stamp.map(Timestamp::as_millisecond).ok_or_else(|| {
        "a moment is expected: 2026-11-30, 2026-11-30T13:00 (UTC) or 2026-11-30T13:00:00Z".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates_or_stamps_in_utc() {
        assert_eq!(moment("2026-11-30T13:13:00Z"), Ok(1_796_044_380_000));
        assert_eq!(moment("2026-11-30T13:13"), Ok(1_796_044_380_000));
        assert_eq!(moment("2026-11-30 13:13:00"), Ok(1_796_044_380_000));
        assert_eq!(moment("2026-11-30"), Ok(1_795_996_800_000));
        for wrong in ["", "yesterday", "2026-13-01", "30.11.2026", "99999999999"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_session_is_the_last_or_one_by_a_unique_end() {
        let of = |number: u128| Session {
            instance: Uuid::from_u128(number),
            first_ms: 0,
            last_ms: 0,
            operations: 1,
        };
        let sessions = [of(0xaa_1234), of(0xbb_1234), of(0x77)];
        assert_eq!(session(&sessions, "last").unwrap(), Uuid::from_u128(0x77));
        assert_eq!(session(&sessions, "BB-1234").unwrap(), Uuid::from_u128(0xbb_1234));
        for (asked, hint) in [
            ("1234", "several"),
            ("ffff", "no session has"),
            ("12", "at least 4"),
            ("laste", "is no session"),
        ] {
            let said = session(&sessions, asked).unwrap_err().to_string();
            assert!(said.contains(hint), "{asked}: {said}");
        }
        assert!(
            session(&[], "last")
                .unwrap_err()
                .to_string()
                .contains("no session")
        );
    }
}
