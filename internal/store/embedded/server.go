package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
