package app

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/elastic/store"
	"locbench/internal/event"
	"locbench/internal/exit"
	"locbench/internal/metrics"
)

// MetricsOptions say where the state of a run is reported while it goes on.
type MetricsOptions struct {
	Listen, Push string
	Every        time.Duration
}

// metricsFeed tells a run's state: an address, and pushes. The zero value tells nothing.
type metricsFeed struct {
	options  MetricsOptions
	listener net.Listener
	url      string // to push to
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// open takes the address, before anything is started.
func (f MetricsOptions) open(ctx context.Context) (*metricsFeed, error) {
	t := &metricsFeed{options: f, stop: func() {}}
	var err error
	if f.Push != "" {
		if t.url, err = metrics.Endpoint(f.Push); err != nil {
			return nil, exit.Usagef("--push-url: %w", err)
		}
		if f.Every < time.Second || f.Every > time.Hour {
			return nil, exit.Usagef("--push-every %v: from 1s to 1h", f.Every)
		}
	}
	if f.Listen != "" {
		if t.listener, err = metrics.Listen(ctx, f.Listen); err != nil {
			return nil, exit.Usagef("--metrics-listen: %w", err)
		}
	}
	return t, nil
}

// start tells what comes along stream from now on, until close.
func (t *metricsFeed) start(ctx context.Context, stream *event.Stream) {
	if t.listener == nil && t.url == "" {
		return
	}
	state := &metrics.Run{}
	say := func(level, text string) { stream.Publish(nil, bench.Notice{Level: level, Text: text}) }
	// It ends after the run, not with ctx: the last figures are reported too.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.stop = cancel
	var where []string
	if l := t.listener; l != nil {
		t.listener = nil
		where = append(where, fmt.Sprintf("metrics  http://%s/metrics", l.Addr()))
		t.wg.Go(func() {
			if err := metrics.Serve(own, l, state); err != nil {
				say("warning", err.Error())
			}
		})
	}
	if t.url != "" {
		shown := withoutQuery(store.Redact(t.url))
		where = append(where, fmt.Sprintf("pushes   to %s every %v", shown, t.options.Every))
		push := metrics.Push{
			URL: t.url, Every: t.options.Every,
			Failed: func(err error) {
				text := "metrics cannot be pushed to %s, which is tried again and reported once: %v"
				say("warning", fmt.Sprintf(text, shown, err))
			},
			Again: func() { say("info", "metrics are pushed again") },
		}
		t.wg.Go(func() { push.Run(own, state) })
	}
	stream.Subscribe(func(rec bench.Record) {
		state.Handle(rec)
		if _, ok := rec.Event.(bench.RunStarted); ok { // the first of all events
			for _, text := range where {
				say("info", text)
			}
		}
	})
}

// close ends it. It takes some seconds at most, where nobody answers to the last push.
func (t *metricsFeed) close() {
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
