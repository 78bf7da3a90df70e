//! The parameters of requests, and what is wrong with them.

use std::time::Duration;

use crate::store::Language;

/// Keeps a delayed request well within the time that a stop leaves to it.
const MAX_DELAY: u64 = 10_000; // ms

/// A value, or what is wrong with its parameter.
pub type Param<T> = Result<T, String>;

pub fn id(given: Option<&str>) -> Param<i64> {
    let s = given.filter(|s| !s.is_empty()).ok_or("id: missing; want a whole number")?;
    s.parse().map_err(|_| format!("id: {} is not a whole number", quoted(s)))
}

pub fn language(given: Option<&str>) -> Param<Language> {
    let s = given.filter(|s| !s.is_empty()).ok_or("language: missing; want one of cs, de, en, pl, sk")?;
    Language::from_code(s).ok_or_else(|| format!("language: {} is unknown; want one of cs, de, en, pl, sk", quoted(s)))
}

/// The delay, which may be left out.
pub fn delay(given: Option<&str>) -> Param<Duration> {
    let Some(s) = given else { return Ok(Duration::ZERO) };
    match s.parse() {
        Ok(ms) if ms <= MAX_DELAY => Ok(Duration::from_millis(ms)),
        _ => Err(format!("delay: {} is not a whole number of milliseconds from 0 to {MAX_DELAY}", quoted(s))),
    }
}

/// Both values, or all that is wrong with them.
pub fn and<A, B>(a: Param<A>, b: Param<B>) -> Param<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(a), Err(b)) => Err(format!("{a}; {b}")),
        (Err(wrong), _) | (_, Err(wrong)) => Err(wrong),
    }
}

/// What a client sent, bounded.
fn quoted(s: &str) -> String {
    format!("{:?}", s.chars().take(60).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let wrong = and(id(Some("x")), language(Some("CS"))).unwrap_err();
        assert!(wrong.starts_with("id: \"x\" is not") && wrong.contains("; language: \"CS\" is unknown"), "{wrong}");
        let wrong = and(id(None), language(Some(""))).unwrap_err();
        assert!(wrong.starts_with("id: missing") && wrong.contains("; language: missing"), "{wrong}");
    }

    #[test]
    fn a_delay_is_bounded() {
        assert_eq!(delay(None), Ok(Duration::ZERO));
        assert_eq!(delay(Some("10000")), Ok(Duration::from_secs(10)));
        for s in ["-1", "10001", "99999999999999999999", "soon", "", "1.5"] {
            assert!(delay(Some(s)).unwrap_err().starts_with("delay:"), "{s}");
        }
    }
}
