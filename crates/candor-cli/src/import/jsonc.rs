//! JSON as editors write it: with comments and trailing commas. Each value keeps its place.

use super::document::{DEEPEST, Member, Node, SyntaxFault, Value};

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxFault> {
    let mut reader = Reader {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        depth: 0,
    };
    let root = reader.value()?;
    reader.skip()?;
    if reader.peek().is_some() {
        return Err(reader.fault("nothing more, since the value above is complete"));
    }
    Ok(root)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, expected: &str) -> SyntaxFault {
        let found = match self.rest().chars().next() {
            None => "the end of the file".to_owned(),
            Some(quote @ ('"' | '\'')) => format!("`{quote}`"),
            Some(letter) => format!("`{}`", letter.escape_debug()),
        };
        SyntaxFault {
            at: self.at,
            problem: format!("{found} stands where {expected} was expected"),
        }
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), SyntaxFault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.rest().starts_with("//") => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                Some(b'/') if self.rest().starts_with("/*") => match self.rest().find("*/") {
                    Some(length) => self.at += length + 2,
                    None => {
                        return Err(SyntaxFault {
                            at: self.at,
                            problem: "this comment does not end; `*/` was expected".to_owned(),
                        });
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self) -> Result<Node, SyntaxFault> {
        self.skip()?;
        let start = self.at;
        let value = match self.peek() {
            Some(b'"') => Value::Text(self.string()?),
            Some(b'{') => self.nested(Self::table)?,
            Some(b'[') => self.nested(Self::list)?,
            _ => self.word()?,
        };
        Ok(Node {
            span: start..self.at,
            value,
        })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, SyntaxFault>) -> Result<Value, SyntaxFault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(SyntaxFault {
                at: self.at,
                problem: format!("more than {DEEPEST} levels of nesting"),
            });
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn table(&mut self) -> Result<Value, SyntaxFault> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                _ => return Err(self.fault("a name in double quotes or `}`")),
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.fault("`:`"));
            }
            self.at += 1;
            let value = self.value()?;
            members.push(Member { key, key_span, value });
            self.skip()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.fault("`,` or `}`")),
            }
        }
        self.at += 1;
        Ok(Value::Table(members))
    }

    fn list(&mut self) -> Result<Value, SyntaxFault> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(b']') {
                break;
            }
            items.push(self.value()?);
            self.skip()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.fault("`,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Value::List(items))
    }

    fn string(&mut self) -> Result<String, SyntaxFault> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let raw = self.text.get(start..start + offset + 1).unwrap_or_default();
                    self.at = start + offset + 1;
                    return serde_json::from_str(raw).map_err(|_| SyntaxFault {
                        at: start,
                        problem: "this string has an escape that JSON does not know".to_owned(),
                    });
                }
                b'\n' => break,
                _ => {}
            }
        }
        Err(SyntaxFault {
            at: start,
            problem: "this string does not end on its line; `\"` was expected".to_owned(),
        })
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Result<Value, SyntaxFault> {
        let length = self
            .rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
            .count();
        let word = self.rest().get(..length).unwrap_or_default();
        let value = match word {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            "null" => Value::Other,
            _ if !word.is_empty() && serde_json::from_str::<serde_json::Number>(word).is_ok() => Value::Other,
            _ => return Err(self.fault("a value")),
        };
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::line_and_column;
    use super::*;

    #[test]
    fn what_editors_write_is_read() {
        let text = "\u{feff}// top\r\n{ \"a\\u0062\": [1.5e3, null,], /* , } */ \"s\": { \"t\": \"x\\\"// no\", }, }\n// end";
        let root = parse(text).unwrap();
        let list = root.get("ab").unwrap();
        assert_eq!(&text[list.span.clone()], "[1.5e3, null,]");
        assert_eq!(list.items().unwrap().len(), 2);
        assert_eq!(root.get("s").unwrap().get("t").unwrap().text(), Some("x\"// no"));
    }

    #[test]
    fn what_is_broken_is_named_with_its_place() {
        for (text, place, word) in [
            ("", (1, 1), "the end of the file"),
            ("{\"a\": 1\n \"b\": 2}", (2, 2), "`,` or `}`"),
            ("{\"a\" 1}", (1, 6), "`:`"),
            ("{a: 1}", (1, 2), "double quotes"),
            ("[1 2]", (1, 4), "`,` or `]`"),
            ("{\"a\": tru}", (1, 7), "a value"),
            ("{\"a\": \"x\n\"}", (1, 7), "does not end"),
            ("{\"a\": \"\\q\"}", (1, 7), "escape"),
            ("{} /* x", (1, 4), "comment"),
            ("{} {}", (1, 4), "nothing more"),
            ("{\"a\": 01}", (1, 7), "a value"),
            ("{,}", (1, 2), "name"),
        ] {
            let fault = parse(text).unwrap_err();
            assert_eq!(
                line_and_column(text, fault.at),
                place,
                "{text}: {}",
                fault.problem
            );
            assert!(fault.problem.contains(word), "{text}: {}", fault.problem);
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(&deep(DEEPEST)).is_ok());
        assert!(parse(&deep(DEEPEST + 1)).unwrap_err().problem.contains("nesting"));
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }
}
