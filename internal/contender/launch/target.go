package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// Target launches nothing: the service is running already. It is neither measured nor stopped.
type Target struct{}

// Launch returns the service at spec.URL at once: http://host:port, with an optional path that is
// put before those of requests. Package ready finds out whether the service responds.
func (Target) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	u, err := secret.ParseURL(spec.URL)
	if err == nil && !secret.IsHTTP(u) {
		err = errors.New("expected http://host:port")
	}
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", secret.Address(spec.URL), err)
	}
	t := &target{url: strings.TrimRight(spec.URL, "/"), host: u.Host, started: time.Now(), exited: make(chan struct{})}
	return t, ctx.Err()
}

type target struct {
	url, host string
	started   time.Time
	exited    chan struct{} // never closed: locbench does not know
}

func (t *target) BaseURL() string { return t.url }
func (t *target) Info() bench.InstanceInfo {
	return bench.InstanceInfo{Runtime: bench.RuntimeURL, Address: t.host, StartedAt: t.started}
}
func (t *target) Exited() <-chan struct{} { return t.exited }
func (t *target) Exit() *bench.Exit       { return nil }
func (t *target) Logs() []bench.LogLine   { return nil }
func (t *target) Usage(context.Context) (bench.Usage, error) {
	return bench.Usage{}, errors.New("no counters for a target")
}
func (t *target) Stop(context.Context, time.Duration) (bench.StopResult, error) {
	return bench.StopResult{}, nil
}
