//! The pages of `docs/codes`, one for each error code and each finding: built in, so that they fit the program.

use crate::screen;

/// Declares the pages by their file names.
macro_rules! pages {
    ($($name:literal,)+) => {
        /// Every page: the code, and its text in Markdown.
        pub(crate) const PAGES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../docs/codes/", $name, ".md"))),)+];
    };
}

pages! {
    "CANDOR_BROKEN_RESPONSE",
    "CANDOR_CANCELLED",
    "CANDOR_CONTRACT",
    "CANDOR_INVALID_INPUT",
    "CANDOR_KEY_CONFLICT",
    "CANDOR_KEY_UNKNOWN",
    "CANDOR_MALFORMED_REQUEST",
    "CANDOR_NOT_CONFIRMED",
    "CANDOR_NOT_FOUND",
    "CANDOR_NOT_RECORDED",
    "CANDOR_NO_ANSWER",
    "CANDOR_PANIC",
    "CANDOR_PERMISSION_DENIED",
    "CANDOR_RATE_LIMITED",
    "CANDOR_RESULT_TYPE",
    "CANDOR_SERVER_RESTING",
    "CANDOR_TOOL_ERROR",
    "CANDOR_TOOL_FAILED",
    "CANDOR_TOOL_REJECTED",
    "CANDOR_TOO_LARGE",
    "CANDOR_UNKNOWN_TOOL",
    "CANDOR_UNREACHABLE",
    "arguments_warned",
    "claimed_verdict",
    "contradiction",
    "failure_sign",
    "input_schema",
    "late_answer",
    "mapping_missing",
    "mapping_unlisted",
    "not_checked",
    "output_missing",
    "output_schema",
    "output_shape",
    "read_back_nothing",
    "read_back_unusable",
    "result_type",
    "text_clause",
    "tool_twice",
    "unchecked",
}

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES
        .iter()
        .find(|(name, _)| *name == code)
        .map(|(_, text)| *text)
}

/// The first sentence of a page: what the code means.
pub(crate) fn meaning(page: &str) -> &str {
    page.lines()
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default()
}

/// A page as it fits so many columns. Paragraphs are broken anew; what stands in a fence is an example and stays.
pub(crate) fn laid_out(page: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut paragraph = String::new();
    let mut fenced = false;
    for line in page.trim_end().lines() {
        let fence = line.starts_with("```");
        if !fenced && !fence && !line.is_empty() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
            continue;
        }
        if !paragraph.is_empty() {
            out.append(&mut screen::wrap(&std::mem::take(&mut paragraph), columns));
        }
        fenced ^= fence;
        out.push(line.to_owned());
    }
    if !paragraph.is_empty() {
        out.append(&mut screen::wrap(&paragraph, columns));
    }
    out
}
