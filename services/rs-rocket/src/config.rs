//! What the environment says.

use anyhow::{Context, bail, ensure};
use reqwest::Url;

pub struct Config {
    pub port: u16,
    pub store: Url,
    pub access_log: bool,
}

impl Config {
    /// Reads `PORT` (default 8080), `ELASTICSEARCH_URL` and `ACCESS_LOG` (`off`: no line for each request).
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let port = match env("PORT") {
            Some(s) if !s.is_empty() => s.parse().with_context(|| format!("PORT is {s:?}: want a number from 0 to 65535"))?,
            _ => 8080,
        };
        let store = match env("ELASTICSEARCH_URL") {
            Some(s) if !s.is_empty() => s,
            _ => bail!("ELASTICSEARCH_URL is not set: want the URL of Elasticsearch, for example http://localhost:9200"),
        };
        // The value is not repeated: it may hold a password.
        let store: Url = store.parse().context("ELASTICSEARCH_URL is malformed: want a URL such as http://localhost:9200")?;
        ensure!(store.scheme() == "http", "ELASTICSEARCH_URL is malformed: want http://, this build has no TLS");
        Ok(Self { port, store, access_log: env("ACCESS_LOG").as_deref() != Some("off") })
    }

    /// Host and port of the store, for messages.
    pub fn store_name(&self) -> String {
        format!("{}:{}", self.store.host_str().unwrap_or_default(), self.store.port_or_known_default().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(env: &[(&str, &str)]) -> Result<(u16, String, bool), String> {
        Config::from_env(|name| env.iter().find(|(k, _)| *k == name).map(|(_, v)| v.to_string()))
            .map(|c| (c.port, c.store_name(), c.access_log))
            .map_err(|err| format!("{err:#}"))
    }

    #[test]
    fn reads_the_environment() {
        assert_eq!(config(&[("ELASTICSEARCH_URL", "http://es:9200")]), Ok((8080, "es:9200".into(), true)));
        assert_eq!(
            config(&[("ELASTICSEARCH_URL", "http://u:p@es/"), ("PORT", "0"), ("ACCESS_LOG", "off")]),
            Ok((0, "es:80".into(), false))
        );
    }

    #[test]
    fn tells_what_is_wrong_without_secrets() {
        for (env, want) in [
            (&[][..], "ELASTICSEARCH_URL is not set"),
            (&[("ELASTICSEARCH_URL", "")], "ELASTICSEARCH_URL is not set"),
            (&[("ELASTICSEARCH_URL", "es:9200")], "ELASTICSEARCH_URL is malformed"),
            (&[("ELASTICSEARCH_URL", "http://")], "ELASTICSEARCH_URL is malformed"),
            (&[("ELASTICSEARCH_URL", "https://u:secret@es")], "ELASTICSEARCH_URL is malformed"),
            (&[("ELASTICSEARCH_URL", "http://es"), ("PORT", "65536")], "PORT is \"65536\""),
        ] {
            let err = config(env).unwrap_err();
            assert!(err.contains(want) && !err.contains("secret"), "{env:?}: {err}");
        }
    }
}
