// Package locations is a small microservice over city and region data in Elasticsearch, on the standard library alone.
//
// It is the reference that other implementations of the same API are compared with, so it is written the way a careful
// engineer would write it for production: errors that name the parameter, a request log, pooled connections, a graceful
// stop. It knows nothing of the benchmark around it.
package locations

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"time"
)

const (
	startWithin = 10 * time.Second // for the first round trip to the store
	stopWithin  = 14 * time.Second // for the requests in flight
)

// Run makes one round trip to the store, then listens and serves until ctx ends, then lets the requests in flight finish.
// It returns nil after such a stop, and an error when the service could not start or had to break requests off.
func Run(ctx context.Context, cfg Config) error {
	log := newLog(cfg.Log)
	defer log.close()
	st := newStore(cfg.Store)
	defer st.close()
	if err := st.ping(ctx); err != nil {
		return fmt.Errorf("reach Elasticsearch at %s: %w", cfg.Store.Redacted(), err)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(cfg.Listen, "0.0.0.0"), strconv.Itoa(cfg.Port)))
	if err != nil {
		return err // "listen tcp 0.0.0.0:8080: bind: address already in use"
	}
	requests := log
	if !cfg.AccessLog {
		requests = nil
	}
	server := http.Server{
		Handler:           newHandler(st, requests, log),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       3 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.std(),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(malformed{listener}) }()
	log.printf("locations service listening on port %d, Elasticsearch at %s, %d threads of Go code",
		listener.Addr().(*net.TCPAddr).Port, cfg.Store.Redacted(), runtime.GOMAXPROCS(0))
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.printf("stopping: requests in flight have %s", stopWithin)
	// The stop outlives ctx, whose end is the reason for it.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	err = server.Shutdown(grace)
	if err != nil {
		server.Close()
		err = fmt.Errorf("stop: requests were broken off after %s: %w", stopWithin, err)
	}
	<-served
	if err == nil {
		log.printf("stopped")
	}
	return err
}
