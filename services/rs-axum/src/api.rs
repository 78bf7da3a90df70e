//! The endpoints.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{FromRequestParts, Query, State, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;
use tower_http::trace::{DefaultMakeSpan, DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::{
    params::{and, delay, id, language},
    store::{CityResponse, Store},
};

pub fn router(store: Store, access_log: bool) -> Router {
    let router = Router::new()
        .route("/", get(root))
        .route("/city/v1/get", get(city))
        .route("/v1/benchmark", get(benchmark))
        .fallback(async || ApiError::NotFound("path: there is nothing here".into()))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(Arc::new(store));
    if !access_log {
        return router;
    }
    router.layer(
        TraceLayer::new_for_http()
            .make_span_with(DefaultMakeSpan::new().level(Level::INFO))
            .on_response(DefaultOnResponse::new().level(Level::INFO))
            .on_failure(()),
    )
}

/// `Query` whose rejection is JSON too.
#[derive(FromRequestParts)]
#[from_request(via(Query), rejection(ApiError))]
struct Params<T>(T);

async fn root() -> Json<Value> {
    Json(json!({ "service": "locations" }))
}

#[derive(Deserialize)]
struct CityParams {
    id: Option<String>,
    language: Option<String>,
}

async fn city(Params(params): Params<CityParams>, State(store): State<Arc<Store>>) -> Result<Json<CityResponse>, ApiError> {
    let (id, language) = and(id(params.id.as_deref()), language(params.language.as_deref()))?;
    match store.city(id, language).await? {
        Some(city) => Ok(Json(city)),
        None => Err(ApiError::NotFound(format!("id: there is no city {id}"))),
    }
}

#[derive(Deserialize)]
struct DelayParams {
    delay: Option<String>,
}

async fn benchmark(Params(params): Params<DelayParams>) -> Result<(), ApiError> {
    let delay = delay(params.delay.as_deref())?;
    if !delay.is_zero() {
        sleep(delay).await; // a timer of Tokio: no thread is held
    }
    Ok(())
}

/// An answer other than 200. Its message names the parameter at fault.
enum ApiError {
    BadRequest(String),
    NotFound(String),
    MethodNotAllowed,
    Store(anyhow::Error),
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::BadRequest(message) => (StatusCode::BAD_REQUEST, message),
            Self::NotFound(message) => (StatusCode::NOT_FOUND, message),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method: only GET is served here".into()),
            Self::Store(cause) => {
                tracing::error!("{cause:#}"); // for the operator; the client is not told the details
                (StatusCode::BAD_GATEWAY, "store: Elasticsearch did not answer as it should".into())
            }
        };
        (status, Json(json!({ "message": message }))).into_response()
    }
}

impl From<String> for ApiError {
    fn from(wrong: String) -> Self {
        Self::BadRequest(wrong)
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::BadRequest(rejection.body_text())
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(cause: anyhow::Error) -> Self {
        Self::Store(cause)
    }
}
