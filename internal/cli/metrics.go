package cli

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locbench/internal/bench"
	"locbench/internal/event"
	"locbench/internal/exit"
	"locbench/internal/metrics"
	"locbench/internal/store"
)

// metricsFlags say where the state of a run is told while it goes on.
type metricsFlags struct {
	listen string
	push   string
	every  time.Duration
}

func (f *metricsFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "metrics-listen", "", "serve how the run stands at http://`ADDRESS`/metrics, for Prometheus; without a host on the loopback interface alone")
	fl.StringVar(&f.push, "push-url", "", "push how the run stands to the Pushgateway at this `URL`, by PUT; a failure is a warning")
	fl.DurationVar(&f.every, "push-every", 5*time.Second, "how often --push-url gets it")
	_ = cmd.RegisterFlagCompletionFunc("metrics-listen", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("push-url", cobra.NoFileCompletions)
}

// telling is what tells a run's state: an address, and pushes. The zero value tells nothing.
type telling struct {
	flags    metricsFlags
	listener net.Listener
	url      string // to push to
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// open takes the address, before anything is started.
func (f metricsFlags) open(ctx context.Context) (*telling, error) {
	t := &telling{flags: f, stop: func() {}}
	var err error
	if f.push != "" {
		if t.url, err = metrics.Endpoint(f.push); err != nil {
			return nil, exit.Usagef("--push-url: %w", err)
		}
		if f.every < time.Second || f.every > time.Hour {
			return nil, exit.Usagef("--push-every %v: from 1s to 1h", f.every)
		}
	}
	if f.listen != "" {
		if t.listener, err = metrics.Listen(ctx, f.listen); err != nil {
			return nil, exit.Usagef("--metrics-listen: %w", err)
		}
	}
	return t, nil
}

// start tells what comes along stream from now on, until close.
func (t *telling) start(ctx context.Context, stream *event.Stream) {
	if t.listener == nil && t.url == "" {
		return
	}
	state := &metrics.Run{}
	say := func(level, format string, args ...any) {
		stream.Publish(nil, bench.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
	}
	// It ends after the run, not with ctx: the last figures are told too.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.stop = cancel
	var where []string
	if l := t.listener; l != nil {
		t.listener = nil
		where = append(where, fmt.Sprintf("metrics  http://%s/metrics", l.Addr()))
		t.wg.Go(func() {
			if err := metrics.Serve(own, l, state); err != nil {
				say("warning", "%v", err)
			}
		})
	}
	if t.url != "" {
		shown := withoutQuery(store.Redact(t.url))
		where = append(where, fmt.Sprintf("pushes   to %s every %v", shown, t.flags.every))
		push := metrics.Push{
			URL: t.url, Every: t.flags.every,
			Failed: func(err error) {
				say("warning", "metrics cannot be pushed to %s, which is tried again and told once: %v", shown, err)
			},
			Again: func() { say("info", "metrics are pushed again") },
		}
		t.wg.Go(func() { push.Run(own, state) })
	}
	stream.Subscribe(func(rec bench.Record) {
		state.Handle(rec)
		if _, ok := rec.Event.(bench.RunStarted); ok { // the first of all events
			for _, text := range where {
				say("info", "%s", text)
			}
		}
	})
}

// close ends it. It takes some seconds at most, where nobody answers to the last push.
func (t *telling) close() {
	t.stop()
	t.wg.Wait()
	if t.listener != nil {
		_ = t.listener.Close()
	}
}

// withoutQuery leaves out what may hold a token.
func withoutQuery(url string) string {
	before, _, ok := strings.Cut(url, "?")
	if ok {
		before += "?…"
	}
	return before
}
