package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/testenv/loadtools"
)

const body = `{"ok":true,"text":"0123456789012345678901234567890123456789"}`

// server is a server with known behavior, and its journal.
type server struct {
	*httptest.Server
	begun, cut, notFound, dropped atomic.Int64
	gzip                          atomic.Bool
	mu                            sync.Mutex
	first                         time.Time // the first request
}

// mode is what a server does, and the load on it.
type mode struct {
	title                      string
	connections, rate, seconds int
	respond                    func(s *server, n, ofConnection int64, since time.Duration, w http.ResponseWriter)
	shows                      func(loadtools.Report, *server) string
}

const usual = 5 * time.Millisecond

var closed = []mode{
	{"all from second 2 on are answered at second 8", 4, 0, 3, func(_ *server, _, _ int64, since time.Duration, w http.ResponseWriter) {
		if time.Sleep(usual); since > 2*time.Second {
			time.Sleep(8*time.Second - since)
		}
		good(w)
	}, late},
	{"one takes 1 s, all others 5 ms", 1, 0, 3, func(_ *server, n, _ int64, _ time.Duration, w http.ResponseWriter) {
		if time.Sleep(usual); n == 100 {
			time.Sleep(time.Second)
		}
		good(w)
	}, latency},
	{"every 10th body ends half-way", 4, 0, 2, func(s *server, n, _ int64, _ time.Duration, w http.ResponseWriter) {
		if time.Sleep(usual); n%10 > 0 {
			good(w)
			return
		}
		s.cut.Add(1)
		w.Header().Set("Content-Length", "62")
		_, _ = w.Write([]byte(body[:31]))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}, against(func(s *server) int64 { return s.cut.Load() }, "cut")},
	{"every 10th is a 404", 4, 0, 2, func(s *server, n, _ int64, _ time.Duration, w http.ResponseWriter) {
		if time.Sleep(usual); n%10 == 0 {
			s.notFound.Add(1)
			w.WriteHeader(http.StatusNotFound)
		}
		good(w)
	}, against(func(s *server) int64 { return s.notFound.Load() }, "are 404")},
	{"every 25th of a connection is dropped without a byte", 4, 0, 2, func(s *server, _, of int64, _ time.Duration, w http.ResponseWriter) {
		if time.Sleep(usual); of%25 == 0 {
			s.dropped.Add(1)
			panic(http.ErrAbortHandler)
		}
		good(w)
	}, against(func(s *server) int64 { return s.dropped.Load() }, "dropped")},
	{"asks for gzip", 1, 0, 1, func(_ *server, _, _ int64, _ time.Duration, w http.ResponseWriter) {
		time.Sleep(usual)
		good(w)
	}, func(_ loadtools.Report, s *server) string { return asksGzip(s) }},
}

var open = []mode{
	{"200/s for 6 s, 8 connections; 1 s stall, so 17% are late", 8, 200, 6, func(_ *server, _, _ int64, since time.Duration, w http.ResponseWriter) {
		time.Sleep(2 * usual)
		if ends := since + 2*usual; ends >= 3*time.Second && ends < 4*time.Second {
			time.Sleep(4*time.Second - ends)
		}
		good(w)
	}, sentAnd},
	{"20/s for 4 s, 4 connections; each takes 100 ms", 4, 20, 4, func(_ *server, _, _ int64, _ time.Duration, w http.ResponseWriter) {
		time.Sleep(100 * time.Millisecond)
		good(w)
	}, sentAnd},
}

func good(w http.ResponseWriter) { _, _ = w.Write([]byte(body)) }

// ofConnection is the key of the number of requests of a connection.
type ofConnection struct{}

// serve starts a server.
func (m mode) serve() *server {
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.first.IsZero() {
			s.first = time.Now()
		}
		since := time.Since(s.first)
		s.mu.Unlock()
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			s.gzip.Store(true)
		}
		of := r.Context().Value(ofConnection{}).(*atomic.Int64)
		m.respond(s, s.begun.Add(1), of.Add(1), since, w)
	}))
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, ofConnection{}, new(atomic.Int64))
	}
	s.Start()
	return s
}
