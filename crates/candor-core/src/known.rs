//! A value, or the reason there is none: "not known" and "not there" never look the same.

/// A value of type `T`, or the reason `Why` it is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T, Why> {
    /// The value is known.
    Is(T),
    /// There is none, and this is why.
    Not(Why),
}

impl<T, Why> Known<T, Why> {
    /// The value, if there is one; the reason is dropped.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Not(_) => None,
        }
    }

    /// A view that borrows both sides.
    pub fn as_ref(&self) -> Known<&T, &Why> {
        match self {
            Self::Is(value) => Known::Is(value),
            Self::Not(why) => Known::Not(why),
        }
    }

    /// Changes the value, keeps the reason.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Known<U, Why> {
        match self {
            Self::Is(value) => Known::Is(change(value)),
            Self::Not(why) => Known::Not(why),
        }
    }
}
