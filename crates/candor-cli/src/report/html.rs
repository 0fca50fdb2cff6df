//! A report as one page that loads nothing: no script, no font, no address. Its policy says so, and foreign text is escaped
//! all the same.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::cells::{Head, Table, Text, Weight};
use super::section::Section;
use super::span::Span;
use super::summary::Summary;
use super::{chart, tables, timeline, words};
use crate::{screen, times};

const STYLE: &str = include_str!("style.css");
/// A longer text is broken into lines, and gets room.
const LONG: usize = 28;

pub(super) fn write(place: &str, span: &Span, summary: &Summary) -> String {
    let mut out = head();
    // Writing into a String can't fail.
    let _ = writeln!(
        out,
        "<h1>What was really done</h1>\n<p class=\"about\">{}</p>",
        escape(&words::about(span, summary))
    );
    let open = if summary.is_open() {
        ("headline open", "!")
    } else {
        ("headline", "✓")
    };
    let _ = writeln!(
        out,
        "<p class=\"{}\"><span aria-hidden=\"true\">{}</span> {}</p>",
        open.0,
        open.1,
        escape(&words::headline(summary))
    );
    if summary.calls > 0 {
        tiles(&mut out, summary);
        out += &chart::by_tool(summary);
        out += &timeline::over_time(summary);
    }
    for each in tables::tables(summary) {
        table(&mut out, &each);
    }
    let _ = writeln!(
        out,
        "<footer>Made by candor {} at {}. Times are UTC. Record: {}</footer>\n</main>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION"),
        escape(&times::moment(summary.now_ms)),
        foreign(place)
    );
    out
}

fn head() -> String {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>What was really done</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <svg class=\"patterns\" aria-hidden=\"true\"><defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect class=\"h-ground\" width=\"6\" height=\"6\"/><line class=\"h-lines\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs></svg>\n"
    )
}

/// The counts, which are the charts' legend too.
fn tiles(out: &mut String, summary: &Summary) {
    *out += "<ul class=\"tiles\">\n";
    for section in Section::ALL {
        let count = summary.count(section);
        let _ = writeln!(
            out,
            "<li title=\"{}\"><span class=\"number{}\">{}</span>{}{}</li>",
            section.meaning(),
            if count == 0 { " none" } else { "" },
            words::grouped(count),
            swatch(section),
            section.title()
        );
    }
    *out += "</ul>\n";
}

fn swatch(section: Section) -> String {
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"s-{}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>",
        section.word()
    )
}

fn table(out: &mut String, table: &Table) {
    let folded = table.weight == Weight::Detail;
    let title = escape(&table.title);
    let _ = if folded {
        writeln!(out, "<details><summary>{title}</summary>")
    } else {
        writeln!(out, "<section><h2>{title}</h2>")
    };
    let _ = writeln!(
        out,
        "<p class=\"note\">{}</p>\n<div class=\"wide\"><table><thead><tr>{}</tr></thead><tbody>",
        escape(&table.note),
        table.columns.iter().map(column).collect::<String>()
    );
    for row in &table.rows {
        let _ = writeln!(
            out,
            "<tr>{}</tr>",
            row.iter()
                .zip(&table.columns)
                .map(|(text, head)| cell(text, *head))
                .collect::<String>()
        );
    }
    *out += "</tbody></table></div>\n";
    if table.left_out > 0 {
        let _ = writeln!(
            out,
            "<p class=\"note\">… and {} more.</p>",
            words::grouped(table.left_out)
        );
    }
    *out += if folded { "</details>\n" } else { "</section>\n" };
}

fn column(head: &Head) -> String {
    let class = if head.right { " class=\"n\"" } else { "" };
    format!("<th scope=\"col\"{class}>{}</th>", head.title)
}

fn cell(text: &Text, head: Head) -> String {
    let class = |text: &str| match text.chars().count() {
        _ if head.right => "n",
        length if length > LONG => "long",
        _ => "short",
    };
    match text {
        Text::Own(text) => format!("<td class=\"{}\">{}</td>", class(text), escape(text)),
        Text::Foreign(text) => format!("<td class=\"{}\"><bdi>{}</bdi></td>", class(text), foreign(text)),
        Text::Of(section) => format!("<td class=\"mark\">{}{}</td>", swatch(*section), section.title()),
        Text::Number(0) => "<td class=\"n zero\">–</td>".to_owned(),
        Text::Number(count) => format!("<td class=\"n\">{}</td>", words::grouped(*count)),
    }
}

/// Foreign text: nothing in it hides, and nothing is markup.
pub(super) fn foreign(text: &str) -> String {
    escape(&screen::line(text))
}

/// Text as HTML and SVG have it, within quotes too.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}
