//! Why a tool's schema can't be used, in words for the person who runs the tool.

/// A schema that can't be used. It costs its own tool the check, and nothing else anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// The text is not JSON.
    #[error(
        "the schema is not JSON ({problem}, line {line}, column {column}); the tool's values are not checked"
    )]
    NotJson {
        /// The parser's words.
        problem: String,
        /// 1-based line in the schema's text.
        line: usize,
        /// 1-based column in that line.
        column: usize,
    },
    /// JSON, but not a schema of its dialect.
    #[error(
        "the schema is not a valid JSON Schema: keyword {keyword:?} at {at:?} has a value that its dialect does \
         not allow; the tool's values are not checked"
    )]
    NotASchema {
        /// The keyword whose value is wrong; empty where the schema as a whole is.
        keyword: String,
        /// Where it stands, as a JSON Pointer into the schema.
        at: String,
    },
    /// More text than Candor reads as a schema.
    #[error(
        "the schema is too large ({size} bytes counted, {limit} is the most); the tool's values are not checked"
    )]
    TooLarge {
        /// Bytes of text, or of the paths to its parts, whichever broke the bound.
        size: usize,
        /// The bound, in bytes.
        limit: usize,
    },
    /// Nested, or linked by `$ref`, deeper than Candor follows.
    #[error(
        "the schema nests too deep ({depth} levels, {limit} is the most); the tool's values are not checked"
    )]
    TooDeep {
        /// Levels of nesting, `$ref` steps included.
        depth: usize,
        /// The bound, in levels.
        limit: usize,
    },
    /// Few bytes that mean very many checks, such as a doubling `allOf`.
    #[error(
        "the schema's $refs expand to more than {limit} parts, so checking one value could take for ever; the \
         tool's values are not checked"
    )]
    TooManyPaths {
        /// The bound, in schema parts after expansion.
        limit: u64,
    },
    /// A `$ref` that applies a schema to the same value again, so that it has no meaning.
    #[error(
        "$ref {reference:?} leads back to itself without going into the value; the tool's values are not checked"
    )]
    EndlessRef {
        /// The reference as written.
        reference: String,
    },
    /// A `$ref` to something that is not inside the schema. Candor never fetches.
    #[error(
        "$ref {reference:?} leads to nothing inside the schema, and Candor fetches none; the tool's values are not checked"
    )]
    UnresolvableRef {
        /// The reference, as far as it is known.
        reference: String,
    },
    /// A `$schema` that names no dialect Candor knows.
    #[error(
        "$schema {dialect:?} is no dialect Candor knows (draft-04 to 2020-12); the tool's values are not checked"
    )]
    UnknownDialect {
        /// The dialect as the schema names it.
        dialect: String,
    },
    /// The validator broke on this schema. A defect, told as one.
    #[error("the validator could not read this schema; the tool's values are not checked")]
    ValidatorFailed,
}
