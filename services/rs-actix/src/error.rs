//! Answers other than 200: JSON with a message that names the parameter at fault.

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use serde_json::json;

#[derive(Debug)]
pub enum ApiError {
    BadRequest(String),
    NotFound(String),
    MethodNotAllowed,
    Store(anyhow::Error),
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::BadRequest(message) | Self::NotFound(message) => message,
            Self::MethodNotAllowed => "method: only GET is served here",
            Self::Store(_) => "store: Elasticsearch did not answer as it should",
        })
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Store(_) => StatusCode::BAD_GATEWAY,
        }
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Store(cause) = self {
            log::error!("{cause:#}"); // for the operator; the client is not told the details
        }
        HttpResponse::build(self.status_code()).json(json!({ "message": self.to_string() }))
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(cause: anyhow::Error) -> Self {
        Self::Store(cause)
    }
}
