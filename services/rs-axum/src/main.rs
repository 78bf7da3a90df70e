//! The locations service on axum: a city by its id, and the delay.

mod api;
mod config;
mod params;
mod store;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, bail};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tracing_subscriber::EnvFilter;

use crate::{config::Config, store::Store};

/// What requests in flight have to finish after SIGTERM.
const STOP_WITHIN: Duration = Duration::from_secs(14);

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).init();
    // The limit of the container rounded up. Tokio's own default rounds down, so that 1.5 CPUs would be served by one thread.
    let threads = num_cpus::get();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    match runtime.context("start Tokio").and_then(|runtime| runtime.block_on(run(threads))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            tracing::error!("{err:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(threads: usize) -> anyhow::Result<()> {
    let config = Config::from_env(|name| std::env::var(name).ok())?;
    let elastic = config.store_name();
    let store = Store::new(config.store);
    store.ping().await.with_context(|| format!("reach Elasticsearch at {elastic}"))?;

    let listener =
        TcpListener::bind(("0.0.0.0", config.port)).await.with_context(|| format!("listen on port {}", config.port))?;
    let port = listener.local_addr()?.port();
    let mut stop = signal(SignalKind::terminate())?;
    let mut overdue = signal(SignalKind::terminate())?;
    tracing::info!("locations service listening on port {port}, Elasticsearch at {elastic}, {threads} threads");
    let serve = axum::serve(listener, api::router(store, config.access_log)).with_graceful_shutdown(async move {
        stop.recv().await;
    });
    tokio::select! {
        served = serve => served.context("serve"),
        _ = async { overdue.recv().await; sleep(STOP_WITHIN).await } => bail!("stop: requests were broken off after {STOP_WITHIN:?}"),
    }
}
