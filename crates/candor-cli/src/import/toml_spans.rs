//! TOML, each value with its place.

use toml::de::{DeTable, DeValue};

use super::document::{DEEPEST, Member, Node, SyntaxFault, Value};

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxFault> {
    let table = DeTable::parse(text).map_err(|fault| SyntaxFault {
        at: fault.span().map_or(0, |span| span.start),
        problem: fault.message().replace('\n', "; "),
    })?;
    let value = of_table(table.get_ref(), 0)?;
    Ok(Node {
        span: 0..text.len(),
        value,
    })
}

fn of_table(table: &DeTable<'_>, depth: usize) -> Result<Value, SyntaxFault> {
    let mut members = Vec::new();
    for (key, value) in table {
        members.push(Member {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            value: Node {
                span: value.span(),
                value: of_value(value.get_ref(), value.span().start, depth + 1)?,
            },
        });
    }
    // The parser sorts by name; here the order of the text counts.
    members.sort_by_key(|member| member.key_span.start);
    Ok(Value::Table(members))
}

fn of_value(value: &DeValue<'_>, at: usize, depth: usize) -> Result<Value, SyntaxFault> {
    if depth > DEEPEST {
        return Err(SyntaxFault {
            at,
            problem: format!("more than {DEEPEST} levels of nesting"),
        });
    }
    Ok(match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => Value::Other,
        DeValue::Array(items) => {
            let items = items.iter().map(|item| {
                let value = of_value(item.get_ref(), item.span().start, depth + 1)?;
                Ok(Node {
                    span: item.span(),
                    value,
                })
            });
            Value::List(items.collect::<Result<_, SyntaxFault>>()?)
        }
        DeValue::Table(table) => of_table(table, depth)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_they_are_said_to_stand() {
        let text = "# top\n[mcp_servers.git] # here\ncommand = 'uvx'\nargs = [ # why\n  \"a\", \"\"\"b\nc\"\"\", ]\nenv.A = \"x\"\n\n[mcp_servers]\nz = { command = \"n\" }\n";
        let root = parse(text).unwrap();
        let servers = root.get("mcp_servers").unwrap();
        let names: Vec<_> = servers
            .members()
            .unwrap()
            .iter()
            .map(|member| member.key.as_str())
            .collect();
        assert_eq!(names, ["git", "z"]);
        let git = servers.get("git").unwrap();
        let at = |node: &Node| text[node.span.clone()].to_owned();
        assert_eq!(at(git.get("command").unwrap()), "'uvx'");
        let args = git.get("args").unwrap();
        assert!(
            at(args).starts_with("[ # why") && at(args).ends_with(", ]"),
            "{}",
            at(args)
        );
        assert_eq!(at(&args.items().unwrap()[1]), "\"\"\"b\nc\"\"\"");
        assert_eq!(at(servers.get("z").unwrap()), "{ command = \"n\" }");
        assert!(!at(git).starts_with('{'));
        let key = &git.member("command").unwrap().key_span;
        assert_eq!(&text[key.clone()], "command");
        let env = git.get("env").unwrap().get("A").unwrap();
        assert_eq!(at(env), "\"x\"");
    }

    #[test]
    fn what_is_broken_has_a_place() {
        let fault = parse("a = 1\nb = \n").unwrap_err();
        assert!((6..=10).contains(&fault.at), "{fault:?}");
        assert!(parse("a = 1\na = 2\n").is_err());
    }
}
