//go:build acceptance && timing && linux

package portable

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Every phase has its own delay. Each is at least that long, and they add up to the total, so none
// includes part of another.
func TestEachPhaseHasItsOwnTimeOnSockets(t *testing.T) {
	const name, connect, handshake, send, first, receive = 11 * time.Millisecond, 13 * time.Millisecond, 17 * time.Millisecond,
		19 * time.Millisecond, 23 * time.Millisecond, 29 * time.Millisecond
	const body = 16 << 20 // far more than the buffers of two sockets hold
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(send) // nothing is read meanwhile, so the client cannot continue writing
		if n, _ := io.Copy(io.Discard, r.Body); n != body {
			t.Errorf("%d bytes came", n)
		}
		time.Sleep(first)
		w.Header().Set("Content-Length", "10")
		fmt.Fprint(w, "hello")
		w.(http.Flusher).Flush()
		time.Sleep(receive)
		fmt.Fprint(w, "world")
	}))
	server.StartTLS()
	defer server.Close()
	certificate := server.TLS.Certificates[0]
	server.TLS.Certificates = nil
	server.TLS.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		time.Sleep(handshake)
		return &certificate, nil
	}
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	testenv.Judge(t, 4, 5*time.Millisecond, func(tb testing.TB) error {
		var errs []error
		p, err := Phases(tb.Context(), PhasesPlan{
			BaseURL: "https://contender.test:" + port, Requests: 1, TLS: trust,
			Request: bench.Request{Name: "upload", Method: "POST", Path: "/", Body: strings.Repeat("x", body)},
			Resolve: func(_ context.Context, host string) ([]net.IP, error) {
				if host != "contender.test" {
					return nil, errors.New(host)
				}
				time.Sleep(name)
				return []net.IP{net.IPv4(127, 0, 0, 1)}, nil
			},
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(connect)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		})
		if err != nil || len(p.Kept) != 1 || len(p.New) != 1 || p.Request != "upload" {
			tb.Fatalf("%+v, %v", p, err)
		}
		for what, r := range map[string]bench.RequestPhases{"first": p.First, "kept": p.Kept[0], "new": p.New[0]} {
			if r.Err != "" || r.Status != 200 || r.Bytes != 10 {
				errs = append(errs, fmt.Errorf("%s: %+v", what, r))
			}
			if sum(r) != r.Total {
				errs = append(errs, fmt.Errorf("%s: the phases are %s together, the total is %s", what, sum(r), r.Total))
			}
			if r.Send < send || r.FirstByte < first || r.Receive < receive {
				errs = append(errs, fmt.Errorf("%s: sent in %s, first byte after %s, received in %s", what, r.Send, r.FirstByte, r.Receive))
			}
			isNew := what != "kept"
			if r.New != isNew || isNew && (r.Name < name || r.Connect < connect || r.TLS < handshake) || !isNew && r.Name+r.Connect+r.TLS != 0 {
				errs = append(errs, fmt.Errorf("%s: new %t, name %s, connect %s, TLS %s", what, r.New, r.Name, r.Connect, r.TLS))
			}
		}
		return errors.Join(errs...)
	})
}
