//! Characters that a reader does not see, or that reorder what they see, made visible.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Writes control characters (but line feed and tab), bidirectional controls, zero-width and other invisible
/// characters and tag characters as `\u{…}`. For error texts only: data is never changed this way.
///
/// An unseen character in a text that is read by a model or on a terminal can forge a line of someone else's.
#[must_use]
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
    let first = text
        .bytes()
        .position(|byte| !is_plain(byte))
        .and_then(|from| Some(from + text.get(from..)?.find(is_invisible)?));
    let Some(first) = first else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at_checked(first).unwrap_or((text, ""));
    let mut visible = String::with_capacity(text.len().saturating_add(16));
    visible.push_str(clean);
    for letter in rest.chars() {
        if is_invisible(letter) {
            // Writing into a String can't fail.
            let _ = write!(visible, "\\u{{{:x}}}", u32::from(letter));
        } else {
            visible.push(letter);
        }
    }
    Cow::Owned(visible)
}

/// Most texts are of these alone, and need not be read letter by letter.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

fn is_invisible(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' => true,
        // Zero-width, marks, line and paragraph separators, embeddings and overrides, joiners, isolates.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' => true,
        // Tag characters and the supplementary variation selectors, in which whole messages can be hidden.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::escape_invisible;
    use std::borrow::Cow;

    #[test]
    fn what_can_forge_is_shown() {
        for (raw, shown) in [
            ("a\rb", r"a\u{d}b"),
            ("a\u{0}b", r"a\u{0}b"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("x\u{7f}\u{9b}", r"x\u{7f}\u{9b}"),
            ("pay\u{202e}cod.exe", r"pay\u{202e}cod.exe"),
            ("a\u{200b}b\u{feff}c", r"a\u{200b}b\u{feff}c"),
            ("\u{2066}x\u{2069}\u{61c}", r"\u{2066}x\u{2069}\u{61c}"),
            ("line\u{2028}[10:00] You: yes", r"line\u{2028}[10:00] You: yes"),
            ("\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}"),
        ] {
            assert_eq!(escape_invisible(raw), shown);
            assert_eq!(
                escape_invisible(shown),
                shown,
                "escaping twice changes nothing more"
            );
        }
    }

    #[test]
    fn what_can_be_read_is_borrowed() {
        for text in [
            "",
            "plain\n\ttext",
            "né à Zürich",
            "未成功",
            "ไทย हिन्दी עברית",
            "✓ 👍 ☺\u{fe0f}",
            "a\u{a0}b",
        ] {
            assert!(
                matches!(escape_invisible(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
