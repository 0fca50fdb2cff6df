//! Patterns for tool names on the command line: `list_*`, `get_?`.

/// A pattern of literal characters, `*` (any run, also an empty one) and `?` (any one character).
///
/// It is matched against the whole of the tool's own name, case and all. There is no escape: a tool whose name holds
/// a star is matched by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// Every pattern is one; nothing can be wrong with it.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// The patterns of a list separated by commas: `list_*,get_*`. Blanks around them and empty ones are left out.
    pub fn list(patterns: &str) -> Vec<Self> {
        patterns
            .split(',')
            .map(str::trim)
            .filter(|pattern| !pattern.is_empty())
            .map(Self::new)
            .collect()
    }

    /// Whether the whole of `name` fits.
    pub fn matches(&self, name: &str) -> bool {
        // `reached[i]`: the first i pieces of the pattern can have used up what was read so far. Linear in both.
        let mut reached = vec![false; self.0.len() + 1];
        self.open(&mut reached, 0);
        for character in name.chars() {
            let mut next = vec![false; reached.len()];
            for (at, piece) in self.0.iter().enumerate() {
                if !reached.get(at).copied().unwrap_or_default() {
                    continue;
                }
                match piece {
                    '*' => self.open(&mut next, at),
                    '?' => self.open(&mut next, at + 1),
                    literal if *literal == character => self.open(&mut next, at + 1),
                    _ => {}
                }
            }
            reached = next;
        }
        reached.last().copied().unwrap_or_default()
    }

    /// Marks a place as reached, and those after it that stars can skip.
    fn open(&self, reached: &mut [bool], from: usize) {
        for at in from..reached.len() {
            if let Some(slot) = reached.get_mut(at) {
                *slot = true;
            }
            if self.0.get(at) != Some(&'*') {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_or_do_not() {
        let cases = [
            ("list_*", "list_rooms", true),
            ("list_*", "list_", true),
            ("list_*", "list", false),
            ("list_*", "xlist_rooms", false),
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("get_?", "get_a", true),
            ("get_?", "get_é", true),
            ("get_?", "get_", false),
            ("get_?", "get_ab", false),
            ("*_get", "a_get_get", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("**", "x", true),
            ("Get", "get", false),
            ("get.tool", "getxtool", false),
            ("[a-z]", "b", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
        assert!(!Glob::new(&"*a".repeat(50)).matches(&"a".repeat(49)));
    }

    #[test]
    fn lists_are_cut_at_commas() {
        assert_eq!(
            Glob::list(" list_* , get_*,,"),
            [Glob::new("list_*"), Glob::new("get_*")]
        );
        assert_eq!(Glob::list(" , "), []);
    }
}
