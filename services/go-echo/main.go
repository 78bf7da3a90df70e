// Command go-echo is the locations service on Echo, a web framework over net/http.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	startWithin = 10 * time.Second // for the first round trip to the store
	stopWithin  = 14 * time.Second // for the requests in flight
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	if err := run(ctx, log); err != nil {
		log.Error("the service ends: " + err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger) error {
	cfg, err := configFromEnv()
	if err != nil {
		return err
	}
	st := newStore(cfg.store)
	pingCtx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := st.ping(pingCtx); err != nil {
		return fmt.Errorf("reach Elasticsearch at %s: %w", cfg.store.Redacted(), err)
	}
	e := newServer(st, log, cfg.accessLog)
	listener, err := net.Listen("tcp", net.JoinHostPort("0.0.0.0", strconv.Itoa(cfg.port)))
	if err != nil {
		return err
	}
	e.Listener = malformed{listener}
	log.Info("listening", "port", cfg.port, "store", cfg.store.Redacted(), "threads", runtime.GOMAXPROCS(0))
	served := make(chan error, 1)
	go func() { served <- e.Start("") }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "within", stopWithin)
	// The stop outlives ctx, whose end is the reason for it.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if err := e.Shutdown(grace); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
