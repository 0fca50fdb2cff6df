//! Dates and times by a written pattern: `dd/mm/yyyy`, `yyyy-mm-dd HH:MM`.
//!
//! Lower-case letters are the date, upper-case ones the time, so a month (`mm`) and a minute (`MM`) never look alike.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Longest pattern, in bytes.
const LIMIT: usize = 64;

/// A checked pattern.
///
/// | letters | meaning |
/// | --- | --- |
/// | `yyyy` | year, four digits |
/// | `mm`, `m` | month, two digits; or one or two |
/// | `dd`, `d` | day, two digits; or one or two |
/// | `HH`, `H` | hour 0 to 23, two digits; or one or two |
/// | `MM` | minute, two digits |
/// | `SS` | second, two digits |
/// | `T`, spaces, digits and signs | themselves |
///
/// Year, month and day must be there, each part once. Without an hour it is the start of the day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DatePattern(Vec<Piece>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Part { unit: Unit, least: usize, most: usize },
    Literal(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// Why a text is no date pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatePatternFault {
    /// Letters that mean nothing in a pattern.
    #[error("{letters:?} means nothing in a date pattern; yyyy mm dd HH MM SS do (upper case is the time)")]
    UnknownLetters {
        /// The letters.
        letters: String,
    },
    /// A part that is there twice.
    #[error("{letters:?} is there twice in the date pattern")]
    Twice {
        /// The letters.
        letters: String,
    },
    /// Year, month or day is missing.
    #[error("a date pattern has a year (yyyy), a month (mm) and a day (dd)")]
    Incomplete,
    /// Minutes without hours, or seconds without minutes.
    #[error("a date pattern with MM has HH, and one with SS has MM")]
    TimeWithGap,
    /// Longer than 64 bytes.
    #[error("a date pattern is at most 64 bytes long")]
    TooLong,
}

impl DatePattern {
    /// Reads a pattern.
    pub(super) fn parse(text: &str) -> Result<Self, DatePatternFault> {
        if text.len() > LIMIT {
            return Err(DatePatternFault::TooLong);
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let run = rest.len() - rest.trim_start_matches(first).len();
            // Only letters come in runs that mean something; anything else stands for itself.
            let length = if first.is_ascii_alphabetic() && first != 'T' {
                run
            } else {
                first.len_utf8()
            };
            let (letters, after) = rest.split_at(length);
            let piece = piece(letters, first)?;
            if matches!(piece, Piece::Part { unit, .. } if has(&pieces, unit)) {
                return Err(DatePatternFault::Twice {
                    letters: letters.to_owned(),
                });
            }
            pieces.push(piece);
            rest = after;
        }
        if ![Unit::Year, Unit::Month, Unit::Day]
            .iter()
            .all(|unit| has(&pieces, *unit))
        {
            return Err(DatePatternFault::Incomplete);
        }
        let (hour, minute, second) = (
            has(&pieces, Unit::Hour),
            has(&pieces, Unit::Minute),
            has(&pieces, Unit::Second),
        );
        if (minute && !hour) || (second && !minute) {
            return Err(DatePatternFault::TimeWithGap);
        }
        Ok(Self(pieces))
    }

    /// Reads `text` by this pattern. `None` unless the whole text fits and names a real day.
    ///
    /// A time that a change of clocks skips or doubles is read as `jiff` reads it by default: the later one of a
    /// gap, the earlier one of a fold.
    pub(super) fn read(&self, text: &str, zone: &TimeZone) -> Option<Timestamp> {
        let (mut year, mut month, mut day, mut hour, mut minute, mut second) = (0, 0, 0, 0, 0, 0);
        let mut rest = text;
        for piece in &self.0 {
            match piece {
                Piece::Literal(literal) => rest = rest.strip_prefix(*literal)?,
                Piece::Part { unit, least, most } => {
                    let digits = rest.bytes().take(*most).take_while(u8::is_ascii_digit).count();
                    if digits < *least {
                        return None;
                    }
                    let (number, after) = rest.split_at(digits);
                    rest = after;
                    let slot = match unit {
                        Unit::Year => &mut year,
                        Unit::Month => &mut month,
                        Unit::Day => &mut day,
                        Unit::Hour => &mut hour,
                        Unit::Minute => &mut minute,
                        Unit::Second => &mut second,
                    };
                    *slot = number.parse::<i16>().ok()?;
                }
            }
        }
        if !rest.is_empty() || year == 0 {
            return None;
        }
        let small = |number: i16| i8::try_from(number).ok();
        let date = Date::new(year, small(month)?, small(day)?).ok()?;
        let time = Time::new(small(hour)?, small(minute)?, small(second)?, 0).ok()?;
        zone.to_timestamp(DateTime::from_parts(date, time)).ok()
    }

    /// Writes `time` by this pattern, in `zone`.
    pub(super) fn write(&self, time: Timestamp, zone: &TimeZone) -> String {
        let local = zone.to_datetime(time);
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(literal) => out.push(*literal),
                Piece::Part { unit, least, .. } => {
                    let number = match unit {
                        Unit::Year => i64::from(local.year()),
                        Unit::Month => i64::from(local.month()),
                        Unit::Day => i64::from(local.day()),
                        Unit::Hour => i64::from(local.hour()),
                        Unit::Minute => i64::from(local.minute()),
                        Unit::Second => i64::from(local.second()),
                    };
                    out.push_str(&format!("{number:0least$}"));
                }
            }
        }
        out
    }
}

