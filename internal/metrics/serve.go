package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Listen opens a listener for Serve. Without a host (":9464", "9464") it is on the loopback
// interface alone; other addresses must be named.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address; write for example 127.0.0.1:9464", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// Serve answers GET /metrics until ctx ends, which is no error. It closes the listener.
func Serve(ctx context.Context, l net.Listener, r *Run) error {
	a, ok := l.Addr().(*net.TCPAddr)
	srv := &http.Server{
		Handler: handler{run: r, own: ok && a.IP.IsLoopback()}, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

type handler struct {
	run *Run
	own bool // on the loopback interface: only names that cannot be made to lead here are answered
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case h.own && !literal(r.Host):
		http.Error(w, "ask by 127.0.0.1, [::1] or localhost", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "metrics can only be read", http.StatusMethodNotAllowed)
	case r.URL.Path != "/metrics":
		http.Error(w, "there is only /metrics", http.StatusNotFound)
	default:
		var b bytes.Buffer
		_ = h.run.Write(&b) // a buffer takes everything
		w.Header().Set("Content-Type", ContentType)
		_, _ = w.Write(b.Bytes())
	}
}

// literal tells whether a Host header is an address or localhost, which no foreign page can have.
func literal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
