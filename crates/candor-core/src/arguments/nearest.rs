//! The nearest right name or value to a wrong one.
//!
//! Two questions, answered apart: which of the values is nearest (there is always one), and whether a name is so near
//! that it was surely meant (mostly none is).

/// Longest text compared, in characters; the rest of a longer one does not count.
const MAX_CHARS: usize = 64;
/// Most candidates compared.
const MAX_CANDIDATES: usize = 5_000;

/// The indices of the `count` candidates nearest to `came`, nearest first.
pub fn values<T: AsRef<str>>(came: &str, candidates: &[T], count: usize) -> Vec<usize> {
    let came = folded(came);
    let mut scored: Vec<(usize, f64)> = candidates
        .iter()
        .take(MAX_CANDIDATES)
        .map(|candidate| likeness(&came, &folded(candidate.as_ref())))
        .enumerate()
        .collect();
    scored.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    scored.into_iter().take(count).map(|(index, _)| index).collect()
}

/// Whether `came` is so like `right` that it was surely a slip: another case, or a letter or two.
pub fn is_slip(came: &str, right: &str) -> bool {
    let (came, right) = (folded(came), folded(right));
    let allowed = match right.chars().count() {
        0..=3 => 0,
        4..=6 => 1,
        _ => 2,
    };
    strsim::osa_distance(&came, &right) <= allowed
}

/// The one of `known` that the name `unknown` was surely meant to be, if any.
pub fn name<'k>(unknown: &str, known: &[&'k str]) -> Option<&'k str> {
    let unknown = Name::of(unknown);
    let mut best: Option<(f64, &'k str)> = None;
    for candidate in known.iter().take(MAX_CANDIDATES) {
        let name = Name::of(candidate);
        if unknown.is_meant_as(&name) {
            let likeness = likeness(&unknown.joined, &name.joined);
            if best.is_none_or(|(so_far, _)| likeness > so_far) {
                best = Some((likeness, candidate));
            }
        }
    }
    best.map(|(_, name)| name)
}

/// A name taken apart into its words: `maxDepth`, `max_depth` and `max-depth` are the same two.
struct Name {
    words: Vec<String>,
    joined: String,
}

impl Name {
    fn of(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut open = false;
        let mut was_lower = false;
        for letter in text.chars().take(MAX_CHARS) {
            if !letter.is_alphanumeric() {
                open = false;
                continue;
            }
            if !open || letter.is_uppercase() && was_lower {
                words.push(String::new());
            }
            open = true;
            was_lower = !letter.is_uppercase();
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        let joined = words.concat();
        Self { words, joined }
    }

    /// The same words, a slip of the keys, a word left out or added, or a word cut short.
    fn is_meant_as(&self, known: &Self) -> bool {
        if self.joined.is_empty() || known.joined.is_empty() {
            return false;
        }
        self.joined == known.joined
            || is_slip(&self.joined, &known.joined)
            || self.is_part_of(known)
            || known.words.len() > 1 && known.is_part_of(self)
    }

    /// Each of our words is one of theirs, or the beginning of one. Short words say too little.
    fn is_part_of(&self, other: &Self) -> bool {
        let long_enough = |word: &String| word.chars().count() >= 3;
        self.words.iter().all(|word| {
            long_enough(word) && other.words.iter().any(|theirs| theirs.starts_with(word.as_str()))
        })
    }
}

/// Lower case, without the quotes that JSON puts around a text.
fn folded(text: &str) -> String {
    text.trim_matches('"')
        .chars()
        .take(MAX_CHARS)
        .flat_map(char::to_lowercase)
        .collect()
}

/// From 0 to above 1; one text inside the other counts extra.
fn likeness(left: &str, right: &str) -> f64 {
    let inside = !left.is_empty() && !right.is_empty() && (left.contains(right) || right.contains(left));
    let alike = strsim::jaro_winkler(left, right) + strsim::normalized_levenshtein(left, right);
    alike / 2.0 + if inside { 0.2 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{is_slip, name, values};

    #[test]
    fn names_that_were_surely_meant_are_found() {
        let cases = [
            ("depth", "maxDepth"),
            ("hours", "hours_back"),
            ("seatClas", "seatClass"),
            ("max_depth", "maxDepth"),
            ("MaxDepth", "maxDepth"),
            ("dir", "directory"),
            ("fileName", "file_path_name"),
            ("qurey", "query"),
            ("base_branch_name", "base_branch"),
        ];
        for (came, meant) in cases {
            assert_eq!(name(came, &["unrelated", meant, "other"]), Some(meant), "{came}");
        }
    }

    #[test]
    fn names_of_their_own_stay() {
        for came in ["text", "id", "verbose", "x", "", "_", "日本"] {
            assert_eq!(
                name(came, &["content", "user_id", "maxDepth", "y"]),
                None,
                "{came}"
            );
        }
    }

    #[test]
    fn the_most_alike_of_several_near_names_wins() {
        assert_eq!(name("start", &["start_date", "starts"]), Some("starts"));
    }

    #[test]
    fn values_come_nearest_first_and_slips_are_told_from_other_words() {
        assert_eq!(
            values("\"economy\"", &["\"business\"", "\"Economy\"", "\"eco\""], 2),
            vec![1, 2]
        );
        assert!(is_slip("\"econmy\"", "\"economy\""));
        assert!(!is_slip("\"first\"", "\"economy\""));
        assert!(!is_slip("5", "6"));
    }
}
