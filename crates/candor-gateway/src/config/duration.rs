//! Spans of time as people write them: `250ms`, `30s`, `5m`, `1h`.

use std::time::Duration;

/// Longest deadline: the 15 minutes that not even progress can pass (DESIGN 3d).
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Why a text is no deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DurationFault {
    /// No number with a unit.
    #[error("a number with a unit is expected: 250ms, 30s, 5m or 1h")]
    Shape,
    /// Nothing can be answered in no time.
    #[error("a time here is longer than zero")]
    Zero,
    /// Over the maximum.
    #[error("a time here is at most 15m")]
    TooLong,
}

/// Reads a deadline: a whole number and `ms`, `s`, `m` or `h`, together more than zero and at most 15 minutes.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_duration(text: &str) -> Result<Duration, DurationFault> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(DurationFault::Shape),
    };
    if number.is_empty() {
        return Err(DurationFault::Shape);
    }
    // Digits that overflow are a number, only too large a one.
    let number = number.parse::<u64>().unwrap_or(u64::MAX);
    match Duration::from_millis(number.saturating_mul(milliseconds)) {
        Duration::ZERO => Err(DurationFault::Zero),
        long if long > LONGEST => Err(DurationFault::TooLong),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_read_or_refused() {
        let cases = [
            ("30s", Ok(Duration::from_secs(30))),
            ("250ms", Ok(Duration::from_millis(250))),
            ("15m", Ok(LONGEST)),
            ("900001ms", Err(DurationFault::TooLong)),
            ("1h", Err(DurationFault::TooLong)),
            ("99999999999999999999999s", Err(DurationFault::TooLong)),
            ("0s", Err(DurationFault::Zero)),
            ("30", Err(DurationFault::Shape)),
            ("s", Err(DurationFault::Shape)),
            ("", Err(DurationFault::Shape)),
            ("1.5s", Err(DurationFault::Shape)),
            ("-1s", Err(DurationFault::Shape)),
            ("30 s", Err(DurationFault::Shape)),
            ("30S", Err(DurationFault::Shape)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }
}
