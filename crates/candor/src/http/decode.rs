//! What the body of an answer is, and data out of it.

use ::http::{HeaderMap, header::CONTENT_TYPE};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::problem;

/// What an answer says its body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Media {
    /// It does not say.
    Unsaid,
    /// Problem details.
    Problem,
    /// Other JSON.
    Json,
    /// Something else, by its type and subtype in lower case.
    Other(String),
}

impl Media {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Self::Unsaid;
        };
        let text = String::from_utf8_lossy(value.as_bytes());
        let essence = text
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            problem::MEDIA_TYPE => Self::Problem,
            json if is_json(json) => Self::Json,
            _ => Self::Other(essence),
        }
    }

    pub(super) fn is_promised(&self, promised: &str) -> bool {
        match self {
            Self::Unsaid => true,
            Self::Problem => false,
            Self::Json => is_json(&promised.to_ascii_lowercase()),
            Self::Other(essence) => essence.eq_ignore_ascii_case(promised),
        }
    }
}

fn is_json(essence: &str) -> bool {
    essence == "application/json" || essence.ends_with("+json")
}

/// Data out of JSON, exactly where that goes; `Err` is the place that does not fit, as serde names it.
pub(super) fn data<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let place = match serde_path_to_error::deserialize(&mut reader) {
        Ok(data) => return reader.end().map(|()| data).map_err(|_| "its end".to_owned()),
        Err(fault) => fault.path().to_string(),
    };
    // Exact numbers stand in the way of serde's `tag` and `flatten` for floating point; plain ones do not.
    let plain = serde_json::from_slice::<Value>(body).ok().map(plain_numbers);
    plain
        .and_then(|plain| serde_json::from_value(plain).ok())
        .ok_or(place)
}

fn plain_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => match number.as_f64() {
            Some(float) if float.is_finite() => json!(float),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(plain_numbers).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| (name, plain_numbers(member)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Price {
        price: f64,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "kind")]
    enum Tagged {
        Room(Price),
    }

    #[test]
    fn numbers_in_tagged_data_are_read_and_others_stay_exact() {
        let read = data::<Tagged>(br#"{"kind":"Room","price":95.50}"#);
        assert_eq!(read, Ok(Tagged::Room(Price { price: 95.5 })));
        let exact = data::<Value>(b"[123456789012345678901234, 1.10]").unwrap();
        assert_eq!(exact.to_string(), "[123456789012345678901234,1.10]");
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_place() {
        assert_eq!(
            data::<Vec<Price>>(br#"[{"price":1},{"price":"x"}]"#),
            Err("[1].price".to_owned())
        );
        assert_eq!(data::<Price>(br#"{"price":1} more"#), Err("its end".to_owned()));
        assert!(data::<Price>(b"<html>").is_err());
    }

    #[test]
    fn media_types_are_told_apart() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, text.parse().unwrap());
            Media::of(&headers)
        };
        assert_eq!(of("Application/JSON; charset=utf-8"), Media::Json);
        assert_eq!(of("application/hal+json"), Media::Json);
        assert_eq!(of("application/problem+json"), Media::Problem);
        assert_eq!(
            of("text/html;charset=utf-8"),
            Media::Other("text/html".to_owned())
        );
        assert_eq!(
            of("application/jsonp"),
            Media::Other("application/jsonp".to_owned())
        );
        assert!(of("text/csv").is_promised("text/csv") && !of("text/html").is_promised("text/csv"));
        assert!(!of("application/problem+json").is_promised("application/json"));
        assert!(Media::of(&HeaderMap::new()).is_promised("application/json"));
    }
}
