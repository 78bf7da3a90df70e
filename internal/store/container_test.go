package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
)

// starting is a container that has written a line.
type starting struct {
	needs.Container
	exited chan struct{}
}

func (c starting) Exited() <-chan struct{} { return c.exited }
func (c starting) Logs() []bench.LogLine   { return []bench.LogLine{{Text: "starting"}} }

// TestAwaitContainer waits for a response, the end of the container, or the timeout.
func TestAwaitContainer(t *testing.T) {
	for name, c := range map[string]struct {
		responds, ends, interrupted time.Duration // time until it happens; 0: never
		want                        string        // in the error; "": no error
		after                       time.Duration // how long the wait takes, give or take one pause
	}{
		"at once":     {responds: time.Nanosecond, after: startPoll},
		"late":        {responds: time.Minute, after: time.Minute},
		"never":       {want: "es:1 did not respond: refused; its last lines:\n  starting", after: startTimeout},
		"ended":       {ends: 10 * time.Second, responds: time.Minute, want: "es:1 ended before it responded:\n  starting", after: 10 * time.Second},
		"interrupted": {interrupted: 10 * time.Second, responds: time.Minute, want: "did not respond", after: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				container := starting{exited: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.ends > 0 {
					time.AfterFunc(c.ends, func() { close(container.exited) })
				}
				if c.interrupted > 0 {
					time.AfterFunc(c.interrupted, cancel)
				}
				began := time.Now()
				err := awaitContainer(ctx, container, "es:1", func(context.Context) error {
					if c.responds > 0 && time.Since(began) >= c.responds {
						return nil
					}
					return errors.New("refused")
				})
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				took := time.Since(began)
				testenv.Check(t, took >= c.after && took <= c.after+startPoll, "waited for %v, want %v", took, c.after)
			})
		})
	}
}
