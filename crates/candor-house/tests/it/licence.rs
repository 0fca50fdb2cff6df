//! Licence expressions (SPDX), as far as manifests use them: may we take this crate?

/// Is the expression satisfied by the allowed licences? An expression that can't be read is not.
pub(crate) fn satisfied(expression: &str, allowed: &[String]) -> bool {
    // `A/B` is how crates wrote `A OR B` before SPDX.
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let answer = reader.any();
    answer == Some(true) && reader.words.is_empty()
}

/// Reads from left to right; `None` where the expression is none.
struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Option<bool> {
        let mut answer = self.all()?;
        while self.take("OR") {
            answer |= self.all()?;
        }
        Some(answer)
    }

    fn all(&mut self) -> Option<bool> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Some(answer)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let answer = self.any()?;
            return self.take(")").then_some(answer);
        }
        let mut name = self.next()?.to_owned();
        if ["OR", "AND", "WITH", ")"].contains(&name.as_str()) {
            return None;
        }
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(self.allowed.contains(&name))
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        if is_next {
            self.next();
        }
        is_next
    }

    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed = [
        "MIT".to_owned(),
        "Apache-2.0".to_owned(),
        "Unicode-3.0".to_owned(),
    ];
    let yes = [
        "MIT",
        "MIT/GPL-3.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ];
    for expression in yes {
        assert!(satisfied(expression, &allowed), "{expression}");
    }
    let no = [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "GPL-3.0 AND (MIT OR Unicode-3.0)",
        "Apache-2.0 WITH LLVM-exception",
        "",
        "MIT OR",
        "MIT MIT",
        "(MIT",
    ];
    for expression in no {
        assert!(!satisfied(expression, &allowed), "{expression}");
    }
}
