//! The text of a file, and where in it a byte is.

use std::ops::Range;

/// Line and column, both counted from 1; a column is a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A file's text with its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t> {
    /// The file, as the operator named it.
    pub(super) file: &'t str,
    /// All of it.
    pub(super) source: &'t str,
}

impl<'t> Text<'t> {
    /// Where the byte `at` is; the end where it is beyond.
    pub(super) fn position(&self, at: usize) -> Position {
        let before = self
            .source
            .get(..self.source.floor_char_boundary(at))
            .unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: count(before.matches('\n').count()),
            column: count(before.get(line_start..).unwrap_or_default().chars().count()),
        }
    }

    /// The text of a span.
    pub(super) fn slice(&self, span: &Range<usize>) -> &'t str {
        self.source.get(span.clone()).unwrap_or_default()
    }
}

fn count(before: usize) -> u32 {
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_in_characters() {
        let text = Text {
            file: "x",
            source: "a\nzürich = 1\r\n",
        };
        let cases = [
            (0, 1, 1),
            (1, 1, 2),
            (2, 2, 1),
            (5, 2, 3),
            (6, 2, 4),
            (14, 2, 12),
            (99, 3, 1),
        ];
        for (at, line, column) in cases {
            assert_eq!(text.position(at), Position { line, column }, "{at}");
        }
    }
}
