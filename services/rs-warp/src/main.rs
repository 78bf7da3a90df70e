//! The locations service on warp: a city by its id, and the delay.

mod api;
mod config;
mod params;
mod store;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, bail};
use env_logger::Env;
use log::LevelFilter;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use crate::{config::Config, store::Store};

/// What requests in flight have to finish after SIGTERM.
const STOP_WITHIN: Duration = Duration::from_secs(14);

fn main() -> ExitCode {
    // The limit of the container rounded up. Tokio's own default rounds down, so that 1.5 CPUs would be served by one thread.
    let threads = num_cpus::get();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    match runtime.context("start Tokio").and_then(|runtime| runtime.block_on(run(threads))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("rs-warp: {err:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(threads: usize) -> anyhow::Result<()> {
    let config = Config::from_env(|name| std::env::var(name).ok())?;
    let mut log = env_logger::Builder::from_env(Env::default().default_filter_or("info"));
    if !config.access_log {
        log.filter_module(api::ACCESS_LOG, LevelFilter::Off);
    }
    log.init();

    let elastic = config.store_name();
    let store = Store::new(config.store);
    store.ping().await.with_context(|| format!("reach Elasticsearch at {elastic}"))?;

    let listener =
        TcpListener::bind(("0.0.0.0", config.port)).await.with_context(|| format!("listen on port {}", config.port))?;
    let port = listener.local_addr()?.port();
    let mut stop = signal(SignalKind::terminate())?;
    let mut overdue = signal(SignalKind::terminate())?;
    log::info!("locations service listening on port {port}, Elasticsearch at {elastic}, {threads} threads");
    let server = warp::serve(api::routes(store)).incoming(listener).graceful(async move {
        stop.recv().await;
    });
    tokio::select! {
        () = server.run() => Ok(()),
        _ = async { overdue.recv().await; sleep(STOP_WITHIN).await } => bail!("stop: requests were broken off after {STOP_WITHIN:?}"),
    }
}
