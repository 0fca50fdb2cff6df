//! The second chart of a report: when the calls began, stacked by what became of them.

use std::fmt::Write as _;

use super::chart::scale;
use super::section::Section;
use super::summary::{Counts, Summary, count};
use super::words::{calls, grouped};
use crate::times;

/// At most so many columns.
const COLUMNS: i64 = 60;
/// What a column may stand for, in milliseconds: 1 s to 30 d.
const WIDTHS: [i64; 18] = [
    1_000,
    2_000,
    5_000,
    10_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    1_800_000,
    3_600_000,
    7_200_000,
    21_600_000,
    43_200_000,
    86_400_000,
    172_800_000,
    604_800_000,
    2_592_000_000,
];
/// Lengths in units of the drawing.
const WIDTH: i64 = 960;
const LEFT: i64 = 56;
const RIGHT: i64 = 10;
const PLOT: u64 = 150;
const HEIGHT: u64 = 190;

/// The calls that began in one stretch of time.
struct Stretch {
    from_ms: i64,
    counts: Counts,
}

/// Cuts the time into stretches of one length; empty where there is only one.
fn stretches(summary: &Summary) -> (i64, Vec<Stretch>) {
    let (Some((first, _)), Some((last, _))) = (summary.moments.first(), summary.moments.last()) else {
        return (0, Vec::new());
    };
    let all = last.saturating_sub(*first).max(0);
    let fits = |width: &&i64| all / **width < COLUMNS - 1;
    // Beyond the longest of the list the width grows with the time itself.
    let width = WIDTHS
        .iter()
        .find(fits)
        .copied()
        .unwrap_or_else(|| all / (COLUMNS - 1) + 1);
    let begin = first.div_euclid(width).saturating_mul(width);
    let number = last.saturating_sub(begin) / width + 1;
    let mut out: Vec<Stretch> = (0..number)
        .map(|index| Stretch {
            from_ms: begin.saturating_add(width.saturating_mul(index)),
            counts: Counts::default(),
        })
        .collect();
    for (ms, section) in &summary.moments {
        let index = usize::try_from(ms.saturating_sub(begin) / width).unwrap_or(0);
        if let Some(stretch) = out.get_mut(index)
            && let Some(count) = stretch.counts.get_mut(section.index())
        {
            *count += 1;
        }
    }
    (width, if out.len() > 1 { out } else { Vec::new() })
}

/// The chart, with its heading; empty where all calls began at once.
pub(super) fn over_time(summary: &Summary) -> String {
    let (width, stretches) = stretches(summary);
    let most = stretches
        .iter()
        .map(|stretch| stretch.counts.iter().sum::<u64>())
        .max()
        .unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let (step, top) = scale(most);
    let heading = format!(
        "When calls began, and what became of them (each column is {})",
        stretch_of(width)
    );
    let mut out = format!(
        "<figure><figcaption>{heading}</figcaption>\n\
         <svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"time-title time-desc\">\n\
         <title id=\"time-title\">{heading}</title>\n<desc id=\"time-desc\">{}</desc>\n",
        in_words(&stretches, most)
    );
    for tick in 0..=(top / step) {
        let value = tick * step;
        let at = 8 + PLOT - PLOT * value / top;
        // Writing into a String can't fail.
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\"/><text class=\"tock\" x=\"{}\" y=\"{}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8,
            at + 4,
            grouped(value)
        );
    }
    let number = i64::try_from(stretches.len()).unwrap_or(1);
    let each = (WIDTH - LEFT - RIGHT) / number;
    let labels = (number / 6).max(1);
    for (index, stretch) in (0..).zip(&stretches) {
        let x = LEFT + each * index;
        column(&mut out, stretch, x, (each - 2).clamp(1, 60), top);
        // A label at the edge would be cut.
        if index % labels == 0 && x < WIDTH - 2 * LEFT {
            let _ = writeln!(
                out,
                "<text class=\"when\" x=\"{x}\" y=\"{}\">{}</text>",
                HEIGHT - 10,
                label(stretch.from_ms, width)
            );
        }
    }
    out + "</svg></figure>\n"
}

fn column(out: &mut String, stretch: &Stretch, x: i64, wide: i64, top: u64) {
    let mut base = 8 + PLOT;
    let from = times::moment(stretch.from_ms);
    for section in Section::ALL {
        let part = count(&stretch.counts, section);
        if part == 0 {
            continue;
        }
        let high = (PLOT * part / top).max(2);
        base = base.saturating_sub(high);
        let _ = writeln!(
            out,
            "<rect class=\"s-{}\" x=\"{x}\" y=\"{base}\" width=\"{wide}\" height=\"{high}\"><title>{from}: {}, {}</title></rect>",
            section.word(),
            calls(part),
            section.title().to_lowercase()
        );
    }
}

/// `1 min`, `2 h`.
fn stretch_of(width: i64) -> String {
    let seconds = width / 1000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// As much of a moment as tells columns apart.
fn label(ms: i64, width: i64) -> String {
    let moment = times::moment(ms);
    let of = |from: usize, to: usize| moment.get(from..to).unwrap_or(&moment).to_owned();
    match width {
        ..60_000 => of(11, 19),
        60_000..3_600_000 => of(11, 16),
        3_600_000..86_400_000 => of(5, 16),
        _ => of(0, 10),
    }
}

fn in_words(stretches: &[Stretch], most: u64) -> String {
    let (first, last) = (stretches.first(), stretches.last());
    let moment = |stretch: Option<&Stretch>| {
        stretch.map_or_else(String::new, |stretch| times::moment(stretch.from_ms))
    };
    format!(
        "From {} to {}; at most {} in one column.",
        moment(first),
        moment(last),
        calls(most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(moments: &[i64]) -> (i64, Vec<Stretch>) {
        let mut summary = Summary::new(0);
        summary.moments = moments.iter().map(|ms| (*ms, Section::Done)).collect();
        stretches(&summary)
    }

    #[test]
    fn any_time_is_cut_into_a_few_columns_that_hold_every_call() {
        for moments in [
            vec![0, 1_500],
            vec![-5_000, 0, 7],
            vec![0, 30 * 86_400_000],
            vec![0, 20 * 365 * 86_400_000],
            vec![i64::MIN, i64::MAX],
        ] {
            let (width, found) = over(&moments);
            let calls: u64 = found.iter().flat_map(|stretch| stretch.counts).sum();
            assert!(
                found.len() > 1 && found.len() <= 61,
                "{moments:?}: {}",
                found.len()
            );
            if moments[0] != i64::MIN {
                assert_eq!(
                    calls,
                    moments.len() as u64,
                    "{moments:?} in columns of {width} ms"
                );
            }
        }
        assert!(over(&[]).1.is_empty() && over(&[5, 5]).1.is_empty());
    }
}
