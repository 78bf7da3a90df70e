//! Cities out of Elasticsearch.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::Context;
use reqwest::{Client, Error, Response, StatusCode, Url};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

const TIMEOUT: Duration = Duration::from_secs(10);

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
        match code {
            "cs" => Some(Self::Cs),
            "de" => Some(Self::De),
            "en" => Some(Self::En),
            "pl" => Some(Self::Pl),
            "sk" => Some(Self::Sk),
            _ => None,
        }
    }
}

/// The names of a place in all languages.
#[derive(Deserialize)]
struct Names {
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
    fn get(&self, language: Language) -> String {
        match language {
            Language::Cs => &self.cs,
            Language::De => &self.de,
            Language::En => &self.en,
            Language::Pl => &self.pl,
            Language::Sk => &self.sk,
        }
        .clone()
    }
}

/// What is read of a city's document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct City {
    id: i64,
    country_iso: String,
    region_id: i64,
    is_featured: bool,
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

pub struct Store {
    client: Client,
    base: String,
    /// Kept for ever: there are tens of them.
    regions: RwLock<HashMap<i64, Arc<Names>>>,
}

impl Store {
    pub fn new(base: Url) -> Self {
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build().expect("a client without TLS can be built");
        Self { client, base: base.as_str().trim_end_matches('/').to_owned(), regions: RwLock::default() }
    }

    /// Makes one round trip.
    pub async fn ping(&self) -> anyhow::Result<()> {
        self.client.get(&self.base).send().await.and_then(Response::error_for_status).map_err(Error::without_url)?;
        Ok(())
    }

    /// The city of that id, if there is one.
    pub async fn city(&self, id: i64, language: Language) -> anyhow::Result<Option<CityResponse>> {
        let Some(city) = self.source::<City>("city", id).await? else { return Ok(None) };
        Ok(Some(CityResponse {
            id: city.id,
            is_featured: city.is_featured,
            name: city.names.get(language),
            region_name: self.region(city.region_id).await?.get(language),
            country_iso: city.country_iso,
        }))
    }

    async fn region(&self, id: i64) -> anyhow::Result<Arc<Names>> {
        if let Some(names) = self.regions.read().unwrap().get(&id) {
            return Ok(names.clone());
        }
        let names = self.source("region", id).await?.with_context(|| format!("the store has no region {id}"))?;
        Ok(self.regions.write().unwrap().entry(id).or_insert(Arc::new(names)).clone())
    }

    /// The document of that id, without what the service never needs; geometry is most of it.
    async fn source<T: DeserializeOwned>(&self, index: &str, id: i64) -> anyhow::Result<Option<T>> {
        let get = async {
            let url = format!("{}/{index}/_source/{id}?_source_excludes=geometry,population", self.base);
            let answer = self.client.get(url).send().await?;
            if answer.status() == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            answer.error_for_status()?.json().await.map(Some)
        };
        get.await.map_err(Error::without_url).with_context(|| format!("get /{index}/_source/{id}"))
    }
}
