// Package wire is what the loops share about connections: their target, those kept between steps,
// limits on responses, and the kinds of failure.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// Limits on opening connections and on responses; the contender may be hostile.
const (
	MaxHead    = 1 << 20 // bytes of status line and headers of a response
	MaxExample = 240     // bytes of the text of an example
	MaxSample  = 120     // bytes of the body of an unexpected response in its example
	MaxPacked  = 4 << 10 // bytes of a packed body that is unpacked for its example
	MaxInterim = 8       // 1xx responses before the final one
	Dialers    = 64      // connections that open at the same time before the step
	DialTime   = 3 * time.Second
)

// DefaultTimeout is the default timeout of a request.
const DefaultTimeout = 10 * time.Second

// The contender closed the connection before the end of a response: without one, or within its head
// or its body.
var (
	ErrClosed = fmt.Errorf("the contender closed the connection before the end of the response: %w",
		io.ErrUnexpectedEOF)
	ErrClosedInHead = fmt.Errorf("headers of the response: %w", ErrClosed)
	ErrClosedInBody = BodyError{ErrClosed}
)

// Repeatable reports whether a request with this method may be sent again when its connection, open
// before, ended without a byte of a response. A server may close an idle connection at any time
// (RFC 9112, 9.5), also while a request is on its way, and the client may send an idempotent
// request again (9.3.1; RFC 9110, 9.2.2).
func Repeatable(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

// BackOff returns how long a connection waits after failed attempts in a row to open it.
func BackOff(failures int) time.Duration {
	return min(time.Millisecond<<min(failures-1, 10), 100*time.Millisecond)
}

// BodyError marks an error in the body of a response, after complete headers.
type BodyError struct{ Err error }

// Error returns the message, which names the body.
func (e BodyError) Error() string { return "body of the response: " + e.Err.Error() }

// Unwrap returns the error in the body.
func (e BodyError) Unwrap() error { return e.Err }

// Classify returns the kind of a failed exchange.
func Classify(err error) bench.ErrorKind {
	var timeout net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return bench.ErrTimeout
	case isAny(err, errnoRefused()):
		return bench.ErrRefused
	// Whether a connection that is closed within a body ends or is reset depends on what its server has not read.
	case errors.Is(err, ErrClosedInHead), errors.As(err, new(BodyError)) && (errors.Is(err, io.ErrUnexpectedEOF) || isAny(err, errnoReset())):
		return bench.ErrCut
	case isAny(err, errnoReset()), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed):
		return bench.ErrReset
	case isAny(err, errnoClient()):
		return bench.ErrClient
	case errors.As(err, new(BodyError)):
		return bench.ErrBody
	}
	return bench.ErrOther
}

// Opened reports, from the error of opening a connection, whether it was open: it may have been
// reset since.
func Opened(err error) bool { return err == nil || Classify(err) == bench.ErrReset }

func isAny(err error, list []syscall.Errno) bool {
	return slices.ContainsFunc(list, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// Class returns the kind of error for a response with an unexpected status.
func Class(status int) bench.ErrorKind {
	if class := status / 100; class >= 1 && class <= 5 {
		return [...]bench.ErrorKind{"1xx", "2xx", "3xx", "4xx", "5xx"}[class-1]
	}
	return bench.ErrOther
}

// CutMark is where a text was cut: the beginning of a secret before it is masked.
const CutMark = "…"

// Example returns a text fit for a results file: short valid UTF-8 without control characters.
func Example(s string) string {
	if len(s) > MaxExample {
		s = s[:MaxExample] + CutMark
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// Target is where connections are opened to.
type Target struct {
	Address string      // host:port
	TLS     *tls.Config // nil: no TLS
}

// Scheme returns the scheme of the target's URL.
func (t Target) Scheme() string {
	if t.TLS != nil {
		return "https"
	}
	return "http"
}

// NewTarget returns the target of a base URL that is known to parse. own is used for https; nil
// checks certificates against the system's.
func NewTarget(baseURL string, own *tls.Config, http2 bool) (t Target) {
	base, _ := secret.ParseURL(baseURL)
	port := base.Port()
	if base.Scheme == "https" {
		config := own.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			config.ServerName = base.Hostname()
		}
		config.NextProtos = []string{"http/1.1"}
		if http2 {
			config.NextProtos = nil // net/http adds it
		}
		t.TLS = config
		if port == "" {
			port = "443"
		}
	} else if port == "" {
		port = "80"
	}
	t.Address = net.JoinHostPort(base.Hostname(), port)
	return t
}

// Resolve returns the target's addresses; none if that fails or an address has a zone.
func (t Target) Resolve(ctx context.Context) (all []netip.AddrPort) {
	host, service, err := net.SplitHostPort(t.Address)
	if err != nil {
		return nil
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, ip := range ips {
		if ip.Zone() != "" {
			return nil
		}
		all = append(all, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
	}
	return all
}
