//! Version ranges, as npm and Python packages number themselves: `>=2025.1.1, <2027`.

use std::cmp::Ordering;
use std::str::FromStr;

/// A range of versions: every one of its bounds holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions(Vec<Bound>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    sign: Sign,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Is,
    From,
    Above,
    To,
    Below,
}

/// Longest first: `>=` begins with `>`.
const SIGNS: [(&str, Sign); 5] = [
    (">=", Sign::From),
    ("<=", Sign::To),
    (">", Sign::Above),
    ("<", Sign::Below),
    ("=", Sign::Is),
];

/// What a version is compared by: its numbers, and whether it comes before the release of those numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    numbers: Vec<u64>,
    before_release: bool,
}

/// Why a text is no range of versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no bound of versions; write bounds such as \">=1.2, <2\"")]
pub struct VersionFault(String);

impl Versions {
    /// Is `version` in the range? A text that is no version is in none.
    pub fn contain(&self, version: &str) -> bool {
        let Some(version) = Version::read(version) else {
            return false;
        };
        self.0.iter().all(|bound| bound.admits(&version))
    }
}

impl FromStr for Versions {
    type Err = VersionFault;

    fn from_str(text: &str) -> Result<Self, VersionFault> {
        let bounds = text.split(',').map(|bound| {
            let bound = bound.trim();
            let (sign, version) = SIGNS
                .iter()
                .find_map(|(sign, meaning)| Some((*meaning, bound.strip_prefix(sign)?)))
                .ok_or_else(|| VersionFault(bound.to_owned()))?;
            let version = Version::read(version.trim()).ok_or_else(|| VersionFault(bound.to_owned()))?;
            Ok(Bound { sign, version })
        });
        bounds.collect::<Result<_, _>>().map(Self)
    }
}

impl Bound {
    fn admits(&self, version: &Version) -> bool {
        let order = version.order(&self.version);
        match self.sign {
            Sign::Is => order == Ordering::Equal,
            Sign::From => order != Ordering::Less,
            Sign::Above => order == Ordering::Greater,
            Sign::To => order != Ordering::Greater,
            Sign::Below => order == Ordering::Less,
        }
    }
}

impl Version {
    /// Numbers between dots, then perhaps something that marks a version before the release (`-beta.1`, `rc1`), then
    /// perhaps a build (`+x`) that says nothing of the order.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let numbers: Option<Vec<u64>> = numbers
            .trim_end_matches('.')
            .split('.')
            .map(|number| number.parse().ok())
            .collect();
        Some(Self {
            numbers: numbers?,
            before_release: !rest.is_empty() && !rest.starts_with("post"),
        })
    }

    /// Numbers that one of two does not have are 0.
    fn order(&self, other: &Self) -> Ordering {
        let length = self.numbers.len().max(other.numbers.len());
        let number = |version: &Self, at: usize| version.numbers.get(at).copied().unwrap_or(0);
        let numbers = (0..length).map(|at| number(self, at).cmp(&number(other, at)));
        numbers
            .fold(Ordering::Equal, Ordering::then)
            .then(other.before_release.cmp(&self.before_release))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_is_between_its_bounds_and_nothing_else() {
        let range: Versions = ">=2025.1.1, <2027".parse().unwrap();
        for (version, inside) in [
            ("2025.1.1", true),
            ("2026.8.31", true),
            ("v2026.8.31+build", true),
            ("2025.1.0", false),
            ("2025.1.1-beta.1", false),
            ("2025.1.1.post1", true),
            ("2027", false),
            ("2027.0.0", false),
            ("2027rc1", true),
            ("latest", false),
            ("", false),
        ] {
            assert_eq!(range.contain(version), inside, "{version}");
        }
        let one: Versions = "=1.2".parse().unwrap();
        assert!(one.contain("1.2.0") && !one.contain("1.2.1"));
        let other: Versions = ">1, <=2".parse().unwrap();
        assert!(!other.contain("1.0") && other.contain("1.0.1") && other.contain("2.0"));
    }

    #[test]
    fn what_is_no_bound_is_said_to_be_none() {
        for text in ["", "1.2", "^1.2", ">=x", ">=1,", "~=1"] {
            let fault = text.parse::<Versions>().unwrap_err().to_string();
            assert!(fault.contains("is no bound of versions"), "{text}: {fault}");
        }
    }
}
