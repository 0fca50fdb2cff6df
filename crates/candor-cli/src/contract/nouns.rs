//! What tools' names say: a verb, and the things it is about. A draft proposes by them; nothing is decided by a name.

/// Verbs of tools that change nothing.
const READING: [&str; 19] = [
    "list", "get", "read", "show", "search", "find", "describe", "query", "status", "fetch", "open", "view",
    "count", "check", "lookup", "retrieve", "resolve", "inspect", "info",
];

/// The words of a name: `createUserTask`, `create_user-task`; in lower case, plurals as singulars.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for sign in name.chars() {
        let begins = sign.is_uppercase() && was_lower;
        if begins || !sign.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| sign.is_alphanumeric()) {
            word.extend(sign.to_lowercase());
        }
        was_lower = sign.is_lowercase() || sign.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| singular(word)).collect()
}

/// Is the verb one of those that change nothing?
pub(super) fn changes_nothing(words: &[String]) -> bool {
    let verb = words.iter().find(|word| word.as_str() != "mcp");
    verb.is_some_and(|verb| READING.contains(&verb.as_str()))
}

/// How many things two names share, verbs aside.
pub(super) fn shared(one: &[String], other: &[String]) -> usize {
    let things = one.iter().skip(1);
    things
        .filter(|word| other.iter().skip(1).any(|other| other == *word))
        .count()
}

fn singular(word: &str) -> String {
    if word.len() < 4 || word.ends_with("ss") || word.ends_with("us") {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_into_its_words() {
        for (name, expected) in [
            ("create_entities", "create entity"),
            ("createUserTasks", "create user task"),
            ("git-status", "git status"),
            ("get_class", "get class"),
            ("HTTPRequest", "httprequest"),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
        assert!(changes_nothing(&words("list_tasks")) && !changes_nothing(&words("add_task")));
        assert_eq!(shared(&words("add_task"), &words("list_tasks")), 1);
        assert_eq!(shared(&words("add_task"), &words("add_user")), 0);
    }
}
