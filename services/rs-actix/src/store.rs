//! Calls to Elasticsearch.

use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::cities::City;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Leaves out what the service never needs; geometry is most of a document.
const SOURCE: &str = "_source_excludes=geometry,population";

pub struct Store {
    client: Client,
    base: String,
}

#[derive(Deserialize)]
struct Found {
    hits: Hits,
}

#[derive(Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_source")]
    source: City,
}

impl Store {
    /// A store with a pool of connections of its own.
    pub fn new(base: Url) -> Self {
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build().expect("a client without TLS can be built");
        Self { client, base: base.as_str().trim_end_matches('/').to_owned() }
    }

    /// Makes one round trip.
    pub async fn ping(&self) -> anyhow::Result<()> {
        self.client.get(&self.base).send().await.and_then(Response::error_for_status).map_err(reqwest::Error::without_url)?;
        Ok(())
    }

    /// The document of that id, if there is one.
    pub async fn source<T: DeserializeOwned>(&self, index: &str, id: i64) -> anyhow::Result<Option<T>> {
        let get = async {
            let url = format!("{}/{index}/_source/{id}?{SOURCE}", self.base);
            let answer = self.client.get(url).send().await?;
            if answer.status() == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            answer.error_for_status()?.json().await.map(Some)
        };
        get.await.map_err(reqwest::Error::without_url).with_context(|| format!("get /{index}/_source/{id}"))
    }

    /// The cities that a query finds, in the order of the store.
    pub async fn search(&self, query: &Value) -> anyhow::Result<Vec<City>> {
        let search = async {
            let url = format!("{}/city/_search?{SOURCE}", self.base);
            self.client.post(url).json(query).send().await?.error_for_status()?.json::<Found>().await
        };
        let found = search.await.map_err(reqwest::Error::without_url).context("search /city")?;
        Ok(found.hits.hits.into_iter().map(|hit| hit.source).collect())
    }
}
