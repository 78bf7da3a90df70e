// Command go-nethttp is the locations service on Go's standard library alone: the reference contender.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/locbench/locbench/services/go-nethttp/locations"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	cfg, err := locations.ConfigFromEnv(os.Getenv, os.Stdout)
	if err == nil {
		err = locations.Run(ctx, cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "locations:", err)
		os.Exit(1)
	}
}
