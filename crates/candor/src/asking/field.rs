//! The fields a form may have: the five kinds of value, and the five shapes of a choice.
//!
//! The shapes are those of `PrimitiveSchemaDefinition` in the specification's revisions 2025-11-25 and 2026-07-28:
//! texts, numbers, integers and booleans; one of several (plain, titled by `oneOf`, or titled by the older `enumNames`);
//! some of several (plain, or titled by `anyOf`).

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// A text.
    Text(Text),
    /// A number.
    Number(Number),
    /// A whole number.
    Integer(Integer),
    /// Yes or no.
    Boolean(Boolean),
    /// One of several.
    Choice(Choice),
    /// Some of several.
    Choices(Choices),
}

/// Formats that a text of a form may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An e-mail address (RFC 5321).
    Email,
    /// A URI (RFC 3986).
    Uri,
    /// A date (RFC 3339), such as `2026-07-28`.
    Date,
    /// A date with time and offset (RFC 3339).
    DateTime,
}

impl Format {
    /// All formats.
    pub(super) const ALL: [Self; 4] = [Self::Email, Self::Uri, Self::Date, Self::DateTime];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }
}

/// A text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) least: Option<u32>,
    pub(super) most: Option<u32>,
    pub(super) format: Option<Format>,
    pub(super) default: Option<String>,
}

/// A number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Number {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    pub(super) default: Option<f64>,
}

/// A whole number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Integer {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
    pub(super) default: Option<i64>,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Boolean {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Known,
}

/// A default that is there, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Known {
    #[default]
    No,
    Is(bool),
}

/// How the options of a choice are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By their values.
    Plain,
    /// With titles, as `oneOf` or `anyOf`.
    Titled,
    /// With titles, as `enumNames`.
    EnumNames,
}

/// One of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) options: Vec<(String, String)>,
    pub(super) naming: Naming,
    pub(super) default: Option<String>,
}

/// Some of several.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) options: Vec<(String, String)>,
    pub(super) naming: Naming,
    pub(super) least: Option<u32>,
    pub(super) most: Option<u32>,
    pub(super) default: Option<Vec<String>>,
}

/// Title and description, the same for every kind.
macro_rules! named {
    ($($kind:ident),*) => { $(
        impl $kind {
            /// What the user sees as its name.
            #[must_use]
            pub fn title(self, title: impl Into<String>) -> Self {
                Self { title: Some(title.into()), ..self }
            }

            /// What the user reads about it.
            #[must_use]
            pub fn description(self, description: impl Into<String>) -> Self {
                Self { description: Some(description.into()), ..self }
            }
        }

        impl From<$kind> for Field {
            fn from(field: $kind) -> Self {
                Self::$kind(field)
            }
        }
    )* };
}
named!(Text, Number, Integer, Boolean, Choice, Choices);

impl Text {
    /// A text.
    pub fn new() -> Self {
        Self::default()
    }

    /// From `least` to `most` characters.
    #[must_use]
    pub fn length(self, least: u32, most: u32) -> Self {
        Self {
            least: Some(least),
            most: Some(most),
            ..self
        }
    }

    /// Of this format; an answer that doesn't have it is asked for again.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Self {
            format: Some(format),
            ..self
        }
    }

    /// What the form shows at first. It isn't an answer until the user sends it.
    #[must_use]
    pub fn with_default(self, default: impl Into<String>) -> Self {
        Self {
            default: Some(default.into()),
            ..self
        }
    }
}

impl Number {
    /// A number.
    pub fn new() -> Self {
        Self::default()
    }

    /// From `least` to `most`, both allowed.
    #[must_use]
    pub fn range(self, least: f64, most: f64) -> Self {
        Self {
            least: Some(least),
            most: Some(most),
            ..self
        }
    }

    /// What the form shows at first.
    #[must_use]
    pub fn with_default(self, default: f64) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }
}

impl Integer {
    /// A whole number.
    pub fn new() -> Self {
        Self::default()
    }

    /// From `least` to `most`, both allowed.
    #[must_use]
    pub fn range(self, least: i64, most: i64) -> Self {
        Self {
            least: Some(least),
            most: Some(most),
            ..self
        }
    }

    /// What the form shows at first.
    #[must_use]
    pub fn with_default(self, default: i64) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }
}

impl Boolean {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the form shows at first.
    #[must_use]
    pub fn with_default(self, default: bool) -> Self {
        Self {
            default: Known::Is(default),
            ..self
        }
    }
}

impl Choice {
    /// One of these.
    pub fn of<V: Into<String>>(options: impl IntoIterator<Item = V>) -> Self {
        let options = options
            .into_iter()
            .map(|value| (value.into(), String::new()))
            .collect();
        Self {
            title: None,
            description: None,
            options,
            naming: Naming::Plain,
            default: None,
        }
    }

    /// One of these; the user sees the titles, the tool gets the values: `(value, title)`.
    pub fn titled<V: Into<String>, T: Into<String>>(options: impl IntoIterator<Item = (V, T)>) -> Self {
        let options = options
            .into_iter()
            .map(|(value, title)| (value.into(), title.into()))
            .collect();
        Self {
            title: None,
            description: None,
            options,
            naming: Naming::Titled,
            default: None,
        }
    }

    /// As [`Choice::titled`], written with `enumNames` as clients of 2025-06-18 know it. (For those any titled choice is
    /// written so by itself.)
    pub fn enum_names<V: Into<String>, T: Into<String>>(options: impl IntoIterator<Item = (V, T)>) -> Self {
        Self {
            naming: Naming::EnumNames,
            ..Self::titled(options)
        }
    }

    /// What the form shows at first: one of the values.
    #[must_use]
    pub fn with_default(self, default: impl Into<String>) -> Self {
        Self {
            default: Some(default.into()),
            ..self
        }
    }
}

impl Choices {
    /// Some of these.
    pub fn of<V: Into<String>>(options: impl IntoIterator<Item = V>) -> Self {
        let options = options
            .into_iter()
            .map(|value| (value.into(), String::new()))
            .collect();
        Self {
            title: None,
            description: None,
            options,
            naming: Naming::Plain,
            least: None,
            most: None,
            default: None,
        }
    }

    /// Some of these; the user sees the titles, the tool gets the values: `(value, title)`.
    pub fn titled<V: Into<String>, T: Into<String>>(options: impl IntoIterator<Item = (V, T)>) -> Self {
        let options = options
            .into_iter()
            .map(|(value, title)| (value.into(), title.into()))
            .collect();
        Self {
            options,
            naming: Naming::Titled,
            ..Self::of(Vec::<String>::new())
        }
    }

    /// From `least` to `most` of them.
    #[must_use]
    pub fn count(self, least: u32, most: u32) -> Self {
        Self {
            least: Some(least),
            most: Some(most),
            ..self
        }
    }

    /// What the form shows at first.
    #[must_use]
    pub fn with_default<V: Into<String>>(self, default: impl IntoIterator<Item = V>) -> Self {
        Self {
            default: Some(default.into_iter().map(Into::into).collect()),
            ..self
        }
    }
}
