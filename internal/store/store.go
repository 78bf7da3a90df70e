// Package store provides the Elasticsearch that the contenders ask: one that somebody else runs
// (external), the official image started for this run (container), one inside this process
// (embedded, see package embedded below this one), or none.
//
// All of them are used in the same way: URL is how this machine reaches the store, Listen makes it
// reachable for contenders that cannot use that address, such as containers behind a bridge.
// An embedded store is filled by a call of Fill; the others by package seed, over HTTP.
package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/store/embedded"
)

// ErrNone is returned by Listen where the profile wants no store.
var ErrNone = errors.New("this run has no store")

// DefaultImage is the official image that a container store runs unless the profile names another.
const DefaultImage = "elasticsearch:7.17.28"

// Options are what Open needs besides the StoreSpec. The zero value is good without a container.
type Options struct {
	Seed       uint64              // of the injected latency
	RunID      string              // goes into the labels of a container
	Containers ContainerRunner     // container only
	OnLog      func(bench.LogLine) // container only: lines of its log; may be nil, must not block long
}

// Store is an open store. Its methods may be called by several goroutines at once.
type Store struct {
	kind     bench.StoreKind
	url      string // may hold user info
	identity string // external: the response to GET /, which names node and cluster
	version  string
	warnings bench.Warnings

	embedded  *embedded.Server
	container Container

	mu     sync.Mutex
	relays []*relay
	seen   string
	closed bool
}

// Open starts or reaches the store of spec. Close it, also after a cancelled ctx. An error names
// what to do where that is known.
func Open(ctx context.Context, spec bench.StoreSpec, opts Options) (*Store, error) {
	kind := spec.Chosen()
	open, ok := openers[kind]
	if !ok {
		return nil, fmt.Errorf("unknown kind of store %q", kind)
	}
	s := &Store{kind: kind}
	if open != nil {
		if err := open(s, ctx, spec, opts); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// openers open a store of each kind; nil where there is nothing to open.
var openers = map[bench.StoreKind]func(*Store, context.Context, bench.StoreSpec, Options) error{
	bench.StoreEmbedded:  (*Store).openEmbedded,
	bench.StoreExternal:  (*Store).openExternal,
	bench.StoreContainer: (*Store).openContainer,
	bench.StoreNone:      nil,
}

func (s *Store) openEmbedded(_ context.Context, spec bench.StoreSpec, opts Options) error {
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

// URL returns how this machine reaches the store, without a slash at the end; "" where there is none. It
// may hold a user name and password: show Info().URL instead.
func (s *Store) URL() string { return s.url }

// Work returns what an embedded store has done so far (embedded.Server.Work); ok is false for others.
func (s *Store) Work() (work func() (calls int64, busy time.Duration), ok bool) {
	if s.embedded == nil {
		return nil, false
	}
	return s.embedded.Work, true
}

// Fill brings a data set into an embedded store (embedded.Server.Fill); others are filled through
// their URLs.
func (s *Store) Fill(ctx context.Context, set bench.DataSet, progress func(done int64)) error {
	if s.embedded == nil {
		return fmt.Errorf("fill the store: it is %s, which is filled through its URL", s.kind)
	}
	return s.embedded.Fill(ctx, set, progress)
}

// PID returns the main process of a store in a container on this machine; 0 where there is none.
func (s *Store) PID() int {
	if s.container == nil {
		return 0
	}
	return s.container.PID()
}

// Warnings returns warnings about the store that belong to the results.
func (s *Store) Warnings() bench.Warnings { return s.warnings }

// Info describes the store for the record, without user info. Seen is the last response of Listen.
func (s *Store) Info() bench.StoreInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bench.StoreInfo{Kind: s.kind, URL: Redact(s.url), Seen: Redact(s.seen), Version: s.version}
}

// Listen makes the store reachable at addr, an address of this machine such as the gateway of a
// Docker network ("172.18.0.1:0" for any free port), and returns the URL for a contender there.
// Connections are taken from peers, the subnets of that network, and from nowhere else; without
// any, from this machine's loopback interface. A store that is not on that interface needs no such
// help: its own URL is returned. What was opened stays until Close.
func (s *Store) Listen(addr string, peers ...netip.Prefix) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", fmt.Errorf("listen on %s: the store is closed", addr)
	}
	url, err := s.listen(addr, peers)
	if err != nil {
		return "", err
	}
	s.seen = url
	return url, nil
}

// ListenAs makes the store reachable on this machine's loopback interface, for contenders to whom a
// gateway of theirs leads there under the name, and returns the URL for them.
func (s *Store) ListenAs(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.New("listen: the store is closed")
	}
	url, err := s.listen("127.0.0.1:0", nil, name)
	if err != nil {
		return "", err
	}
	if OnLoopback(url) {
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
	case s.kind.Traits().None:
		return "", ErrNone
	case s.embedded != nil:
		l, err := listenFor(addr, peers)
		if err != nil {
			return "", err
		}
		return s.embedded.Serve(l, names...)
	case s.container != nil:
		return "http://" + s.container.NetworkAddress(), nil
	case !OnLoopback(s.url):
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

// Close ends everything that Open and Listen have started: listeners, the embedded store with its
// data, the container. An external store is left alone. It is idempotent.
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
		errs = append(errs, s.container.Stop(ctx))
	}
	return errors.Join(errs...)
}

const stopTimeout = time.Minute
