package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Version is the version of Elasticsearch whose responses are reproduced.
const Version = "7.10.2"

// Options tune a Server. The zero value adds no latency.
type Options struct {
	Latency time.Duration // median of the latency added to every call; 0: none
	P99     time.Duration // 99% quantile of the added latency; 0: Latency is constant
	Seed    uint64        // for drawing the latencies
}

// Server is the store: an http.Handler with its own listeners, from Listen or Serve.
type Server struct {
	contents atomic.Pointer[contents]
	delays   *delays
	routes   *http.ServeMux

	calls atomic.Int64 // answered calls
	busy  atomic.Int64 // total time of these calls, in ns

	mu      sync.Mutex
	servers []*http.Server
	serving sync.WaitGroup
	closed  bool
}

// New returns an empty store. Fill it, and Close it in the end.
func New(opts Options) *Server {
	s := &Server{delays: newDelays(opts.Latency, opts.P99, opts.Seed), routes: http.NewServeMux()}
	s.addRoutes()
	s.contents.Store(&contents{})
	return s
}

const (
	headerTimeout = 30 * time.Second
	closeTimeout  = 500 * time.Millisecond // for calls in progress: unused connections would wait longer
	maxHeader     = 64 << 10
)

// Listen serves at another address ("127.0.0.1:0": any free port) until Close and returns the URL.
func (s *Server) Listen(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	return s.Serve(l)
}

// Serve serves the connections of l until Close, which closes l, and returns the URL. It accepts
// calls to an address (see known) and to the names under which l is published.
func (s *Server) Serve(l net.Listener, names ...string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.Join(errors.New("listen: store closed"), l.Close())
	}
	server := &http.Server{
		Handler: onlyFor(l.Addr(), names, s), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: maxHeader,
	}
	s.servers = append(s.servers, server)
	s.serving.Go(func() {
		server.Serve(l) // the only error is ErrServerClosed
	})
	return "http://" + l.Addr().String(), nil
}

// Close ends all listeners and connections and frees the data. It is idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	for _, server := range s.servers {
		if server.Shutdown(ctx) != nil { // a call hangs
			errs = append(errs, server.Close())
		}
	}
	s.serving.Wait()
	s.contents.Store(&contents{})
	return errors.Join(errs...)
}

// delays draws the injected latencies: log-normal with the given median and 99% quantile, roughly
// like the latencies of a store over a network. The n-th call of a server always gets the n-th
// value of its seed.
type delays struct {
	median time.Duration
	sigma  float64 // standard deviation of the logarithm; 0: constant
	seed   uint64
	calls  atomic.Uint64
}

const (
	z99  = 2.3263478740408408 // the 99% quantile of the standard normal distribution
	zMax = 4                  // limit; about one value in 30,000 would be above it
)

// newDelays returns none for a median of 0. A p99 below the median counts as it.
func newDelays(median, p99 time.Duration, seed uint64) *delays {
	if median <= 0 {
		return nil
	}
	d := &delays{median: median, seed: seed}
	if p99 > median {
		d.sigma = math.Log(float64(p99)/float64(median)) / z99
	}
	return d
}

func (d *delays) next() time.Duration {
	if d.sigma == 0 {
		return d.median
	}
	z := rand.New(rand.NewPCG(d.seed, d.calls.Add(1))).NormFloat64()
	z = max(-zMax, min(zMax, z))
	return time.Duration(float64(d.median) * math.Exp(d.sigma*z))
}

// wait sleeps for the next latency, or until ctx ends. Its timer needs no thread.
func (d *delays) wait(ctx context.Context) {
	if d == nil {
		return
	}
	select {
	case <-time.After(d.next()):
	case <-ctx.Done():
	}
}

// onlyFor serves calls whose Host is known and refuses all others: a page in a browser on this
// machine can resolve its own name to this address, and could then read and write the store. A
// listener on all addresses has no known address, so the caller must protect it.
func onlyFor(at net.Addr, names []string, next http.Handler) http.Handler {
	own, _ := netip.ParseAddrPort(at.String())
	if own.Addr().IsUnspecified() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known(r.Host, own.Addr(), names) {
			next.ServeHTTP(w, r)
			return
		}
		writeError(w, &apiError{http.StatusForbidden, "security_exception",
			"unknown host [" + shorten(r.Host) + "]; use the store's address"})
	})
}

// known reports whether a Host is the listener's address, an address of the loopback interface,
// localhost, or one of names. A request without a Host does not come from a browser.
func known(hostport string, own netip.Addr, names []string) bool {
	if hostport == "" {
		return true
	}
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.WithZone("") == own.Unmap().WithZone("") || slices.Contains(names, host)
	}
	same := func(name string) bool { return strings.EqualFold(name, host) }
	return same("localhost") || slices.ContainsFunc(names, same)
}
