//! What Rocket does beside answering: the line at start-up and the lines for requests.

use std::time::Instant;

use rocket::{
    Data, Request, Response,
    fairing::{AdHoc, Fairing, Info, Kind},
};

/// Says where the service listens.
pub fn listening(elastic: String) -> AdHoc {
    AdHoc::on_liftoff("listening", move |rocket| {
        Box::pin(async move {
            let config = rocket.config();
            let (port, threads) = (config.port, config.workers);
            log::info!("locations service listening on port {port}, Elasticsearch at {elastic}, {threads} threads");
        })
    })
}

/// A line for each request.
pub struct AccessLog;

#[rocket::async_trait]
impl Fairing for AccessLog {
    fn info(&self) -> Info {
        Info { name: "access log", kind: Kind::Request | Kind::Response }
    }

    async fn on_request(&self, request: &mut Request<'_>, _: &mut Data<'_>) {
        request.local_cache(Instant::now);
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let took = request.local_cache(Instant::now).elapsed();
        log::info!("{} {} {} {took:?}", request.method(), request.uri(), response.status().code);
    }
}
