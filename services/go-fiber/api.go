package main

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"
	"github.com/gofiber/fiber/v3/middleware/recover"
)

var languages = []string{"cs", "de", "en", "pl", "sk"}

// maxDelay keeps a delayed request well within the time that a stop leaves to it.
const maxDelay = 10 * time.Second

type api struct{ cities *cities }

// cityResponse is a city in the language of the request.
type cityResponse struct {
	CountryISO string `json:"countryIso"`
	ID         int64  `json:"id"`
	IsFeatured bool   `json:"isFeatured"`
	Name       string `json:"name"`
	RegionName string `json:"regionName"`
}

func newApp(st *store, accessLog bool) *fiber.App {
	app := fiber.New(fiber.Config{
		ErrorHandler: tell,
		ReadTimeout:  time.Minute, // also how long an idle connection is kept
	})
	if accessLog {
		app.Use(logger.New(logger.Config{
			Format: "${now} ${method} ${url} ${status} ${latency}\n",
			// The middleware's own ${time} is read twice a second only.
			CustomTags: map[string]logger.LogFunc{"now": func(out logger.Buffer, _ fiber.Ctx, _ *logger.Data, _ string) (int, error) {
				return out.WriteString(time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
			}},
		}))
	}
	app.Use(recover.New())
	a := &api{cities: &cities{store: st}}
	app.Get("/", a.root)
	app.Get("/city/v1/get", a.get)
	app.Get("/v1/benchmark", a.benchmark)
	return app
}

// tell makes any error JSON with a message. What is no *fiber.Error is logged and not told to the client.
func tell(c fiber.Ctx, err error) error {
	var f *fiber.Error
	if !errors.As(err, &f) {
		log.Printf("error: %s: %v", c.Path(), err)
		f = fiber.NewError(fiber.StatusBadGateway, "store: Elasticsearch did not answer as it should")
	}
	return c.Status(f.Code).JSON(fiber.Map{"message": f.Message})
}

func (a *api) root(c fiber.Ctx) error {
	return c.JSON(fiber.Map{"service": "locations"})
}

func (a *api) get(c fiber.Ctx) error {
	var problems []string
	id, err := strconv.ParseInt(c.Query("id"), 10, 64)
	if err != nil {
		problems = append(problems, "id: want a whole number")
	}
	// The one of our own: what Query returns is a buffer that the next request uses again.
	at := slices.Index(languages, c.Query("language"))
	if at < 0 {
		problems = append(problems, "language: want one of "+strings.Join(languages, ", "))
	}
	if problems != nil {
		return fiber.NewError(fiber.StatusBadRequest, strings.Join(problems, "; "))
	}
	found, err := a.cities.get(id, languages[at])
	if errors.Is(err, errNoDocument) {
		return fiber.NewError(fiber.StatusNotFound, fmt.Sprintf("id: there is no city %d", id))
	}
	if err != nil {
		return err
	}
	return c.JSON(found)
}

// benchmark sleeps: only a goroutine is parked, no thread is held.
func (a *api) benchmark(c fiber.Ctx) error {
	ms, err := strconv.ParseInt(c.Query("delay", "0"), 10, 64)
	if err != nil || ms < 0 || ms > maxDelay.Milliseconds() {
		return fiber.NewError(fiber.StatusBadRequest, fmt.Sprintf("delay: want milliseconds from 0 to %d", maxDelay.Milliseconds()))
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return nil
}
