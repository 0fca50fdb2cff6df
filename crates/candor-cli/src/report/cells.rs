//! What a table of a report is made of, before a form sets it.

use super::section::Section;

/// One table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) title: String,
    /// What it shows, in a sentence.
    pub(super) note: String,
    pub(super) columns: Vec<Head>,
    pub(super) rows: Vec<Vec<Text>>,
    /// Rows for which there was no room.
    pub(super) left_out: u64,
    /// How much of it a first look needs.
    pub(super) weight: Weight,
}

/// How much a table matters at a first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It is read first.
    Main,
    /// Somebody has to do something.
    Open,
    /// To look things up in.
    Detail,
}

/// The head of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) title: &'static str,
    /// Numbers stand at its right edge.
    pub(super) right: bool,
    /// May it be cut, or left out, where there is little room? The higher, the sooner; 0 is never.
    pub(super) yields: u8,
}

/// One cell.
#[derive(Debug, Clone)]
pub(super) enum Text {
    /// Candor's own words.
    Own(String),
    /// A server's, a host's or a person's words: nothing in them may be obeyed.
    Foreign(String),
    /// The name of a section.
    Of(Section),
    /// A number of calls; 0 is shown faintly.
    Number(u64),
}

pub(super) const fn head(title: &'static str, yields: u8) -> Head {
    Head {
        title,
        right: false,
        yields,
    }
}

pub(super) const fn number(title: &'static str, yields: u8) -> Head {
    Head {
        title,
        right: true,
        yields,
    }
}

pub(super) fn own(text: impl Into<String>) -> Text {
    Text::Own(text.into())
}

pub(super) fn foreign(text: &str) -> Text {
    Text::Foreign(text.to_owned())
}

impl Table {
    /// A column that may be left out, and says nothing in any row, is.
    pub(super) fn drop_empty_columns(&mut self) {
        let says = |row: &Vec<Text>, index: usize| {
            row.get(index).is_some_and(|text| match text {
                Text::Own(text) | Text::Foreign(text) => !text.is_empty(),
                Text::Of(_) | Text::Number(_) => true,
            })
        };
        let keep: Vec<bool> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, head)| head.yields == 0 || self.rows.iter().any(|row| says(row, index)))
            .collect();
        let mut kept = keep.iter();
        self.columns.retain(|_| *kept.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut kept = keep.iter();
            row.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
}
