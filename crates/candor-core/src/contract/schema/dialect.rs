//! Which JSON Schema dialect a schema speaks, and whether `format` decides in it.

use serde_json::Value;

/// A JSON Schema dialect that Candor can check against, named by a schema's `$schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// draft-04, the oldest still met in the field.
    Draft04,
    /// draft-06.
    Draft06,
    /// draft-07, what most generators emit.
    Draft07,
    /// 2019-09.
    Draft201909,
    /// 2020-12: MCP's default, and so Candor's where a schema names none.
    Draft202012,
}

impl Dialect {
    /// The dialect that `schema` declares; 2020-12 where it declares none. `Err` is the unknown name as written.
    ///
    /// `http` and `https`, with and without the trailing `#`, mean the same here: servers write all four.
    pub(crate) fn declared_by(schema: &Value) -> Result<Self, String> {
        let Some(declared) = schema.get("$schema") else {
            return Ok(Self::Draft202012);
        };
        let Some(uri) = declared.as_str() else {
            return Err(declared.to_string());
        };
        let bare = uri.strip_suffix('#').unwrap_or(uri);
        let bare = bare
            .strip_prefix("https://")
            .or_else(|| bare.strip_prefix("http://"))
            .unwrap_or(bare);
        match bare {
            "json-schema.org/draft-04/schema" => Ok(Self::Draft04),
            "json-schema.org/draft-06/schema" => Ok(Self::Draft06),
            "json-schema.org/draft-07/schema" => Ok(Self::Draft07),
            "json-schema.org/draft/2019-09/schema" => Ok(Self::Draft201909),
            "json-schema.org/draft/2020-12/schema" => Ok(Self::Draft202012),
            _ => Err(uri.to_owned()),
        }
    }

    /// The validator's name for this dialect.
    pub(crate) fn draft(self) -> jsonschema::Draft {
        match self {
            Self::Draft04 => jsonschema::Draft::Draft4,
            Self::Draft06 => jsonschema::Draft::Draft6,
            Self::Draft07 => jsonschema::Draft::Draft7,
            Self::Draft201909 => jsonschema::Draft::Draft201909,
            Self::Draft202012 => jsonschema::Draft::Draft202012,
        }
    }
}

/// Whether `format` (and draft-07's `contentEncoding`, `contentMediaType`) decides or only describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Formats {
    /// `format` describes: a mismatch is told beside the issues, and refuses nothing.
    #[default]
    Annotate,
    /// `format` decides: a mismatch is an issue.
    Assert,
}
