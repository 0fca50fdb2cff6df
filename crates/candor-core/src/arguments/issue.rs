//! One thing wrong with one argument, in the words the model reads.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::schema::received;

/// One broken rule of a tool's input (or output) schema, or of an operator's extra rule.
///
/// Field names are the wire's (`candor/verdict` → `error.issues`), fixed by DESIGN section 3b.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Where, as a JSON Pointer (RFC 6901) into the arguments; `""` is the whole.
    pub path: String,
    /// Which rule: the schema keyword (`type`, `required`, `pattern` …), `unknown_name`, or an operator's rule name.
    pub rule: String,
    /// What the schema or rule wants, in words that can be acted on.
    pub expected: String,
    /// What came, as JSON text, cut and masked; `None` where nothing came (a missing argument).
    pub received: Option<String>,
    /// A concrete way out, where one is known ("did you mean /seatClass?").
    pub hint: Option<String>,
}

impl Issue {
    /// An issue at `path` that a rule in code found: what came there is shown as everywhere, cut and masked. No path
    /// into `arguments` is a missing argument.
    pub fn about(arguments: &Value, path: &str, rule: &str, expected: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            rule: rule.to_owned(),
            expected: expected.into(),
            received: arguments.pointer(path).map(|value| received(value, path)),
            hint: None,
        }
    }
}
