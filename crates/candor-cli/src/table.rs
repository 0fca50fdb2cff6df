//! Tables for people: columns that line up, and that fit where they are read.

use clap::builder::styling::{AnsiColor, Style};

use crate::screen::{Screen, cut, width};

/// Space between two columns.
const GAP: usize = 2;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its head.
    pub(crate) title: &'static str,
    /// To how few columns of the terminal its texts may be cut; `None` where they are never cut.
    pub(crate) least: Option<usize>,
    /// In which order columns are left out where even cut ones do not fit, 1 first; `None` where it always stays.
    pub(crate) left_out: Option<u8>,
    /// Are its texts at its right edge?
    pub(crate) right: bool,
}

impl Column {
    /// A column that is never cut and never left out.
    pub(crate) const fn fixed(title: &'static str) -> Self {
        Self {
            title,
            least: None,
            left_out: None,
            right: false,
        }
    }

    /// A column that may be cut.
    pub(crate) const fn cut_to(self, least: usize) -> Self {
        Self {
            least: Some(least),
            ..self
        }
    }

    /// A column that may be left out.
    pub(crate) const fn left_out(self, rank: u8) -> Self {
        Self {
            left_out: Some(rank),
            ..self
        }
    }

    /// A column of numbers.
    pub(crate) const fn right(self) -> Self {
        Self { right: true, ..self }
    }
}

/// One text of a table. It must be clean already.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// It is known done.
    Good,
    /// It went wrong.
    Bad,
    /// Somebody should look.
    Open,
    /// Less important.
    Faint,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Open => AnsiColor::Yellow.on_default(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: Tone::Plain,
        }
    }

    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            tone,
        }
    }
}

/// A table as it is printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// Head and rows, a line each.
    pub(crate) lines: Vec<String>,
    /// The heads of columns for which there was no room.
    pub(crate) left_out: Vec<&'static str>,
}

/// Lays a table out. Each row has as many cells as there are columns.
pub(crate) fn render(columns: &[Column], rows: &[Vec<Cell>], screen: Screen) -> Rendered {
    let mut widths: Vec<Option<usize>> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(index))
                .map(|cell| width(&cell.text));
            Some(cells.max().unwrap_or(0).max(width(column.title)))
        })
        .collect();
    if let Some(available) = screen.width {
        fit(columns, &mut widths, available);
    }
    let left_out = columns
        .iter()
        .zip(&widths)
        .filter(|(_, width)| width.is_none())
        .map(|(column, _)| column.title);
    let left_out = left_out.collect();
    let head: Vec<Cell> = columns
        .iter()
        .map(|column| Cell::toned(column.title, Tone::Faint))
        .collect();
    let lines = std::iter::once(&head)
        .chain(rows)
        .map(|row| lay(columns, &widths, row, screen))
        .collect();
    Rendered { lines, left_out }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

/// Cuts the widest of the columns that may be cut, until all fits or none may be cut further; then leaves columns out,
/// giving back what that frees.
fn fit(columns: &[Column], widths: &mut [Option<usize>], available: usize) {
    let natural = widths.to_vec();
    loop {
        while total(widths) > available {
            let widest = columns
                .iter()
                .zip(widths.iter_mut())
                .filter_map(|(column, width)| Some((column.least?, width.as_mut()?)))
                .filter(|(least, width)| *least < **width)
                .max_by_key(|(_, width)| **width);
            match widest {
                Some((_, width)) => *width -= 1,
                None => break,
            }
        }
        if total(widths) <= available {
            return;
        }
        let next = columns
            .iter()
            .enumerate()
            .filter(|(index, _)| widths.get(*index).is_some_and(Option::is_some))
            .filter_map(|(index, column)| Some((column.left_out?, index)))
            .min();
        let Some((_, gone)) = next else { return };
        for (index, width) in widths.iter_mut().enumerate() {
            if index == gone {
                *width = None;
            } else if width.is_some() {
                *width = natural.get(index).copied().flatten();
            }
        }
    }
}

fn lay(columns: &[Column], widths: &[Option<usize>], row: &[Cell], screen: Screen) -> String {
    let mut line = String::new();
    for ((column, room), cell) in columns.iter().zip(widths).zip(row) {
        let Some(room) = *room else { continue };
        let text = cut(&cell.text, room);
        let space = " ".repeat(room - width(&text).min(room));
        let style = if screen.colour && !text.is_empty() {
            cell.tone.style()
        } else {
            Style::new()
        };
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        let painted = format!("{style}{text}{style:#}");
        line.push_str(&if column.right {
            space + &painted
        } else {
            painted + &space
        });
    }
    line.truncate(line.trim_end().len());
    match screen.width {
        // Colours take no room, so a coloured line can't be measured here; its columns were fitted above.
        Some(available) if !screen.colour => cut(&line, available),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::fixed("id"),
        Column::fixed("tool").cut_to(4),
        Column::fixed("took").right().left_out(1),
        Column::fixed("code").cut_to(4).left_out(2),
    ];

    fn rows() -> Vec<Vec<Cell>> {
        [
            ["8f2c1a90", "book_room", "5 ms", "ROOM_UNAVAILABLE"],
            ["8f2c1a91", "订房间", "55 s", ""],
        ]
        .map(|row| row.map(Cell::new).to_vec())
        .to_vec()
    }

    fn on(width: Option<usize>) -> Rendered {
        render(&COLUMNS, &rows(), Screen { width, colour: false })
    }

    #[test]
    fn a_table_fits_where_it_is_read() {
        insta::assert_debug_snapshot!((on(None), on(Some(40)), on(Some(24)), on(Some(18))));
        for available in 8..60 {
            for line in on(Some(available)).lines {
                assert!(width(&line) <= available, "{available}: {line}");
            }
        }
    }

    #[test]
    fn colours_are_used_only_where_they_may_be() {
        let row = vec![vec![Cell::toned("failed", Tone::Bad)]];
        let of = |colour| {
            render(&[Column::fixed("outcome")], &row, Screen { width: None, colour })
                .lines
                .concat()
        };
        assert!(of(true).contains('\u{1b}'));
        assert!(!of(false).contains('\u{1b}'));
    }
}
