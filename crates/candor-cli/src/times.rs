//! Moments and spans as people and programs read them. Moments are in UTC everywhere: a record is read on other machines
//! than the one it was written on.

use jiff::Timestamp;

/// RFC 3339 with milliseconds: `2026-11-30T13:13:09.834Z`. A moment outside the calendar is given as it is recorded.
pub(crate) fn stamp(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms)
        .map_or_else(|_| format!("{unix_ms} ms"), |moment| format!("{moment:.3}"))
}

/// As [`stamp`], to the second and with a space: for tables.
pub(crate) fn moment(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms).map_or_else(
        |_| format!("{unix_ms} ms"),
        |moment| moment.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
    )
}

/// A span, with as many digits as say something: `12 ms`, `2.1 s`, `55 s`, `3 min 5 s`, `2 h 5 min`, `3 d 2 h`.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        7200..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// How old something is, in one unit: `12 s`, `5 min`, `3 h`, `2 d`.
pub(crate) fn rough(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How far back to look: a whole number and `s`, `m`, `h`, `d` or `w`. Longer than a deadline may be, since records are
/// kept for weeks.
pub(crate) fn ago(text: &str) -> Result<std::time::Duration, NoSpan> {
    let digits = text.len()
        - text
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(NoSpan),
    };
    let seconds = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or(NoSpan)?;
    Ok(std::time::Duration::from_secs(seconds))
}

/// A text that is no span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a whole number with a unit is expected: 30s, 10m, 2h, 7d or 2w")]
pub(crate) struct NoSpan;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_in_utc_and_to_the_millisecond() {
        assert_eq!(stamp(1_796_044_389_834), "2026-11-30T13:13:09.834Z");
        assert_eq!(stamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment(1_796_044_389_834), "2026-11-30 13:13:09Z");
        assert_eq!(stamp(i64::MAX), format!("{} ms", i64::MAX));
    }

    #[test]
    fn spans_say_no_more_than_is_known() {
        for (ms, shown) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (2_149, "2.1 s"),
            (55_000, "55 s"),
            (185_000, "3 min 5 s"),
            (7_500_000, "2 h 5 min"),
            (266_400_000, "3 d 2 h"),
        ] {
            assert_eq!(span(ms), shown);
        }
    }

    #[test]
    fn an_age_is_told_in_one_unit() {
        for (ms, shown) in [
            (999, "0 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (10_800_000, "3 h"),
            (604_800_000, "7 d"),
        ] {
            assert_eq!(rough(ms), shown);
        }
    }

    #[test]
    fn how_far_back_is_read_or_refused() {
        assert_eq!(ago("90s").unwrap().as_secs(), 90);
        assert_eq!(ago("7d").unwrap().as_secs(), 604_800);
        assert_eq!(ago("2w").unwrap().as_secs(), 1_209_600);
        for wrong in [
            "",
            "7",
            "d",
            "soon",
            "1.5h",
            "-1h",
            "99999999999999999999w",
            "1 h",
        ] {
            assert_eq!(ago(wrong), Err(NoSpan), "{wrong}");
        }
    }
}
