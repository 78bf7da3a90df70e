//! The locations service on Actix Web.

mod api;
mod cities;
mod config;
mod error;
mod params;
mod queries;
mod store;

use std::{process::ExitCode, sync::Arc};

use actix_web::{
    App, HttpServer,
    middleware::{Condition, Logger},
    web::Data,
};
use anyhow::Context;
use env_logger::Env;

use crate::{
    cities::{Cities, Regions},
    config::Config,
    store::Store,
};

/// What requests in flight have to finish after SIGTERM, in seconds.
const STOP_WITHIN: u64 = 14;

#[actix_web::main]
async fn main() -> ExitCode {
    env_logger::init_from_env(Env::default().default_filter_or("info"));
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
    let store = config.store_name();
    Store::new(config.store.clone()).ping().await.with_context(|| format!("reach Elasticsearch at {store}"))?;

    // The limit of the container rounded up. Actix's own default rounds down, so that 1.5 CPUs would be served by one thread.
    let workers = num_cpus::get();
    let regions = Arc::new(Regions::default());
    let server = HttpServer::new(move || {
        // Called by each worker: its connections to the store stay on its own thread.
        let cities = Cities::new(Store::new(config.store.clone()), regions.clone());
        App::new()
            .wrap(Condition::new(config.access_log, Logger::new("%r %s %Dms")))
            .app_data(Data::new(cities))
            .configure(api::routes)
    })
    .workers(workers)
    .shutdown_timeout(STOP_WITHIN)
    .bind(("0.0.0.0", config.port))
    .with_context(|| format!("listen on port {}", config.port))?;

    for addr in server.addrs() {
        log::info!("locations service listening on port {}, Elasticsearch at {store}, {workers} workers", addr.port());
    }
    server.run().await.context("serve")
}
