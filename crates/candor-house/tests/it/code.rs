//! Rust text without its comments and literals, so that a rule about code is not broken by a sentence about it.

/// The code alone: every character of a comment or a literal becomes a space, lines stay where they are.
pub(crate) fn code(text: &str) -> String {
    let mut reader = Reader {
        rest: text,
        out: String::with_capacity(text.len()),
        last: ' ',
    };
    while !reader.rest.is_empty() {
        reader.step();
    }
    reader.out
}

struct Reader<'a> {
    rest: &'a str,
    out: String,
    /// The character before, to tell `r"` from the end of a name.
    last: char,
}

impl Reader<'_> {
    fn step(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment(rest));
        } else if let Some(length) = literal(rest, self.last) {
            self.blank(length);
        } else {
            let next = rest.chars().next().unwrap_or(' ');
            self.out.push(next);
            self.last = next;
            self.rest = rest.get(next.len_utf8()..).unwrap_or_default();
        }
    }

    fn blank(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.out
            .extend(gone.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
        self.last = ' ';
    }
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of the string or character that begins here, if one does.
fn literal(text: &str, before: char) -> Option<usize> {
    if text.starts_with('"') {
        return Some(quoted(text, '"'));
    }
    if text.starts_with('\'') {
        let mut letters = text.chars().skip(1);
        let (first, second) = (letters.next()?, letters.next());
        // `'a` is a lifetime unless a quote follows the one character.
        return (first == '\\' || second == Some('\'')).then(|| quoted(text, '\''));
    }
    let prefix = ["br", "cr", "r"]
        .into_iter()
        .find(|prefix| text.starts_with(prefix))?;
    if before.is_alphanumeric() || before == '_' {
        return None;
    }
    let rest = text.get(prefix.len()..)?;
    let hashes = rest.chars().take_while(|letter| *letter == '#').count();
    let body = rest.get(hashes..).filter(|body| body.starts_with('"'))?;
    let end = format!("\"{}", "#".repeat(hashes));
    let closed = body
        .get(1..)?
        .find(&end)
        .map_or(body.len(), |at| 1 + at + end.len());
    Some(prefix.len() + hashes + closed)
}

/// The length of a text in quotes that knows escapes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Does this word stand in the code, not as a part of a longer one?
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    words(code).any(|found| found == word)
}

/// The names and keywords of some code.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

/// Code without any white space.
pub(crate) fn dense(code: &str) -> String {
    code.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[test]
fn comments_and_literals_are_no_code() {
    let cases = [
        ("a // b\nc", "a c"),
        ("a /* b /* c */ d */ e", "a e"),
        ("let a = \"b \\\" c\"; d", "let a = ; d"),
        ("r#\"a \" b\"# c", "c"),
        ("br\"a\\\" c", "c"),
        ("f('\"', 'x', '\\'', 'y')", "f( , , , )"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("for\"x\"", "for"),
        ("r#type", "r#type"),
    ];
    for (text, left) in cases {
        assert_eq!(dense(&code(text)), dense(left), "{text}");
    }
    assert_eq!(code("/*\n\n*/a").lines().count(), 3, "lines stay where they are");
    assert!(has_word("a unsafe{", "unsafe") && !has_word("unsafe_code", "unsafe"));
}
