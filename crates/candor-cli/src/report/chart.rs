//! The chart of a report: for each tool a bar of its calls, stacked by what became of them. Inline SVG, drawn by hand, so
//! that the page needs nothing else.

use std::fmt::Write as _;

use super::html::{escape, foreign};
use super::section::Section;
use super::summary::{Counts, Summary, count};
use super::tables::by_calls;
use super::words::{calls, grouped};
use crate::screen;

/// Tools that have a bar; the others share one.
const BARS: usize = 12;
/// Lengths in units of the drawing.
const WIDTH: u64 = 960;
const LABELS: u64 = 230;
const COUNTS: u64 = 60;
const ROW: u64 = 30;
const THICK: u64 = 18;
/// The shortest part that is seen.
const LEAST: u64 = 3;
/// A part that has room for its number.
const ROOMY: u64 = 26;
/// How many columns of a name fit before its bar.
const NAME: usize = 32;

/// One bar.
struct Bar {
    name: String,
    counts: Counts,
}

impl Bar {
    fn calls(&self) -> u64 {
        self.counts.iter().sum()
    }
}

fn bars(summary: &Summary) -> Vec<Bar> {
    let tools = by_calls(summary);
    let many_servers = tools
        .iter()
        .any(|(server, ..)| Some(server) != tools.first().map(|(first, ..)| first));
    let mut bars: Vec<Bar> = tools
        .iter()
        .take(BARS)
        .map(|(server, tool, counts)| Bar {
            name: if many_servers {
                format!("{tool} · {server}")
            } else {
                (*tool).to_owned()
            },
            counts: counts.sections,
        })
        .collect();
    let mut others = Bar {
        name: match tools.len().saturating_sub(BARS) {
            1 => "1 other tool".to_owned(),
            more => format!("{more} other tools"),
        },
        counts: Counts::default(),
    };
    for (.., tool) in tools.iter().skip(BARS) {
        for (sum, more) in others.counts.iter_mut().zip(tool.sections) {
            *sum += more;
        }
    }
    if others.calls() > 0 {
        bars.push(others);
    }
    bars
}

/// The chart, with its heading; empty where there is nothing to draw.
pub(super) fn by_tool(summary: &Summary) -> String {
    let bars = bars(summary);
    let most = bars.iter().map(Bar::calls).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let (step, top) = scale(most);
    let plot = WIDTH - LABELS - COUNTS;
    let height = ROW * u64::try_from(bars.len()).unwrap_or(0) + 34;
    let mut out = format!(
        "<figure><figcaption>Calls by tool, and what became of them</figcaption>\n\
         <svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"tools-title tools-desc\">\n\
         <title id=\"tools-title\">Calls by tool, and what became of them</title>\n<desc id=\"tools-desc\">{}</desc>\n",
        escape(&in_words(&bars))
    );
    for tick in 0..=(top / step) {
        let value = tick * step;
        let at = LABELS + plot * value / top;
        // Writing into a String can't fail.
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{at}\" y1=\"4\" x2=\"{at}\" y2=\"{}\"/><text class=\"tick\" x=\"{at}\" y=\"{}\">{}</text>",
            height - 28,
            height - 10,
            grouped(value)
        );
    }
    for (index, bar) in bars.iter().enumerate() {
        let y = 8 + ROW * u64::try_from(index).unwrap_or(0);
        draw(&mut out, bar, y, plot, top);
    }
    out + "</svg></figure>\n"
}

fn draw(out: &mut String, bar: &Bar, y: u64, plot: u64, top: u64) {
    let middle = y + THICK / 2 + 5;
    let _ = writeln!(
        out,
        "<g><text class=\"name\" x=\"{}\" y=\"{middle}\">{}<title>{}</title></text>",
        LABELS - 12,
        foreign(&screen::cut(&screen::line(&bar.name), NAME)),
        foreign(&bar.name)
    );
    let mut x = LABELS;
    for section in Section::ALL {
        let part = count(&bar.counts, section);
        if part == 0 {
            continue;
        }
        let wide = (plot * part / top).max(LEAST);
        let _ = writeln!(
            out,
            "<rect class=\"s-{0}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{THICK}\" rx=\"2\"><title>{1}: {2}</title></rect>",
            section.word(),
            section.title(),
            calls(part)
        );
        // The number of a bar that has one part stands behind it.
        if wide >= ROOMY && part < bar.calls() {
            let _ = writeln!(
                out,
                "<text class=\"in i-{}\" x=\"{}\" y=\"{}\">{}</text>",
                section.word(),
                x + wide / 2,
                middle - 1,
                grouped(part)
            );
        }
        x += wide;
    }
    let _ = writeln!(
        out,
        "<text class=\"sum\" x=\"{}\" y=\"{middle}\">{}</text></g>",
        x + 8,
        grouped(bar.calls())
    );
}

/// The chart as a sentence, for who does not see it.
fn in_words(bars: &[Bar]) -> String {
    let each = bars.iter().map(|bar| {
        let parts = Section::ALL.iter().filter_map(|section| {
            let part = count(&bar.counts, *section);
            (part > 0).then(|| format!("{part} {}", section.title().to_lowercase()))
        });
        format!(
            "{}: {}",
            screen::line(&bar.name),
            parts.collect::<Vec<_>>().join(", ")
        )
    });
    each.collect::<Vec<_>>().join("; ") + "."
}

/// The distance of two lines of the grid, and the end of the axis: at most six lines, at 1, 2 or 5 times a power of ten.
pub(super) fn scale(most: u64) -> (u64, u64) {
    let mut power: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if most.div_ceil(step) <= 5 {
                return (step, step.saturating_mul(most.div_ceil(step).max(1)));
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_or_above_the_longest_bar_with_few_lines() {
        for most in [1, 2, 5, 6, 7, 11, 99, 100, 101, 100_000, 123_456_789] {
            let (step, top) = scale(most);
            assert!(
                top >= most && top / step <= 5 && top - most < step,
                "{most}: {step} {top}"
            );
        }
        assert_eq!((scale(0), scale(7)), ((1, 1), (2, 8)));
    }
}
