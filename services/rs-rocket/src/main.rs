//! The locations service on Rocket: a city by its id, and the delay.

mod api;
mod config;
mod fairings;
mod params;
mod store;

use std::{net::Ipv4Addr, process::ExitCode};

use anyhow::{Context, anyhow};
use env_logger::Env;
use rocket::{
    Rocket,
    config::{LogLevel, Shutdown, Sig},
};

use crate::{
    config::Config,
    fairings::{AccessLog, listening},
    store::Store,
};

// Rocket's own default: as many threads as the limit of the container rounded up.
#[rocket::main]
async fn main() -> ExitCode {
    // Rocket's own log has several lines for a request, and calls an unknown path an error; see AccessLog for ours.
    env_logger::init_from_env(Env::default().default_filter_or("info,rocket=off,_=off"));
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            log::error!("{err:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let config = Config::from_env(|name| std::env::var(name).ok())?;
    let elastic = config.store_name();
    let store = Store::new(config.store);
    store.ping().await.with_context(|| format!("reach Elasticsearch at {elastic}"))?;

    let rocket = rocket::Config {
        address: Ipv4Addr::UNSPECIFIED.into(),
        port: config.port,
        log_level: LogLevel::Critical,
        // What requests in flight have to finish after SIGTERM.
        shutdown: Shutdown { signals: [Sig::Term].into(), grace: 12, mercy: 2, ..Shutdown::default() },
        ..rocket::Config::release_default()
    };
    let mut server: Rocket<_> =
        rocket::custom(rocket).manage(store).mount("/", api::routes()).register("/", api::catchers()).attach(listening(elastic));
    if config.access_log {
        server = server.attach(AccessLog);
    }
    server.launch().await.map(drop).map_err(|err| anyhow!("{}", err.kind()))
}
