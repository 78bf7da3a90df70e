//! The endpoints.

use std::{convert::Infallible, sync::Arc};

use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;
use warp::{
    Filter, Rejection, Reply,
    http::StatusCode,
    reject::{self, InvalidQuery, MethodNotAllowed, Reject},
    reply::{self, Response},
};

use crate::{
    params::{and, delay, id, language},
    store::Store,
};

/// The target of the request log.
pub const ACCESS_LOG: &str = "access";

pub fn routes(store: Store) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    let store = Arc::new(store);
    let root = warp::path::end().map(|| reply::json(&json!({ "service": "locations" })));
    let city = warp::path!("city" / "v1" / "get")
        .and(warp::query())
        .and(warp::any().map(move || store.clone()))
        .and_then(async |params, store| city(params, store).await.map_err(reject::custom));
    let benchmark = warp::path!("v1" / "benchmark")
        .and(warp::query())
        .and_then(async |params| benchmark(params).await.map_err(reject::custom));
    warp::get().and(root.or(city).or(benchmark)).recover(problem).with(warp::log(ACCESS_LOG))
}

#[derive(Deserialize)]
struct CityParams {
    id: Option<String>,
    language: Option<String>,
}

async fn city(params: CityParams, store: Arc<Store>) -> Result<impl Reply, ApiError> {
    let (id, language) = and(id(params.id.as_deref()), language(params.language.as_deref()))?;
    match store.city(id, language).await? {
        Some(city) => Ok(reply::json(&city)),
        None => Err(ApiError::NotFound(format!("id: there is no city {id}"))),
    }
}

#[derive(Deserialize)]
struct DelayParams {
    delay: Option<String>,
}

async fn benchmark(params: DelayParams) -> Result<impl Reply, ApiError> {
    let delay = delay(params.delay.as_deref())?;
    if !delay.is_zero() {
        sleep(delay).await; // a timer of Tokio: no thread is held
    }
    Ok(Response::default())
}

/// An answer other than 200. Its message names the parameter at fault.
#[derive(Debug)]
enum ApiError {
    BadRequest(String),
    NotFound(String),
    Store(anyhow::Error),
}

impl Reject for ApiError {}

impl From<String> for ApiError {
    fn from(wrong: String) -> Self {
        Self::BadRequest(wrong)
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(cause: anyhow::Error) -> Self {
        Self::Store(cause)
    }
}

/// Turns what no route has answered, or one could not, into JSON.
async fn problem(rejection: Rejection) -> Result<impl Reply, Infallible> {
    let (status, message) = match rejection.find::<ApiError>() {
        Some(ApiError::BadRequest(message)) => (StatusCode::BAD_REQUEST, message.clone()),
        Some(ApiError::NotFound(message)) => (StatusCode::NOT_FOUND, message.clone()),
        Some(ApiError::Store(cause)) => {
            log::error!("{cause:#}"); // for the operator; the client is not told the details
            (StatusCode::BAD_GATEWAY, "store: Elasticsearch did not answer as it should".into())
        }
        None if rejection.find::<InvalidQuery>().is_some() => {
            (StatusCode::BAD_REQUEST, "query: a parameter (id, language, delay) is there twice, or cannot be read".into())
        }
        None if rejection.find::<MethodNotAllowed>().is_some() => {
            (StatusCode::METHOD_NOT_ALLOWED, "method: only GET is served here".into())
        }
        None => (StatusCode::NOT_FOUND, "path: there is nothing here".into()),
    };
    Ok(reply::with_status(reply::json(&json!({ "message": message })), status))
}
