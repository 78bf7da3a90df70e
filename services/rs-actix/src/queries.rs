//! The queries.

use serde_json::{Value, json};

use crate::cities::{Language, Point};

/// All featured cities, by country code and within a country by population.
pub fn featured() -> Value {
    json!({
        "query": is_featured(),
        "sort": ["countryIso", { "population": "desc" }],
        "size": 1000, // far more than there are
    })
}

/// The city whose geometry contains the point.
pub fn containing(at: Point, featured: bool) -> Value {
    let shape = json!({ "type": "point", "coordinates": [at.lon, at.lat] }); // GeoJSON: longitude first
    let mut filter = vec![json!({ "geo_shape": { "geometry": { "shape": shape, "relation": "intersects" } } })];
    if featured {
        filter.push(is_featured());
    }
    json!({ "query": { "bool": { "filter": filter } }, "size": 1 })
}

/// The city with the nearest centroid.
pub fn nearest(at: Point, featured: bool) -> Value {
    json!({
        "query": if featured { is_featured() } else { json!({ "match_all": {} }) },
        "sort": [{ "_geo_distance": { "centroid": { "lat": at.lat, "lon": at.lon }, "order": "asc" } }],
        "size": 1,
    })
}

/// Cities by the beginning of their names. The exact spelling in the language of the request counts most, then the same
/// without diacritics, then names in any language; large cities come before small ones of the same name.
pub fn search(text: &str, language: Language, country_iso: Option<&str>) -> Value {
    let name = format!("name.{}", language.code());
    let fields: Vec<String> = [
        (format!("{name}.autocomplete"), 8),
        (format!("{name}.autocomplete_ascii"), 4),
        ("name.all.autocomplete".to_owned(), 2),
        ("name.all.autocomplete_ascii".to_owned(), 1),
    ]
    .iter()
    .flat_map(|(field, boost)| ["", "._2gram", "._3gram"].map(|part| format!("{field}{part}^{boost}")))
    .collect();
    let filter: Vec<Value> = country_iso.iter().map(|iso| json!({ "term": { "countryIso": iso } })).collect();
    json!({
        "query": { "function_score": {
            "query": { "bool": {
                "must": [{ "multi_match": { "query": text, "type": "bool_prefix", "fields": fields } }],
                "filter": filter,
            } },
            "functions": [{ "field_value_factor": { "field": "population", "modifier": "ln2p", "missing": 500 } }],
        } },
        "size": 10,
    })
}

fn is_featured() -> Value {
    json!({ "term": { "isFeatured": true } })
}
