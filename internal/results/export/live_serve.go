package export

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
)

// MetricsServer serves the state of a run at GET /metrics.
type MetricsServer struct {
	listener net.Listener
	server   http.Server
	state    state
	serving  sync.WaitGroup
}

// ListenMetrics listens at the address; without a host (":9464", "9464") only on loopback.
func ListenMetrics(ctx context.Context, address string) (*MetricsServer, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address (use HOST:PORT, such as 127.0.0.1:9464)", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	s := &MetricsServer{server: http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}}
	registry := prometheus.NewRegistry()
	if err := registry.Register(&s.state); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	if s.listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, err
	}
	a, ok := s.listener.Addr().(*net.TCPAddr)
	loopback := ok && a.IP.IsLoopback()
	paths := http.NewServeMux()
	// Compression would use CPU time of the measured machine.
	paths.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true}))
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if loopback && !literal(r.Host) {
			http.Error(w, "use 127.0.0.1, [::1] or localhost", http.StatusMisdirectedRequest)
			return
		}
		paths.ServeHTTP(w, r)
	})
	return s, nil
}

// literal reports whether a Host header is an IP address or localhost, so not of another site.
func literal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}

// Follow serves the state of the run in stream until Close.
func (s *MetricsServer) Follow(stream *event.Stream) {
	say := func(level, text string) { stream.Publish(nil, bench.Notice{Level: level, Text: text}) }
	s.serving.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			say("warning", fmt.Sprintf("serve metrics: %v", err))
		}
	})
	stream.Subscribe(func(rec bench.Record) {
		s.state.handle(rec)
		if _, ok := rec.Event.(bench.RunStarted); ok { // the first event
			say("info", fmt.Sprintf("metrics  http://%s/metrics", s.listener.Addr()))
		}
	})
}

// Close stops the server and waits for its end. Follow need not have been called.
func (s *MetricsServer) Close() {
	_ = s.server.Close()
	_ = s.listener.Close()
	s.serving.Wait()
}
