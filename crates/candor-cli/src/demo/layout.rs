//! Lines of text with inks, fitted to a width: wrapped, barred, or two columns side by side.

use std::fmt::Write;

use crate::screen::{self, width};

/// From here on two columns stand side by side; below, one stands under the other.
const SIDE_BY_SIDE: usize = 100;

/// How a piece of text is set. Few, so that the page stays calm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// As the terminal has it.
    Plain,
    /// Bold: titles, and the words a message opens with.
    Strong,
    /// Dim: what frames the rest.
    Quiet,
    /// Yellow: an error flag.
    Flag,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Quiet => "\x1b[2m",
            Self::Flag => "\x1b[33m",
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    ink: Ink,
    text: String,
}

/// One line of the page.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Line(Vec<Span>);

impl Line {
    /// A line in one ink.
    pub(super) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self::default().and(ink, text)
    }

    /// The same with one more piece.
    pub(super) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.0.push(Span {
            ink,
            text: text.into(),
        });
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|span| width(&span.text)).sum()
    }

    /// As it is written, without a line break.
    pub(super) fn render(&self, colour: bool) -> String {
        let mut text = String::new();
        for span in &self.0 {
            let code = span.ink.code();
            if colour && !code.is_empty() && !span.text.is_empty() {
                let _ = write!(text, "{code}{}\x1b[0m", span.text);
            } else {
                text.push_str(&span.text);
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// A heading with a rule to the end of the line.
pub(super) fn heading(text: &str, width_of_page: usize) -> Line {
    let rule = width_of_page.saturating_sub(width(text) + 4);
    Line::of(Ink::Quiet, "── ")
        .and(Ink::Strong, text)
        .and(Ink::Quiet, format!(" {}", "─".repeat(rule)))
}

/// Text in one ink, wrapped, behind an indent.
pub(super) fn paragraph(ink: Ink, text: &str, indent: usize, width_of_page: usize) -> Vec<Line> {
    let wrapped = wrap(text, width_of_page.saturating_sub(indent));
    wrapped
        .into_iter()
        .map(|line| Line::of(Ink::Plain, " ".repeat(indent)).and(ink, line))
        .collect()
}

/// One side of a comparison. It is asked for its lines when it is known how wide they may be.
pub(super) struct Column<'a> {
    /// What stands over it.
    pub(super) title: String,
    /// Its lines, none wider than asked.
    pub(super) lines: &'a dyn Fn(usize) -> Vec<Line>,
}

/// Two columns: side by side where there is room, else one under the other behind a bar.
pub(super) fn compare(left: &Column<'_>, right: &Column<'_>, width_of_page: usize) -> Vec<Line> {
    if width_of_page < SIDE_BY_SIDE {
        let under = |column: &Column<'_>| {
            let title = Line::of(Ink::Plain, "  ").and(Ink::Strong, column.title.clone());
            let lines = (column.lines)(width_of_page.saturating_sub(4));
            let barred = lines
                .into_iter()
                .map(|line| Line::of(Ink::Quiet, "  │ ").with(line));
            std::iter::once(title).chain(barred).collect::<Vec<_>>()
        };
        return [under(left), under(right)].concat();
    }
    // Indent, column, bar between spaces, column.
    let each = (width_of_page - 2 - 3) / 2;
    let lines = |column: &Column<'_>| {
        let title = Line::of(Ink::Strong, column.title.clone());
        std::iter::once(title)
            .chain((column.lines)(each))
            .collect::<Vec<_>>()
    };
    let (left, right) = (lines(left), lines(right));
    let rows = left.len().max(right.len());
    let filled = |lines: Vec<Line>| {
        lines
            .into_iter()
            .chain(std::iter::repeat(Line::default()))
            .take(rows)
    };
    filled(left)
        .zip(filled(right))
        .map(|(left, right)| {
            let gap = " ".repeat(each.saturating_sub(left.width()));
            Line::of(Ink::Plain, "  ")
                .with(left)
                .and(Ink::Quiet, format!("{gap} │ "))
                .with(right)
        })
        .collect()
}

impl Line {
    fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// Breaks text into lines of at most this many columns: at its own line breaks, else after spaces and commas, else
/// anywhere. Nothing but the spaces at a break is lost. What a terminal would obey is written out.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    text.split('\n')
        .flat_map(|line| wrap_line(&screen::line(line), most.max(1)))
        .collect()
}

fn wrap_line(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive([' ', ',']) {
        if width(&line) + width(word.trim_end()) > most && !line.trim_end().is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        for character in word.chars() {
            let more = width(character.encode_utf8(&mut [0; 4]));
            if width(&line) + more > most && character != ' ' && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    if !line.trim_end().is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_breaks_where_it_can() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("", 5, &[""]),
            ("one two three", 7, &["one two", "three"]),
            ("one\n\ntwo", 7, &["one", "", "two"]),
            (r#"{"a":1,"b":2}"#, 8, &[r#"{"a":1,"#, r#""b":2}"#]),
            ("abcdefgh", 3, &["abc", "def", "gh"]),
            ("ab cdefgh", 3, &["ab", "cde", "fgh"]),
            ("abc  ", 3, &["abc"]),
            ("会议室 12", 4, &["会议", "室", "12"]),
        ];
        for (text, most, expected) in cases {
            assert_eq!(wrap(text, *most), *expected, "{text:?} at {most}");
        }
    }

    #[test]
    fn no_width_loses_a_character_or_is_passed() {
        let text = r#"NOT DONE: "x", {"status":"taken","message":"Room 12 is taken"}. averyveryverylongword"#;
        let bare = |text: &str| text.replace(char::is_whitespace, "");
        for most in 1..100 {
            let lines = wrap(text, most);
            assert_eq!(bare(&lines.concat()), bare(text), "at {most}");
            assert!(
                lines.iter().all(|line| width(line) <= most),
                "at {most}: {lines:?}"
            );
        }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let lines = wrap("a\x1b[31mb\rc", 20);
        assert!(!lines.concat().chars().any(char::is_control), "{lines:?}");
    }

    #[test]
    fn colours_are_only_where_asked_for() {
        let line = Line::of(Ink::Strong, "a").and(Ink::Plain, " b  ");
        assert_eq!(line.render(false), "a b");
        assert_eq!(line.render(true), "\x1b[1ma\x1b[0m b");
    }

    #[test]
    fn columns_stand_side_by_side_only_where_there_is_room() {
        let lines = |width: usize| {
            wrap("five words in one column", width)
                .into_iter()
                .map(|text| Line::of(Ink::Plain, text))
                .collect()
        };
        let column = |title: &str| Column {
            title: title.to_owned(),
            lines: &lines,
        };
        let render = |width| {
            let lines = compare(&column("L"), &column("R"), width);
            lines.iter().map(|line| line.render(false)).collect::<Vec<_>>()
        };
        assert_eq!(render(SIDE_BY_SIDE).len(), 2);
        assert_eq!(render(SIDE_BY_SIDE - 1).len(), 4);
        for width_of_page in [40, 80, 99, 100, 101, 120] {
            assert!(
                render(width_of_page)
                    .iter()
                    .all(|line| width(line) <= width_of_page)
            );
        }
    }
}
