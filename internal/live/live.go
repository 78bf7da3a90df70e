// Package live serves the report of a results folder on the loopback interface, and follows it
// while it is being written: what runs is reported each second by server-sent events, and the whole
// page is drawn again when a step has finished.
//
// It only reads. There is a fixed set of paths, GET and HEAD alone, for names of this machine alone
// (so that no foreign page can reach it by a name of its own), and a bounded number of connections
// and followers. Drawing the page is left to whoever passes Options.Render, reading the event log
// to package results.
package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
)

const (
	maxConnections = 128
	maxFollowers   = 16
	calm           = time.Second     // from a change to the page that shows it: results are written a moment after they are reported
	between        = 2 * time.Second // from one page to the next, at least: drawing one takes CPU time of the machine that is measured
	again          = time.Second     // how often a folder that nobody writes to is looked at
	beat           = 15 * time.Second
	farewell       = 3 * time.Second
)

// Options is what is served.
type Options struct {
	Listener net.Listener // as Listen makes it
	// Render draws the whole page from what is on disk now. It is called for one reader at a time.
	Render func() ([]byte, error)
	// Follow hands over the events after number from while somebody writes; see results.Follow.
	Follow func(ctx context.Context, from int64, handle func([]bench.Record) error) error
	// Running tells whether somebody writes now.
	Running func() bool
}

// Listen opens a listener on the loopback interface ("127.0.0.1:0", "localhost:8080") and no other.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address; write host:port, such as 127.0.0.1:0", address)
	}
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is reached by other machines, and nobody is asked for a password; only loopback addresses such as 127.0.0.1:0 or [::1]:8080 are served. "+
			"To look from elsewhere, forward a port: ssh -L 8080:127.0.0.1:8080 HOST", address)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = l.Close()
		return nil, fmt.Errorf("%q leads to %s here, which is no loopback address; write 127.0.0.1:0", address, l.Addr())
	}
	return l, nil
}

// Serve serves until ctx ends, which is no error. It closes the listener and ends all it has begun.
func Serve(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &hub{changed: make(chan struct{}), status: status{Text: "reading the results"}}
	s := &server{hub: h, render: o.Render, hosts: hostsOf(o.Listener.Addr()), ended: ctx.Done(), followers: make(chan struct{}, maxFollowers)}
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: bounded(maxConnections),
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.follow(ctx, o) })
	wg.Go(func() {
		<-ctx.Done()
		last, done := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer done()
		if srv.Shutdown(last) != nil {
			_ = srv.Close()
		}
	})
	err := srv.Serve(o.Listener)
	cancel()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the report: %w", err)
}

// bounded closes connections at once that are more than so many.
func bounded(most int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch {
		case state == http.StateNew && open.Add(1) > most:
			_ = c.Close()
		case state == http.StateClosed:
			open.Add(-1)
		}
	}
}
