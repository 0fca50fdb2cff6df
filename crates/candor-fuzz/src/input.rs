//! Taking one input apart into the texts that a target needs.

use std::borrow::Cow;

/// Stands on a line of its own between the parts of an input.
pub(crate) const BETWEEN: &str = "\n---\n";

/// The input as text: bytes that are no UTF-8 become replacement characters rather than a reason to skip it.
pub(crate) fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// The first `N` parts of a text; parts that are not there are empty.
pub(crate) fn parts<const N: usize>(text: &str) -> [&str; N] {
    let mut pieces = text.splitn(N, BETWEEN);
    std::array::from_fn(|_| pieces.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_missing_are_empty_and_the_last_keeps_the_rest() {
        assert_eq!(parts("a"), ["a", ""]);
        assert_eq!(parts("a\n---\nb\n---\nc"), ["a", "b\n---\nc"]);
        assert_eq!(parts("\n---\nb"), ["", "b", ""]);
    }
}