fn has(pieces: &[Piece], wanted: Unit) -> bool {
    pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Part { unit, .. } if *unit == wanted))
}

fn piece(letters: &str, first: char) -> Result<Piece, DatePatternFault> {
    let (unit, least, most) = match letters {
        "yyyy" => (Unit::Year, 4, 4),
        "mm" => (Unit::Month, 2, 2),
        "m" => (Unit::Month, 1, 2),
        "dd" => (Unit::Day, 2, 2),
        "d" => (Unit::Day, 1, 2),
        "HH" => (Unit::Hour, 2, 2),
        "H" => (Unit::Hour, 1, 2),
        "MM" => (Unit::Minute, 2, 2),
        "SS" => (Unit::Second, 2, 2),
        _ if first.is_alphabetic() && first != 'T' => {
            return Err(DatePatternFault::UnknownLetters {
                letters: letters.to_owned(),
            });
        }
        _ => return Ok(Piece::Literal(first)),
    };
    Ok(Piece::Part { unit, least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone() -> TimeZone {
        TimeZone::get("Europe/Zurich").unwrap()
    }

    #[test]
    fn texts_that_fit_are_read_in_the_zone() {
        let cases = [
            ("dd/mm/yyyy", "08/08/2025", "2025-08-07T22:00:00Z"),
            ("dd/mm/yyyy", "08/01/2025", "2025-01-07T23:00:00Z"),
            ("d.m.yyyy", "8.8.2025", "2025-08-07T22:00:00Z"),
            ("d.m.yyyy", "08.12.2025", "2025-12-07T23:00:00Z"),
            ("yyyymmdd", "20250808", "2025-08-07T22:00:00Z"),
            ("yyyy-mm-ddTHH:MM", "2025-08-08T14:30", "2025-08-08T12:30:00Z"),
            (
                "yyyy-mm-dd HH:MM:SS",
                "2025-08-08 14:30:59",
                "2025-08-08T12:30:59Z",
            ),
            ("mm/dd/yyyy", "02/29/2024", "2024-02-28T23:00:00Z"),
            ("dd/mm/yyyy HH:MM", "30/03/2025 02:30", "2025-03-30T01:30:00Z"),
        ];
        for (pattern, text, expected) in cases {
            let read = DatePattern::parse(pattern).unwrap().read(text, &zone());
            assert_eq!(
                read.map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn texts_that_do_not_fit_are_not_read() {
        let cases = [
            ("dd/mm/yyyy", "2024-12-12"),
            ("dd/mm/yyyy", "8/8/2025"),
            ("dd/mm/yyyy", "30/02/2025"),
            ("dd/mm/yyyy", "29/02/2025"),
            ("dd/mm/yyyy", "12/13/2025"),
            ("dd/mm/yyyy", "08/08/2025 "),
            ("dd/mm/yyyy", " 08/08/2025"),
            ("dd/mm/yyyy", "08/08/20255"),
            ("dd/mm/yyyy", "08/08/25"),
            ("dd/mm/yyyy", "00/01/2025"),
            ("dd/mm/yyyy", "01/01/0000"),
            ("dd/mm/yyyy", "٠٨/٠٨/٢٠٢٥"),
            ("dd/mm/yyyy", "-8/08/2025"),
            ("dd/mm/yyyy", ""),
            ("yyyy-mm-dd HH:MM", "2025-08-08 24:00"),
            ("yyyy-mm-dd HH:MM", "2025-08-08 12:60"),
        ];
        for (pattern, text) in cases {
            assert_eq!(
                DatePattern::parse(pattern).unwrap().read(text, &zone()),
                None,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let now: Timestamp = "2025-08-08T10:05:00Z".parse().unwrap();
        for (pattern, expected) in [
            ("dd/mm/yyyy", "08/08/2025"),
            ("d.m.yyyy H:MM", "8.8.2025 12:05"),
            ("yyyy-mm-dd HH:MM:SS", "2025-08-08 12:05:00"),
        ] {
            let pattern = DatePattern::parse(pattern).unwrap();
            assert_eq!(pattern.write(now, &zone()), expected);
            assert_eq!(
                pattern.write(pattern.read(expected, &zone()).unwrap(), &zone()),
                expected
            );
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        let unknown = |letters: &str| DatePatternFault::UnknownLetters {
            letters: letters.into(),
        };
        let cases = [
            ("DD/MM/YYYY", unknown("DD")),
            ("dd/mm/yy", unknown("yy")),
            ("ddd/mm/yyyy", unknown("ddd")),
            ("dd/mmm/yyyy", unknown("mmm")),
            ("dd/mm/yyyy hh:MM", unknown("hh")),
            ("dd/mm/yyyy Z", unknown("Z")),
            ("dd.mm.yyyy é", unknown("é")),
            ("dd/mm/yyyy dd", DatePatternFault::Twice { letters: "dd".into() }),
            ("mm/yyyy", DatePatternFault::Incomplete),
            ("", DatePatternFault::Incomplete),
            ("dd/mm/yyyy MM", DatePatternFault::TimeWithGap),
            ("dd/mm/yyyy HH SS", DatePatternFault::TimeWithGap),
        ];
        for (text, expected) in cases {
            assert_eq!(DatePattern::parse(text), Err(expected), "{text}");
        }
        assert_eq!(
            DatePattern::parse(&"-".repeat(65)),
            Err(DatePatternFault::TooLong)
        );
    }
}
