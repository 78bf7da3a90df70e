// Command go-fiber is the locations service on Fiber, a web framework over fasthttp.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
)

const (
	startWithin = 10 * time.Second // for the first round trip to the store
	stopWithin  = 14 * time.Second // for the requests in flight
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log.SetOutput(os.Stdout)
	log.SetFlags(log.LstdFlags | log.LUTC)
	if err := run(ctx); err != nil {
		log.Fatal("the service ends: ", err)
	}
}

func run(ctx context.Context) error {
	cfg, err := configFromEnv()
	if err != nil {
		return err
	}
	st := newStore(cfg.store)
	if err := st.ping(startWithin); err != nil {
		return fmt.Errorf("reach Elasticsearch at %s: %w", cfg.store.Redacted(), err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("0.0.0.0", strconv.Itoa(cfg.port)))
	if err != nil {
		return err
	}
	app := newApp(st, cfg.accessLog)
	log.Printf("listening on port %d, Elasticsearch at %s, %d threads", cfg.port, cfg.store.Redacted(), runtime.GOMAXPROCS(0))
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Printf("stopping: requests in flight have %s", stopWithin)
	if err := app.ShutdownWithTimeout(stopWithin); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return <-served
}
