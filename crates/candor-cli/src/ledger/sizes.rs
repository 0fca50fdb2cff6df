//! Sizes as people write and read them.

/// The units, and what each is in bytes.
const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// A text that is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a whole number with a unit is expected: 500kB, 100MiB or 1GiB")]
pub(super) struct NoSize;

/// Reads a size: a whole number and a unit.
pub(super) fn bytes(text: &str) -> Result<u64, NoSize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = UNITS
        .iter()
        .find_map(|(name, factor)| (*name == unit.trim_start()).then_some(*factor));
    let number: u64 = number.parse().map_err(|_| NoSize)?;
    factor.and_then(|factor| number.checked_mul(factor)).ok_or(NoSize)
}

/// A size with as many digits as say something: `812 B`, `3.4 MiB`, `17 GiB`.
pub(super) fn shown(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..0x10_0000 => (1 << 10, "KiB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1_u64 << 30, "GiB"),
    };
    let (whole, tenth) = (bytes / unit, bytes % unit * 10 / unit);
    if whole < 10 && tenth > 0 {
        format!("{whole}.{tenth} {name}")
    } else {
        format!("{whole} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_refused() {
        for (text, expected) in [
            ("0B", 0),
            ("500kB", 500_000),
            ("100MiB", 100 << 20),
            ("1 GiB", 1 << 30),
            ("2GB", 2_000_000_000),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in ["", "1", "GiB", "-1GiB", "1.5GiB", "1gib", "99999999999GiB"] {
            assert_eq!(bytes(wrong), Err(NoSize), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (3_600_000, "3.4 MiB"),
            (17 << 30, "17 GiB"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }
}
