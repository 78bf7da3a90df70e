//! The endpoints.

use actix_web::{
    HttpRequest, HttpResponse, Responder, get,
    http::{Method, header::ContentType},
    rt::time::sleep,
    web::{self, Data, Json, Query, QueryConfig, ServiceConfig},
};
use serde_json::json;

use crate::{
    cities::{Cities, City, CityResponse, Language, MultiCityResponse, Point},
    error::ApiError,
    params::{Params, and, degrees},
};

type Answer<T> = Result<Json<T>, ApiError>;

pub fn routes(config: &mut ServiceConfig) {
    config
        .app_data(QueryConfig::default().error_handler(|err, _| ApiError::BadRequest(err.to_string()).into()))
        .service(root)
        .service(get_city)
        .service(closest)
        .service(associated_featured)
        .service(search)
        .service(featured)
        .service(api_docs)
        .service(benchmark)
        .default_service(web::to(nothing));
}

#[get("/")]
async fn root() -> impl Responder {
    Json(json!({ "service": "locations", "docs": "/api-docs" }))
}

#[get("/city/v1/get")]
async fn get_city(params: Query<Params>, cities: Data<Cities>) -> Answer<CityResponse> {
    let (id, language) = and(params.id(), params.language())?;
    one(&cities, cities.by_id(id).await?, language, || no_city(id)).await
}

#[get("/city/v1/closest")]
async fn closest(request: HttpRequest, params: Query<Params>, cities: Data<Cities>) -> Answer<CityResponse> {
    let (point, language) = and(params.point(), params.language())?;
    let found = match (point, fastly_point(&request)) {
        (Some(at), _) => cities.closest(at, false).await?,
        (None, Some(at)) => cities.closest(at, true).await?,
        (None, None) => cities.home(language).await?,
    };
    one(&cities, found, language, || "lat, lon: no city is near".into()).await
}

#[get("/city/v1/associatedFeatured")]
async fn associated_featured(params: Query<Params>, cities: Data<Cities>) -> Answer<CityResponse> {
    let (id, language) = and(params.id(), params.language())?;
    one(&cities, cities.associated_featured(id).await?, language, || no_city(id)).await
}

#[get("/city/v1/search")]
async fn search(params: Query<Params>, cities: Data<Cities>) -> Answer<MultiCityResponse> {
    let ((text, country), language) = and(and(params.query(), params.country_iso()), params.language())?;
    let found = cities.search(text, language, country.as_deref()).await?;
    Ok(Json(cities.answers(found, language).await?))
}

#[get("/city/v1/featured")]
async fn featured(params: Query<Params>, cities: Data<Cities>) -> Answer<MultiCityResponse> {
    let language = params.language()?;
    let found = cities.featured(language).await?;
    Ok(Json(cities.answers(found, language).await?))
}

#[get("/api-docs")]
async fn api_docs() -> impl Responder {
    HttpResponse::Ok().content_type(ContentType::json()).body(include_str!("openapi.json"))
}

#[get("/v1/benchmark")]
async fn benchmark(params: Query<Params>) -> Result<HttpResponse, ApiError> {
    let delay = params.delay()?;
    if !delay.is_zero() {
        sleep(delay).await; // a timer of the runtime: no thread is held
    }
    Ok(HttpResponse::Ok().finish())
}

async fn nothing(method: Method) -> Result<HttpResponse, ApiError> {
    if method == Method::GET {
        Err(ApiError::NotFound("path: there is nothing here; see /api-docs".into()))
    } else {
        Err(ApiError::MethodNotAllowed)
    }
}

async fn one(cities: &Cities, found: Option<City>, language: Language, missing: impl Fn() -> String) -> Answer<CityResponse> {
    let city = found.ok_or_else(|| ApiError::NotFound(missing()))?;
    Ok(Json(cities.answer(city, language).await?))
}

fn no_city(id: i64) -> String {
    format!("id: there is no city {id}")
}

/// Where the CDN believes the client to be. What is missing or makes no sense is as good as unknown, and so is 0,0.
fn fastly_point(request: &HttpRequest) -> Option<Point> {
    let header = |name, limit| degrees(request.headers().get(name)?.to_str().ok()?, limit);
    let at = Point { lat: header("Fastly-Geo-Lat", 90.0)?, lon: header("Fastly-Geo-Lon", 180.0)? };
    (at.lat != 0.0 || at.lon != 0.0).then_some(at)
}
