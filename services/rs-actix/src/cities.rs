//! Cities, and the cache of regions.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::{queries, store::Store};

#[derive(Clone, Copy, Debug)]
pub enum Language {
    Cs,
    De,
    En,
    Pl,
    Sk,
}

impl Language {
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Cs, Self::De, Self::En, Self::Pl, Self::Sk].into_iter().find(|l| l.code() == code)
    }

    pub fn code(self) -> &'static str {
        match self {
            Self::Cs => "cs",
            Self::De => "de",
            Self::En => "en",
            Self::Pl => "pl",
            Self::Sk => "sk",
        }
    }

    /// The ISO code of the language's home country.
    fn home(self) -> &'static str {
        match self {
            Self::Cs | Self::En => "CZ",
            Self::De => "DE",
            Self::Pl => "PL",
            Self::Sk => "SK",
        }
    }
}

/// A place on earth in degrees.
#[derive(Clone, Copy, Deserialize)]
pub struct Point {
    pub lat: f64,
    pub lon: f64,
}

/// The names of a place in all languages.
#[derive(Deserialize)]
pub struct Names {
    #[serde(rename = "name.cs")]
    cs: String,
    #[serde(rename = "name.de")]
    de: String,
    #[serde(rename = "name.en")]
    en: String,
    #[serde(rename = "name.pl")]
    pl: String,
    #[serde(rename = "name.sk")]
    sk: String,
}

impl Names {
    fn get(&self, language: Language) -> &str {
        match language {
            Language::Cs => &self.cs,
            Language::De => &self.de,
            Language::En => &self.en,
            Language::Pl => &self.pl,
            Language::Sk => &self.sk,
        }
    }
}

/// What is read of a city's document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct City {
    id: i64,
    country_iso: String,
    region_id: i64,
    is_featured: bool,
    centroid: Point,
    #[serde(flatten)]
    names: Names,
}

/// A city in the language of the request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CityResponse {
    country_iso: String,
    id: i64,
    is_featured: bool,
    name: String,
    region_name: String,
}

#[derive(Serialize)]
pub struct MultiCityResponse {
    cities: Vec<CityResponse>,
}

/// Answers questions about cities out of the store. `None` is: there is no such city.
pub struct Cities {
    store: Store,
    regions: Arc<Regions>,
}

impl Cities {
    pub fn new(store: Store, regions: Arc<Regions>) -> Self {
        Self { store, regions }
    }

    pub async fn by_id(&self, id: i64) -> anyhow::Result<Option<City>> {
        self.store.source("city", id).await
    }

    /// The city itself if it is featured, else the nearest featured one.
    pub async fn associated_featured(&self, id: i64) -> anyhow::Result<Option<City>> {
        match self.by_id(id).await? {
            Some(city) if !city.is_featured => self.nearest(city.centroid, true).await,
            found => Ok(found),
        }
    }

    /// The city that contains the point, else the nearest one.
    pub async fn closest(&self, at: Point, featured: bool) -> anyhow::Result<Option<City>> {
        match self.store.search(&queries::containing(at, featured)).await?.into_iter().next() {
            None => self.nearest(at, featured).await,
            found => Ok(found),
        }
    }

    async fn nearest(&self, at: Point, featured: bool) -> anyhow::Result<Option<City>> {
        Ok(self.store.search(&queries::nearest(at, featured)).await?.into_iter().next())
    }

    /// The home city of a language: the largest featured one of its home country.
    pub async fn home(&self, language: Language) -> anyhow::Result<Option<City>> {
        let first = self.featured(language).await?.into_iter().next();
        Ok(first.filter(|city| city.country_iso == language.home()))
    }

    /// All featured cities, those of the language's home country first.
    pub async fn featured(&self, language: Language) -> anyhow::Result<Vec<City>> {
        let mut found = self.store.search(&queries::featured()).await?;
        found.sort_by_key(|city| city.country_iso != language.home()); // stable, and the store has sorted by the rest
        Ok(found)
    }

    pub async fn search(&self, text: &str, language: Language, country_iso: Option<&str>) -> anyhow::Result<Vec<City>> {
        self.store.search(&queries::search(text, language, country_iso)).await
    }

    /// Puts a city into the language of the request.
    pub async fn answer(&self, city: City, language: Language) -> anyhow::Result<CityResponse> {
        let region = self.regions.get(&self.store, city.region_id).await?;
        Ok(CityResponse {
            id: city.id,
            is_featured: city.is_featured,
            name: city.names.get(language).to_owned(),
            region_name: region.get(language).to_owned(),
            country_iso: city.country_iso,
        })
    }

    pub async fn answers(&self, found: Vec<City>, language: Language) -> anyhow::Result<MultiCityResponse> {
        let mut cities = Vec::with_capacity(found.len());
        for city in found {
            cities.push(self.answer(city, language).await?);
        }
        Ok(MultiCityResponse { cities })
    }
}

/// The names of regions, kept for ever: there are tens of them.
#[derive(Default)]
pub struct Regions(RwLock<HashMap<i64, Arc<Names>>>);

impl Regions {
    async fn get(&self, store: &Store, id: i64) -> anyhow::Result<Arc<Names>> {
        if let Some(names) = self.0.read().unwrap().get(&id) {
            return Ok(names.clone());
        }
        let names = store.source("region", id).await?.with_context(|| format!("the store has no region {id}"))?;
        Ok(self.0.write().unwrap().entry(id).or_insert(Arc::new(names)).clone())
    }
}
