//! The parameters of requests, and what is wrong with them.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    cities::{Language, Point},
    error::ApiError,
};

const MAX_QUERY: usize = 200; // bytes
/// Keeps a delayed request well within the time that a stop leaves to it.
const MAX_DELAY: u64 = 10_000; // ms

/// All parameters of all endpoints as they came; unknown ones are ignored.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    id: Option<String>,
    language: Option<String>,
    lat: Option<String>,
    lon: Option<String>,
    query: Option<String>,
    country_iso: Option<String>,
    delay: Option<String>,
}

/// A value, or what is wrong with its parameter.
type Param<T> = Result<T, String>;

impl Params {
    pub fn id(&self) -> Param<i64> {
        let s = given(&self.id).ok_or("id: missing; want a whole number")?;
        s.parse().map_err(|_| format!("id: {} is not a whole number", quoted(s)))
    }

    pub fn language(&self) -> Param<Language> {
        let s = given(&self.language).ok_or("language: missing; want one of cs, de, en, pl, sk")?;
        Language::from_code(s).ok_or_else(|| format!("language: {} is unknown; want one of cs, de, en, pl, sk", quoted(s)))
    }

    /// The pair of optional parameters lat and lon.
    pub fn point(&self) -> Param<Option<Point>> {
        match (&self.lat, &self.lon) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err("lat: missing, although lon is given".into()),
            (Some(_), None) => Err("lon: missing, although lat is given".into()),
            (Some(lat), Some(lon)) => {
                let lat = degrees(lat, 90.0).ok_or_else(|| format!("lat: {} is not a number from -90 to 90", quoted(lat)));
                let lon = degrees(lon, 180.0).ok_or_else(|| format!("lon: {} is not a number from -180 to 180", quoted(lon)));
                and(lat, lon).map(|(lat, lon)| Some(Point { lat, lon }))
            }
        }
    }

    pub fn query(&self) -> Param<&str> {
        match self.query.as_deref() {
            Some(s) if s.len() > MAX_QUERY => Err(format!("query: longer than {MAX_QUERY} bytes")),
            Some(s) if !s.trim().is_empty() => Ok(s),
            _ => Err("query: missing or empty".into()),
        }
    }

    /// The optional parameter countryIso; an empty one counts as not given.
    pub fn country_iso(&self) -> Param<Option<String>> {
        match given(&self.country_iso) {
            None => Ok(None),
            Some(s) if s.len() == 2 && s.bytes().all(|b| b.is_ascii_alphabetic()) => Ok(Some(s.to_ascii_uppercase())),
            Some(s) => Err(format!("countryIso: {} is not a country code of two letters", quoted(s))),
        }
    }

    pub fn delay(&self) -> Param<Duration> {
        let Some(s) = &self.delay else { return Ok(Duration::ZERO) };
        match s.parse() {
            Ok(ms) if ms <= MAX_DELAY => Ok(Duration::from_millis(ms)),
            _ => Err(format!("delay: {} is not a whole number of milliseconds from 0 to {MAX_DELAY}", quoted(s))),
        }
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

impl From<String> for ApiError {
    fn from(wrong: String) -> Self {
        Self::BadRequest(wrong)
    }
}

/// An angle of at most `limit` degrees.
pub fn degrees(s: &str, limit: f64) -> Option<f64> {
    s.parse().ok().filter(|f: &f64| f.abs() <= limit) // false for NaN
}

fn given(s: &Option<String>) -> Option<&str> {
    s.as_deref().filter(|s| !s.is_empty())
}

/// What a client sent, bounded.
fn quoted(s: &str) -> String {
    format!("{:?}", s.chars().take(60).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(json: serde_json::Value) -> Params {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let p = params(serde_json::json!({ "id": "x", "language": "CS" }));
        let wrong = and(p.id(), p.language()).unwrap_err();
        assert!(wrong.starts_with("id: \"x\" is not") && wrong.contains("; language: \"CS\" is unknown"), "{wrong}");
    }

    #[test]
    fn a_point_needs_both_and_bounds() {
        let point = |lat, lon| params(serde_json::json!({ "lat": lat, "lon": lon })).point().map(|p| p.map(|p| (p.lat, p.lon)));
        assert_eq!(point(None, None), Ok(None));
        assert_eq!(point(Some("-90"), Some("180")), Ok(Some((-90.0, 180.0))));
        for (lat, lon, at_fault) in [
            (Some("1"), None, "lon:"),
            (None, Some("1"), "lat:"),
            (Some("90.001"), Some("1"), "lat:"),
            (Some("NaN"), Some("1"), "lat:"),
            (Some("1"), Some("inf"), "lon:"),
            (Some("1"), Some("14,4"), "lon:"),
        ] {
            assert!(point(lat, lon).unwrap_err().starts_with(at_fault), "{lat:?} {lon:?}");
        }
    }

    #[test]
    fn a_delay_is_bounded() {
        let delay = |s: &str| params(serde_json::json!({ "delay": s })).delay();
        assert_eq!(delay("10000"), Ok(Duration::from_secs(10)));
        for s in ["-1", "10001", "99999999999999999999", "soon", "", "1.5"] {
            assert!(delay(s).unwrap_err().starts_with("delay:"), "{s}");
        }
        assert_eq!(Params::default().delay(), Ok(Duration::ZERO));
    }
}
