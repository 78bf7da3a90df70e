//! The endpoints.

use rocket::{
    Catcher, Request, Responder, Route, State, catch, catchers, get,
    http::{Method, Status},
    routes,
    serde::json::{Json, Value, json},
    tokio::time::sleep,
};

use crate::{
    params::{and, delay, id, language},
    store::{CityResponse, Store},
};

pub fn routes() -> Vec<Route> {
    routes![root, city, benchmark]
}

pub fn catchers() -> Vec<Catcher> {
    catchers![nothing, problem]
}

#[get("/")]
fn root() -> Value {
    json!({ "service": "locations" })
}

#[get("/city/v1/get?<id>&<language>")]
async fn city(id: Option<&str>, language: Option<&str>, store: &State<Store>) -> Result<Json<CityResponse>, ApiError> {
    let (id, language) = and(self::id(id), self::language(language))?;
    match store.city(id, language).await? {
        Some(city) => Ok(Json(city)),
        None => Err(ApiError::NotFound(message(format!("id: there is no city {id}")))),
    }
}

#[get("/v1/benchmark?<delay>")]
async fn benchmark(delay: Option<&str>) -> Result<(), ApiError> {
    let delay = self::delay(delay)?;
    if !delay.is_zero() {
        sleep(delay).await; // a timer of Tokio: no thread is held
    }
    Ok(())
}

/// An answer other than 200. Its message names the parameter at fault.
#[derive(Responder)]
enum ApiError {
    #[response(status = 400)]
    BadRequest(Value),
    #[response(status = 404)]
    NotFound(Value),
    #[response(status = 502)]
    Store(Value),
}

impl From<String> for ApiError {
    fn from(wrong: String) -> Self {
        Self::BadRequest(message(wrong))
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(cause: anyhow::Error) -> Self {
        log::error!("{cause:#}"); // for the operator; the client is not told the details
        Self::Store(message("store: Elasticsearch did not answer as it should"))
    }
}

fn message(text: impl Into<String>) -> Value {
    json!({ "message": text.into() })
}

#[catch(404)]
fn nothing(request: &Request<'_>) -> (Status, Value) {
    match request.method() {
        Method::Get | Method::Head => (Status::NotFound, message("path: there is nothing here")),
        _ => (Status::MethodNotAllowed, message("method: only GET is served here")),
    }
}

#[catch(default)]
fn problem(status: Status, _: &Request<'_>) -> Value {
    message(format!("request: {status}"))
}
