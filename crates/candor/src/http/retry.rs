//! How long a backend asks to wait.

use std::time::Duration;

use ::http::{HeaderMap, header::RETRY_AFTER};
use jiff::Timestamp;

/// What `Retry-After` says (RFC 9110 section 10.2.3): seconds, or a date in one of the three forms that a recipient has
/// to know (section 5.6.7), counted from `now`; a date that is past is no wait. `None` without one that can be read.
pub fn after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let wait = date(text)?.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(wait).unwrap_or(0)))
}

/// IMF-fixdate, then the two obsolete forms: RFC 850 and asctime.
fn date(text: &str) -> Option<Timestamp> {
    if let Ok(date) = jiff::fmt::rfc2822::parse(text) {
        return Some(date.timestamp());
    }
    ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|form| {
            let parsed = jiff::fmt::strtime::parse(form, text).ok()?.to_datetime().ok()?;
            jiff::tz::TimeZone::UTC.to_timestamp(parsed).ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(value: &str) -> Option<u64> {
        let now: Timestamp = "1994-11-06T08:49:07Z".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().unwrap());
        after(&headers, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_and_the_three_forms_of_a_date_are_read() {
        assert_eq!(wait("120"), Some(120));
        assert_eq!(wait("0"), Some(0));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(30));
        assert_eq!(wait("Sunday, 06-Nov-94 08:49:37 GMT"), Some(30));
        assert_eq!(wait("Sun Nov  6 08:49:37 1994"), Some(30));
        assert_eq!(
            wait("Sat, 05 Nov 1994 08:49:37 GMT"),
            Some(0),
            "a date that is past is no wait"
        );
    }

    #[test]
    fn what_is_neither_is_no_wait_at_all() {
        for value in [
            "soon",
            "-1",
            "+5",
            "1.5",
            "",
            "99999999999999999999999",
            "Sun, 06 Nov",
        ] {
            assert_eq!(wait(value), None, "{value}");
        }
        assert_eq!(after(&HeaderMap::new(), Timestamp::UNIX_EPOCH), None);
    }
}
