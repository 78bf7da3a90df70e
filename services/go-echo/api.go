package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

var languages = []string{"cs", "de", "en", "pl", "sk"}

// maxDelay keeps a delayed request well within the time that a stop leaves to it.
const maxDelay = 10 * time.Second

type api struct {
	cities *cities
	log    *slog.Logger
}

// cityResponse is a city in the language of the request.
type cityResponse struct {
	CountryISO string `json:"countryIso"`
	ID         int64  `json:"id"`
	IsFeatured bool   `json:"isFeatured"`
	Name       string `json:"name"`
	RegionName string `json:"regionName"`
}

// newServer wires the routes. Errors become JSON with a message by Echo's own error handler.
func newServer(st *store, log *slog.Logger, accessLog bool) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Server.ReadHeaderTimeout = 10 * time.Second
	if accessLog {
		e.Use(middleware.RequestLoggerWithConfig(middleware.RequestLoggerConfig{
			LogMethod: true, LogURI: true, LogStatus: true, LogLatency: true,
			HandleError: true, // so that the status is that of the answer
			LogValuesFunc: func(c echo.Context, v middleware.RequestLoggerValues) error {
				log.LogAttrs(c.Request().Context(), slog.LevelInfo, "request", slog.String("method", v.Method),
					slog.String("uri", v.URI), slog.Int("status", v.Status), slog.Duration("took", v.Latency))
				return nil
			},
		}))
	}
	e.Use(middleware.Recover())
	a := &api{cities: &cities{store: st}, log: log}
	e.GET("/", a.root)
	e.GET("/city/v1/get", a.get)
	e.GET("/v1/benchmark", a.benchmark)
	return e
}

func (a *api) root(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"service": "locations"})
}

func (a *api) get(c echo.Context) error {
	var id int64
	var language string
	problems := echo.QueryParamsBinder(c).FailFast(false).
		MustInt64("id", &id).
		MustString("language", &language).
		BindErrors()
	if language != "" && !slices.Contains(languages, language) {
		problems = append(problems, echo.NewBindingError("language", nil, "want one of "+strings.Join(languages, ", "), nil))
	}
	if problems != nil {
		return badRequest(problems)
	}
	found, err := a.cities.get(c.Request().Context(), id, language)
	switch {
	case errors.Is(err, errNoDocument):
		return echo.NewHTTPError(http.StatusNotFound, fmt.Sprintf("id: there is no city %d", id))
	case errors.Is(err, context.Canceled):
		return echo.NewHTTPError(middleware.StatusCodeContextCanceled, "request: the client has gone").SetInternal(err)
	case err != nil:
		a.log.Error("store", "path", c.Path(), "cause", err)
		return echo.NewHTTPError(http.StatusBadGateway, "store: Elasticsearch did not answer as it should").SetInternal(err)
	}
	return c.JSON(http.StatusOK, found)
}

// benchmark waits on a timer: only a goroutine is parked, no thread is held.
func (a *api) benchmark(c echo.Context) error {
	var ms int64
	problems := echo.QueryParamsBinder(c).Int64("delay", &ms).BindErrors()
	if ms < 0 || ms > maxDelay.Milliseconds() {
		problems = append(problems, echo.NewBindingError("delay", nil, fmt.Sprintf("want milliseconds from 0 to %d", maxDelay.Milliseconds()), nil))
	}
	if problems != nil {
		return badRequest(problems)
	}
	if ms > 0 {
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-c.Request().Context().Done():
		}
	}
	return c.NoContent(http.StatusOK)
}

// badRequest tells all that is wrong with the parameters at once: "id: required field value is empty; language: …".
func badRequest(problems []error) error {
	told := make([]string, len(problems))
	for i, err := range problems {
		told[i] = err.Error()
		var b *echo.BindingError
		if errors.As(err, &b) {
			told[i] = fmt.Sprintf("%s: %v", b.Field, b.Message)
		}
	}
	return echo.NewHTTPError(http.StatusBadRequest, strings.Join(told, "; "))
}
