// Command bookings books rooms. Its rows are in PostgreSQL, with rooms cached in Redis, or all in a
// file of SQLite.
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"
)

//go:embed sqlite.sql
var schema string

type service struct {
	db    *sql.DB
	cache *redis.Client // nil: none
}

// open connects to what the environment names.
func open() (s service, err error) {
	file := os.Getenv("SQLITE")
	if file == "" {
		s.cache = redis.NewClient(&redis.Options{Addr: os.Getenv("CACHE")})
		s.db, err = sql.Open("pgx", os.Getenv("DATABASE_URL"))
	} else {
		s.db, err = sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)")
	}
	if err != nil {
		return s, err
	}
	pool, err := strconv.Atoi(os.Getenv("POOL"))
	if err != nil {
		return s, fmt.Errorf("POOL: %w", err)
	}
	s.db.SetMaxOpenConns(pool)
	s.db.SetMaxIdleConns(pool)
	if file != "" {
		_, err = s.db.Exec(schema)
	}
	return s, err
}

func (s service) health(ctx context.Context) error {
	if s.cache != nil {
		if err := s.cache.Ping(ctx).Err(); err != nil {
			return err
		}
	}
	return s.db.PingContext(ctx)
}

// room returns a room as JSON, and whether it was in the cache.
func (s service) room(ctx context.Context, id int) (text string, hit bool, err error) {
	key := "room:" + strconv.Itoa(id)
	if s.cache != nil {
		switch text, err := s.cache.Get(ctx, key).Result(); {
		case err == nil:
			return text, true, nil
		case !errors.Is(err, redis.Nil):
			return "", false, err
		}
	}
	var beds int
	if err := s.db.QueryRowContext(ctx, "SELECT beds FROM rooms WHERE id = $1", id).Scan(&beds); err != nil {
		return "", false, err
	}
	text = fmt.Sprintf(`{"id":%d,"beds":%d}`, id, beds)
	if s.cache != nil {
		err = s.cache.Set(ctx, key, text, time.Minute).Err()
	}
	return text, false, err
}

// fail responds to an error.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, sql.ErrNoRows) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), status)
}

func main() {
	s, err := open()
	if err != nil {
		log.Fatal(err)
	}
	respond := func(w http.ResponseWriter, status int, text string, err error) {
		if err != nil {
			fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
	http.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		respond(w, http.StatusOK, `{"ok":true}`, s.health(r.Context()))
	})
	http.HandleFunc("GET /rooms/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		text, hit, err := s.room(r.Context(), id)
		w.Header().Set("X-Cache", map[bool]string{true: "hit", false: "miss"}[hit])
		respond(w, http.StatusOK, text, err)
	})
	http.HandleFunc("POST /bookings", func(w http.ResponseWriter, r *http.Request) {
		var booking struct{ Room int }
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1000)).Decode(&booking)
		var id int
		if err == nil {
			err = s.db.QueryRowContext(r.Context(), "INSERT INTO bookings (room) VALUES ($1) RETURNING id", booking.Room).Scan(&id)
		}
		respond(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id), err)
	})
	http.HandleFunc("GET /bookings/count", func(w http.ResponseWriter, r *http.Request) {
		var count int
		err := s.db.QueryRowContext(r.Context(), "SELECT count(*) FROM bookings").Scan(&count)
		respond(w, http.StatusOK, fmt.Sprintf(`{"count":%d}`, count), err)
	})
	log.Fatal(http.ListenAndServe(strings.Join([]string{os.Getenv("LISTEN"), os.Getenv("PORT")}, ":"), nil))
}
