//! `${VAR}` and `${VAR:-default}` in the strings of a configuration.

/// The environment as a function, so that tests bring their own.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Why a string can't be expanded. Values never appear here: they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandFault {
    /// The variable is not set, and no default is given.
    #[error("the environment variable {name} is not set")]
    Unset {
        /// Its name.
        name: String,
    },
    /// `${` without `}`.
    #[error("\"${{\" without \"}}\"")]
    Open,
    /// Something between the braces that is no variable's name.
    #[error("{name:?} is no name of an environment variable")]
    BadName {
        /// What stands there.
        name: String,
    },
}

/// Replaces every `${VAR}` by its value; `${VAR:-default}` by the default where the variable is unset or empty.
/// `$${` stands for `${`. What a variable holds is not expanded again.
pub(super) fn expand(text: &str, environment: Environment<'_>) -> Result<String, ExpandFault> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(escaped) = before.strip_suffix('$') {
            out.push_str(escaped);
            out.push_str("${");
            rest = after;
            continue;
        }
        let (inside, tail) = after.split_once('}').ok_or(ExpandFault::Open)?;
        let (name, default) = inside
            .split_once(":-")
            .map_or((inside, None), |(name, default)| (name, Some(default)));
        if !is_name(name) {
            return Err(ExpandFault::BadName {
                name: name.to_owned(),
            });
        }
        let value = environment(name).filter(|value| default.is_none() || !value.is_empty());
        out.push_str(before);
        match (value, default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(ExpandFault::Unset {
                    name: name.to_owned(),
                });
            }
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${HOME}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_replaced_and_the_rest_is_left_alone() {
        let cases = [
            ("${HOME}/x", "/home/ada/x"),
            ("a${HOME}b${HOME}", "a/home/adab/home/ada"),
            ("${NOT:-there}", "there"),
            ("${NOT:-}", ""),
            ("${EMPTY:-full}", "full"),
            ("${EMPTY}", ""),
            ("${HOME:-there}", "/home/ada"),
            ("${NESTED}", "${HOME}"),
            ("$${HOME}", "${HOME}"),
            ("$HOME and $5 and {HOME} and $", "$HOME and $5 and {HOME} and $"),
            ("{{ args.x }}", "{{ args.x }}"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, &environment).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_refused() {
        let cases = [
            ("${NOT}", ExpandFault::Unset { name: "NOT".into() }),
            ("${HOME", ExpandFault::Open),
            ("${}", ExpandFault::BadName { name: String::new() }),
            (
                "${MY-VAR}",
                ExpandFault::BadName {
                    name: "MY-VAR".into(),
                },
            ),
            ("${1}", ExpandFault::BadName { name: "1".into() }),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, &environment), Err(expected), "{text}");
        }
    }
}
