// Package store provides the Elasticsearch that the contenders use: one that is already running
// (external), the official image started for this run (container), one inside this process
// (embedded, see package embedded), or none.
//
// URL is how this machine reaches the store. Listen makes it reachable for contenders that cannot
// use that URL, such as containers behind a bridge. Fill fills an embedded store, whose Work is
// counted; package seed fills the others over HTTP.
package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/secret"
)

// ErrNone is returned by Listen if the profile has no store.
var ErrNone = errors.New("this run has no store")

// DefaultImage is the official image of a container store; a profile may name another.
const DefaultImage = "elasticsearch:7.17.28"

// Spec chooses the Elasticsearch that the contenders use.
type Spec struct {
	From    bench.NeedOrigin
	URL     string        // external: e.g. http://10.0.0.5:9200
	Image   string        // container
	Latency time.Duration // embedded: median latency added to every response; 0 adds none
	P99     time.Duration // embedded: p99 of the added latency; 0: every response gets exactly Latency
}

// Chosen returns the origin that "auto" stands for.
func (s Spec) Chosen() bench.NeedOrigin {
	switch {
	case s.From != bench.NeedAuto && s.From != "":
		return s.From
	case s.URL != "":
		return bench.NeedExternal
	}
	return bench.NeedEmbedded
}

// Options are what Open needs next to the Spec. The zero value is enough without a container.
type Options struct {
	Seed       uint64               // of the injected latency
	Containers needs.Containers     // needed for a container
	CPUs       cpuset.Set           // of a container; empty: any
	Progress   func(bench.Progress) // of a container; may be nil
	OnLog      func(bench.LogLine)  // gets the log lines of a container; may be nil, must not block long
}

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	from     bench.NeedOrigin
	url      string // may hold user info
	identity string // external: the response to GET /, which names node and cluster
	version  string
	warnings bench.Warnings

	embedded  *embedded.Server
	container needs.Container

	mu     sync.Mutex
	relays []*relay
	seen   string
	closed bool
}

// Open starts or reaches the store of spec. Close it, even if ctx was canceled.
func Open(ctx context.Context, spec Spec, opts Options) (*Store, error) {
	from := spec.Chosen()
	open, ok := openers[from]
	if !ok {
		return nil, fmt.Errorf("unknown store %q", from)
	}
	s := &Store{from: from}
	if open != nil {
		if err := open(s, ctx, spec, opts); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// openers open a store, by its origin; nil if there is nothing to open.
var openers = map[bench.NeedOrigin]func(*Store, context.Context, Spec, Options) error{
	bench.NeedEmbedded:  (*Store).openEmbedded,
	bench.NeedExternal:  (*Store).openExternal,
	bench.NeedContainer: (*Store).openContainer,
	bench.NeedNone:      nil,
}

func (s *Store) openEmbedded(_ context.Context, spec Spec, opts Options) error {
	server, err := embedded.New(embedded.Options{Latency: spec.Latency, P99: spec.P99, Seed: opts.Seed})
	if err != nil {
		return fmt.Errorf("open embedded store: %w", err)
	}
	s.embedded, s.version = server, embedded.Version+" (embedded)"
	if s.url, err = s.listen("127.0.0.1:0", loopback()); err != nil {
		return errors.Join(fmt.Errorf("open embedded store: %w", err), server.Close())
	}
	return nil
}

// URL returns how this machine reaches the store, without a slash at the end; "" without a store.
// It may hold a user name and password: show Info().URL instead.
func (s *Store) URL() string { return s.url }

// Work returns embedded.Server.Work of an embedded store; ok is false for other kinds.
func (s *Store) Work() (work func() (calls int64, busy time.Duration), ok bool) {
	if s.embedded == nil {
		return nil, false
	}
	return s.embedded.Work, true
}

// Fill loads a data set into an embedded store (embedded.Server.Fill). Package seed fills other
// kinds through their URLs.
func (s *Store) Fill(ctx context.Context, set bench.DataSet, progress func(done int64)) error {
	if s.embedded == nil {
		return fmt.Errorf("fill the store: not possible for one that is %s; seed it through its URL", s.from)
	}
	return s.embedded.Fill(ctx, set, progress)
}

// PID returns the main process of a store in a container on this machine, otherwise 0.
func (s *Store) PID() int {
	if s.container == nil {
		return 0
	}
	return s.container.LocalPID()
}

// Warnings returns the warnings about the store, for the results.
func (s *Store) Warnings() bench.Warnings { return s.warnings }

// Info describes the store for the record, without user info. Seen is the last URL from Listen.
func (s *Store) Info() bench.NeedInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bench.NeedInfo{From: s.from, URL: secret.WithoutUser(s.url), Seen: secret.WithoutUser(s.seen), Version: s.version}
}

// Listen makes the store reachable at addr, an address of this machine such as the gateway of a
// Docker network ("172.18.0.1:0" for any free port), and returns the URL for a contender there. It
// accepts connections only from peers, the subnets of that network; without peers, only from this
// machine's loopback interface. For a store that is not on that interface it returns the store's
// own URL. Listeners stay open until Close.
func (s *Store) Listen(addr string, peers ...netip.Prefix) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", fmt.Errorf("listen on %s: store closed", addr)
	}
	url, err := s.listen(addr, peers)
	if err != nil {
		return "", err
	}
	s.seen = url
	return url, nil
}

// ListenAs makes the store reachable on this machine's loopback interface, for contenders whose
// gateway forwards the name to it, and returns the URL for them.
func (s *Store) ListenAs(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.New("listen: store closed")
	}
	url, err := s.listen("127.0.0.1:0", nil, name)
	if err != nil {
		return "", err
	}
	if contact.OnLoopback(url) {
		_, port, err := net.SplitHostPort(hostPort(url))
		if err != nil {
			return "", fmt.Errorf("store address: %w", err)
		}
		url = withHost(url, net.JoinHostPort(name, port))
	}
	s.seen = url
	return url, nil
}

func (s *Store) listen(addr string, peers []netip.Prefix, names ...string) (string, error) {
	if len(peers) == 0 {
		peers = loopback()
	}
	switch {
	case s.from.Traits().None:
		return "", ErrNone
	case s.embedded != nil:
		l, err := listenFor(addr, peers)
		if err != nil {
			return "", err
		}
		return s.embedded.Serve(l, names...)
	case s.container != nil:
		return "http://" + s.container.NetworkAddress(), nil
	case !contact.OnLoopback(s.url):
		return s.url, nil
	}
	target := hostPort(s.url)
	if url := s.direct(context.Background(), addr, target); url != "" {
		return url, nil
	}
	l, err := listenFor(addr, peers)
	if err != nil {
		return "", fmt.Errorf("relay to the store: %w", err)
	}
	s.relays = append(s.relays, newRelay(l, target))
	return withHost(s.url, l.Addr().String()), nil
}

// Close ends everything that Open and Listen started: listeners, the embedded store with its
// data, the container. It leaves an external store alone and is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, r := range s.relays {
		errs = append(errs, r.close())
	}
	if s.embedded != nil {
		errs = append(errs, s.embedded.Close())
	}
	if s.container != nil {
		// Not the caller's context: an interrupted run must not leave a container.
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		_, err := s.container.Stop(ctx, containerGrace)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

const stopTimeout = time.Minute
