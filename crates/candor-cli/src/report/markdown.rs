//! A report in Markdown, as issues and job summaries show it. Foreign text stands as code, and nothing in it is markup.

use std::fmt::Write as _;

use super::cells::{Table, Text, Weight};
use super::span::Span;
use super::summary::Summary;
use super::{tables, words};
use crate::{screen, times};

pub(super) fn write(span: &Span, summary: &Summary) -> String {
    let mut out = String::new();
    // Writing into a String can't fail.
    let _ = writeln!(out, "# What was really done\n");
    let _ = writeln!(out, "{}\n", words::about(span, summary));
    let mark = if summary.is_open() { "⚠️ " } else { "" };
    let _ = writeln!(out, "**{mark}{}**", words::headline(summary));
    for each in tables::tables(summary) {
        table(&mut out, &each);
    }
    let _ = writeln!(
        out,
        "\nMade by candor {} at {}. Times are UTC.",
        env!("CARGO_PKG_VERSION"),
        times::moment(summary.now_ms)
    );
    out
}

fn table(out: &mut String, table: &Table) {
    let folded = table.weight == Weight::Detail;
    if folded {
        let _ = writeln!(out, "\n<details><summary>{}</summary>\n", table.title);
    } else {
        let _ = writeln!(out, "\n## {}\n", table.title);
    }
    let _ = writeln!(out, "{}\n", own(&table.note));
    let heads: Vec<&str> = table.columns.iter().map(|head| head.title).collect();
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let rules: Vec<&str> = table
        .columns
        .iter()
        .map(|head| if head.right { "---:" } else { "---" })
        .collect();
    let _ = writeln!(out, "| {} |", rules.join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if table.left_out > 0 {
        let _ = writeln!(out, "\n… and {} more.", words::grouped(table.left_out));
    }
    if folded {
        let _ = writeln!(out, "\n</details>");
    }
}

fn cell(text: &Text) -> String {
    match text {
        Text::Own(text) => own(text),
        Text::Foreign(text) => foreign(text),
        Text::Of(section) => format!("**{}**", section.title()),
        Text::Number(0) => "–".to_owned(),
        Text::Number(count) => words::grouped(*count),
    }
}

/// Candor's own words hold no markup; what could be taken for one is a command or a word with an underscore.
fn own(text: &str) -> String {
    text.replace('_', "\\_").replace('|', "\\|")
}

/// Code, so that nothing in it is a link, a mention or a heading. What could end the code, the cell or the line, or open a
/// tag, is written as a reference to the character.
fn foreign(text: &str) -> String {
    let text = screen::line(text);
    if text.is_empty() {
        return text;
    }
    let plain = |letter: char| letter.is_alphanumeric() || " _-.,:;/()=+'\"…–".contains(letter);
    if text.chars().all(plain) && !text.starts_with(' ') && !text.ends_with(' ') {
        return format!("`{text}`");
    }
    let mut out = String::from("<code>");
    for letter in text.chars() {
        if letter.is_ascii_punctuation() {
            let _ = write!(out, "&#{};", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_no_markup() {
        assert_eq!(foreign("book_room"), "`book_room`");
        assert_eq!(foreign(""), "");
        for hostile in [
            "a|b",
            "`",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "@everyone",
            "\n# heading",
            "a\\|b",
            "**b**",
            "--> ]]>",
        ] {
            let shown = foreign(hostile);
            let inner = shown.trim_start_matches("<code>").trim_end_matches("</code>");
            assert!(
                !inner.contains(['|', '`', '<', '>', '[', '*', '@', '\n', '\\']),
                "{shown}"
            );
        }
    }
}
