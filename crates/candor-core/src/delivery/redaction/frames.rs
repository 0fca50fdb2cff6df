//! Frames of a stack in a text that Candor is about to quote: they tell a model nothing and an attacker much.
//!
//! Read line by line, in the forms that Python, Java, Node, Rust, .NET and Go print. What stands before the stack, the
//! last cause and what stands after it are kept; how many frames were left out is said. A line that reads like prose is
//! never taken for a frame: too much kept is a longer quotation, too much dropped is the server's answer.

/// What stands where the frames were, after their number.
const NOTE: &str = "stack frames left out";

/// A text without frames of a stack, and how many were left out; `None` where there are none.
///
/// Lines end at line breaks; in a text without any they also end at `\n` as it is written inside JSON.
pub(super) fn without_frames(text: &str) -> Option<(String, usize)> {
    let line_break = if text.contains('\n') { "\n" } else { "\\n" };
    // Most texts have no frame, and many no second line: they are read without being taken apart.
    if !text.contains(line_break) && Section::Prose.read(text).frames() == 0 {
        return None;
    }
    let mut section = Section::Prose;
    let mut frames = 0_usize;
    let lines: Vec<(&str, bool)> = text
        .split_inclusive(line_break)
        .map(|line| {
            let read = section.read(line.strip_suffix(line_break).unwrap_or(line));
            frames = frames.saturating_add(read.frames());
            (line, read == Line::Prose)
        })
        .collect();
    if frames == 0 {
        return None;
    }
    let first = lines.iter().position(|(_, stays)| !stays)?;
    let last = lines.iter().rposition(|(_, stays)| !stays)?;
    let (before, stack) = lines.split_at_checked(first)?;
    let (stack, after) = stack.split_at_checked(last.checked_sub(first)?.checked_add(1)?)?;
    // Of several causes the last: each language prints the one that counts nearest to an end of its stack.
    let cause = stack
        .rsplit(|(_, stays)| !stays)
        .map(whole)
        .find(|group| !trimmed(group, line_break).is_empty())
        .unwrap_or_default();
    let note = format!("… {frames} {NOTE}");
    let parts = [whole(before), cause, note, whole(after)];
    let parts: Vec<&str> = parts
        .iter()
        .map(|part| trimmed(part, line_break))
        .filter(|part| !part.is_empty())
        .collect();
    Some((parts.join(line_break), frames))
}

fn whole(lines: &[(&str, bool)]) -> String {
    lines.iter().map(|(line, _)| *line).collect()
}

fn trimmed<'a>(text: &'a str, line_break: &str) -> &'a str {
    let mut text = text.trim();
    while let Some(rest) = text
        .strip_suffix(line_break)
        .or_else(|| text.strip_prefix(line_break))
    {
        text = rest.trim();
    }
    text
}

/// What one line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Words: they stay.
    Prose,
    /// So many frames.
    Frames(usize),
    /// A heading of a stack, the source beside a frame, a gap: it goes with the frames.
    Part,
}

impl Line {
    fn frames(self) -> usize {
        match self {
            Self::Frames(count) => count,
            Self::Prose | Self::Part => 0,
        }
    }
}

/// In what the reader of lines is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Prose,
    /// After a frame of Python that was indented so far: deeper lines are its source.
    Python(usize),
    /// After Rust's heading of a backtrace.
    Rust,
    /// After Go's heading of a goroutine.
    Go,
}

impl Section {
    fn read(&mut self, line: &str) -> Line {
        // Python draws a tree of bars around the stacks of a group of exceptions.
        let content = line.trim_end().trim_start_matches([' ', '\t', '|', '+']);
        let indent = line.len() - line.trim_start_matches([' ', '\t', '|', '+']).len();
        if content.is_empty() {
            return self.blank();
        }
        if let Some(section) = heading(content) {
            *self = section;
            return Line::Part;
        }
        if let Some(count) = elided(content) {
            return Line::Frames(count);
        }
        if is_python(content) {
            *self = Self::Python(indent);
            return Line::Frames(1);
        }
        if is_call_site(content) {
            return match self {
                Self::Rust => Line::Part,
                _ => Line::Frames(1),
            };
        }
        let read = match self {
            Self::Python(frame) if indent > *frame => Line::Part,
            Self::Rust if is_numbered(content) => Line::Frames(1),
            Self::Go if is_go_file(content) => Line::Part,
            Self::Go if is_go_call(content) => Line::Frames(1),
            _ => Line::Prose,
        };
        if read == Line::Prose {
            *self = Self::Prose;
        }
        read
    }

