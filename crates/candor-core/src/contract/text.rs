//! Clauses about the text of a result, for a server that says nothing in any field.
//!
//! Prose never decides (DESIGN 3a): such a clause can only lower a claim, it holds only where no field is declared, and
//! what it concludes stands on `asserted`. Patterns are an operator's, anchored, and bounded before they run.

use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::effect::{Source, Sourced};
use super::recovery::Lowered;

/// Longest pattern, in bytes.
const LONGEST_PATTERN: usize = 500;
/// Largest compiled pattern, in bytes.
const COMPILED_SIZE: usize = 256 * 1024;
/// So much of a text block is looked at, in bytes.
const LOOKED_AT: usize = 4 * 1024;
/// So many text blocks are looked at.
const BLOCKS: usize = 8;
/// A block above this size that begins as JSON does is taken for JSON unread.
const JSON_READ: usize = 1024 * 1024;

/// One clause: texts that begin so mean this.
#[derive(Debug, Clone, PartialEq)]
pub struct TextClause {
    /// How such a text begins.
    pub pattern: TextPattern,
    /// What it is lowered to.
    pub means: Lowered,
}

/// A pattern that fits the beginning of a text. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TextPattern(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    source: String,
    regex: Regex,
}

/// Why a text is no such pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// It does not say where it begins.
    #[error("a pattern for texts begins with \"^\": it fits the beginning of a text and nothing inside it")]
    NotAnchored,
    /// Nothing that can be compiled.
    #[error("not a regular expression, or too large a one")]
    NotAPattern,
    /// Longer than allowed.
    #[error("a pattern has at most {LONGEST_PATTERN} bytes")]
    TooLong,
    /// It says nothing.
    #[error("this pattern fits every text")]
    FitsAll,
}

impl TextPattern {
    /// Compiles a regular expression that begins with `^`. All of it is held to the beginning, alternatives too.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(source: &str) -> Result<Self, TextFault> {
        if source.len() > LONGEST_PATTERN {
            return Err(TextFault::TooLong);
        }
        let rest = source.strip_prefix('^').ok_or(TextFault::NotAnchored)?;
        // Alone first: a bracket too many must not close ours.
        compiled(rest)?;
        let regex = compiled(&format!(r"\A(?:{rest})"))?;
        if regex.is_match("") {
            return Err(TextFault::FitsAll);
        }
        Ok(Self(Arc::new(Parts {
            source: source.to_owned(),
            regex,
        })))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0.source
    }

    fn fits(&self, text: &str) -> bool {
        self.0.regex.is_match(text)
    }
}

fn compiled(source: &str) -> Result<Regex, TextFault> {
    RegexBuilder::new(source)
        .size_limit(COMPILED_SIZE)
        .dfa_size_limit(COMPILED_SIZE)
        .build()
        .map_err(|_| TextFault::NotAPattern)
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.source)
    }
}

/// A clause that lowers a claim, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// A pattern that the text of the result fits.
    Pattern(String),
    /// An expression that holds of the result.
    Expression(String),
}

/// What a clause about text made of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct LoweredReading {
    /// What it is lowered to.
    pub means: Lowered,
    /// The clause that did.
    pub clause: Clause,
    /// Who said so.
    pub source: Source,
    /// Which of the texts fits, counted from 0.
    pub block: usize,
}

/// The first clause that fits one of the first texts. Text that is JSON is read by no pattern: a field is there for it.
pub fn read(clauses: &[Sourced<TextClause>], texts: &[&str]) -> Option<LoweredReading> {
    let beginnings: Vec<(usize, &str)> = texts
        .iter()
        .take(BLOCKS)
        .enumerate()
        .filter(|(_, text)| !is_json(text))
        .map(|(block, text)| {
            let end = text.floor_char_boundary(LOOKED_AT);
            (block, text.get(..end).unwrap_or_default())
        })
        .collect();
    clauses.iter().find_map(|Sourced { value, source }| {
        let (block, _) = beginnings.iter().find(|(_, text)| value.pattern.fits(text))?;
        Some(LoweredReading {
            means: value.means,
            clause: Clause::Pattern(value.pattern.as_str().to_owned()),
            source: source.clone(),
            block: *block,
        })
    })
}

/// Is it a JSON object or list as a whole?
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && (text.len() > JSON_READ || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(pattern: &str, means: Lowered) -> Sourced<TextClause> {
        let pattern = TextPattern::compile(pattern).unwrap();
        Sourced::new(TextClause { pattern, means }, Source::CommandLine)
    }

    fn lowered(pattern: &str, text: &str) -> bool {
        read(&[clause(pattern, Lowered::Failed)], &[text]).is_some()
    }

    #[test]
    fn a_text_that_begins_so_is_found_and_one_that_holds_it_is_not() {
        assert!(lowered("^Error: ", "Error: no such table"));
        assert!(!lowered("^Error: ", "3 hits:\nError: timeout at 10:02"));
        assert!(!lowered("^Error: |fatal", "not fatal"), "an alternative");
        assert!(lowered("^Error: |fatal", "fatal: no such ref"));
        assert!(
            !lowered("^(?m)Error|^Fatal", "x\nFatal"),
            "lines begin, the text does not"
        );
        assert!(lowered("^(?i)error", "ERROR"));
    }

    #[test]
    fn json_and_what_is_far_down_are_left_alone() {
        assert!(!lowered(r"^\{.*error", r#"{"error":"x"}"#));
        assert!(!lowered(r"^\[\W*error", r#"["error"]"#));
        assert!(lowered(r"^\[error\]", "[error] no such table"));
        let long = format!("{}end", "a".repeat(LOOKED_AT));
        assert!(!lowered("^a*end", &long));
        assert!(lowered("^a*end", long.trim_start_matches("aa")));
        let many = ["fine"; BLOCKS];
        let mut texts = many.to_vec();
        texts.push("Error: x");
        let clauses = [clause("^Error", Lowered::Failed)];
        assert!(read(&clauses, &texts).is_none());
        texts.remove(0);
        assert_eq!(read(&clauses, &texts).unwrap().block, BLOCKS - 1);
    }

    #[test]
    fn the_first_clause_that_fits_is_taken() {
        let clauses = [
            clause("^Error: refused", Lowered::Rejected),
            clause("^Error", Lowered::Failed),
        ];
        let means = |text: &str| read(&clauses, &[text]).map(|found| found.means);
        assert_eq!(means("Error: refused"), Some(Lowered::Rejected));
        assert_eq!(means("Error: else"), Some(Lowered::Failed));
        assert_eq!(means("done"), None);
    }

    #[test]
    fn a_pattern_that_is_loose_large_or_none_is_refused() {
        let fault = |source: &str| TextPattern::compile(source).err();
        assert_eq!(fault("Error"), Some(TextFault::NotAnchored));
        assert_eq!(fault("(?m)^Error"), Some(TextFault::NotAnchored));
        assert_eq!(fault("^Error("), Some(TextFault::NotAPattern));
        assert_eq!(fault("^a)(b"), Some(TextFault::NotAPattern));
        assert_eq!(fault(r"^(\w{50}){50}"), Some(TextFault::NotAPattern));
        for all in ["^", "^.*", "^(Error)?"] {
            assert_eq!(fault(all), Some(TextFault::FitsAll), "{all}");
        }
        assert_eq!(
            fault(&format!("^{}", "a".repeat(LONGEST_PATTERN))),
            Some(TextFault::TooLong)
        );
        assert_eq!(fault("^Error"), None);
    }
}