    fn blank(&mut self) -> Line {
        match self {
            Self::Prose => Line::Prose,
            Self::Python(_) => {
                *self = Self::Prose;
                Line::Part
            }
            Self::Rust | Self::Go => Line::Part,
        }
    }
}

/// A line that opens or joins stacks, and what follows it.
fn heading(line: &str) -> Option<Section> {
    const JOINS: &[&str] = &[
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
        "--- End of ",
        "note: run with `RUST_BACKTRACE",
        "note: Some details are omitted, run with `RUST_BACKTRACE",
    ];
    let is_goroutine = line
        .strip_prefix("goroutine ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with("]:"));
    if is_goroutine {
        Some(Section::Go)
    } else if line.eq_ignore_ascii_case("stack backtrace:") {
        Some(Section::Rust)
    } else if line.ends_with("last):") && line.contains("Traceback (most recent call last):") {
        Some(Section::Prose)
    } else {
        JOINS
            .iter()
            .any(|join| line.starts_with(join))
            .then_some(Section::Prose)
    }
}

/// Frames that whoever printed the stack left out already: `... 12 more`, `[Previous line repeated 996 more times]`.
fn elided(line: &str) -> Option<usize> {
    let rest = line
        .strip_prefix("... ")
        .filter(|rest| rest.ends_with(" more") || rest.ends_with(" common frames omitted"))
        .or_else(|| {
            line.strip_prefix("[Previous line repeated ")
                .filter(|rest| rest.ends_with(']'))
        })
        .or_else(|| {
            line.strip_prefix("...")
                .filter(|rest| rest.ends_with(" frames elided..."))
        })?;
    rest.split(' ').next()?.parse().ok()
}

/// `File "/app/server.py", line 12, in handler`.
fn is_python(line: &str) -> bool {
    line.strip_prefix("File \"")
        .and_then(|rest| rest.split_once("\", line "))
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `at com.x.Y.z(Y.java:12)`, `at foo (/app/x.js:1:2)`, `at Foo.Bar(String a) in C:\x.cs:line 5`, `at /src/x.rs:5:10`.
fn is_call_site(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("at ") else {
        return false;
    };
    let rest = rest.strip_suffix(" {").unwrap_or(rest);
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let rest = rest.strip_prefix("new ").unwrap_or(rest);
    if let Some((call, place)) = rest.rsplit_once(" in ")
        && call.ends_with(')')
        && place
            .rsplit_once(":line ")
            .is_some_and(|(_, number)| is_number(number))
    {
        return true;
    }
    // Java's loggers add the archive: `~[app.jar:1.0]`.
    let call = match rest.rsplit_once(')') {
        Some((call, archive)) if archive.is_empty() || archive.trim_start().starts_with(['~', '[']) => call,
        _ => return !rest.contains(char::is_whitespace) && is_line_and_column(rest),
    };
    let Some((name, inside)) = call.split_once('(') else {
        return false;
    };
    match name.strip_suffix(' ') {
        Some(_) => is_place(call.rsplit_once('(').map_or(inside, |(_, inside)| inside)),
        None => !name.contains(char::is_whitespace) && (name.contains('.') || is_place(inside)),
    }
}

/// Where a call of a script stands.
fn is_place(text: &str) -> bool {
    is_line_and_column(text)
        || matches!(
            text,
            "native" | "<anonymous>" | "Native Method" | "Unknown Source"
        )
        || text.starts_with("node:")
        || text.starts_with("eval at ")
}

/// `/app/x.js:1:2`.
fn is_line_and_column(text: &str) -> bool {
    let Some((rest, column)) = text.rsplit_once(':') else {
        return false;
    };
    is_number(column)
        && rest
            .rsplit_once(':')
            .is_some_and(|(file, line)| is_number(line) && file.contains(['/', '.', '\\', ':']))
}

/// `12: core::panicking::panic`.
fn is_numbered(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(number, _)| is_number(number))
}

/// `main.handler(0x1, ...)`, `created by main.main in goroutine 1`.
fn is_go_call(line: &str) -> bool {
    let is_call = line.ends_with(')')
        && line
            .split_once('(')
            .is_some_and(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace));
    is_call || line.starts_with("created by ")
}

/// `/app/main.go:8 +0x1d`.
fn is_go_file(line: &str) -> bool {
    line.split_once(".go:")
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
