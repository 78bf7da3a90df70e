package portable

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// http2Conn is a connection that speaks HTTP/2: after TLS if the contender uses it, else from the
// first byte (RFC 9113, 3.3). It carries one request at a time, as with HTTP/1.1, so a number of
// connections means the same with both.
type http2Conn struct {
	net.Conn // the connection under TLS
	client   *http.ClientConn
}

// Close ends the connection and everything on it.
func (c *http2Conn) Close() error {
	err := c.client.Close()
	c.Conn.Close() // an error only if the client has closed it
	return err
}

// usable reports whether an idle connection still takes a request.
func (c *http2Conn) usable() bool { return c.client.Err() == nil && c.client.Available() > 0 }

// connectHTTP2 opens a connection. net/http's transport only makes it here; it would pool
// connections and repeat requests.
func (l *Loop) connectHTTP2(ctx context.Context) (net.Conn, error) {
	var underTLS net.Conn
	maker := &http.Transport{
		DisableCompression: true, MaxResponseHeaderBytes: wire.MaxHead, TLSClientConfig: l.conf.Target.TLS.Clone(),
		Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := l.dial(ctx, network, address)
			underTLS = conn
			return conn, err
		},
	}
	if l.conf.Target.TLS != nil {
		maker.Protocols.SetHTTP2(true)
	} else {
		maker.Protocols.SetUnencryptedHTTP2(true)
	}
	client, err := maker.NewClientConn(ctx, l.conf.Target.Scheme(), l.conf.Target.Address)
	if err != nil {
		return nil, err
	}
	return &http2Conn{underTLS, client}, nil
}

// exchangeHTTP2 sends the request in s.out and reads its response over HTTP/2.
func (l *Loop) exchangeHTTP2(
	ctx context.Context, s *slot, r *workload.Request, x *record.Exchange, deadline time.Time,
) (keep bool, err error) {
	conn := s.conn.(*http2Conn)
	// The bytes are those of HTTP/1.1, so both protocols send the same request.
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(s.out)))
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	req = req.WithContext(ctx)
	req.RequestURI, req.URL.Host, req.URL.Scheme = "", l.conf.Target.Address, l.conf.Target.Scheme()
	resp, err := conn.client.RoundTrip(req)
	if err != nil {
		return false, s.http2Cause(err)
	}
	defer resp.Body.Close()
	s.read++
	if err := s.responseHTTP2(resp, r, x); err != nil {
		return false, wire.BodyError{Err: s.http2Cause(err)}
	}
	return conn.usable(), nil
}

// errNotTaken marks requests that the contender did not get or did not start: they may be sent once
// more, whatever their method.
var errNotTaken = fmt.Errorf("the contender did not take the request: %w", wire.ErrClosed)

// streamError receives net/http's error of one stream by errors.As; field names must match.
type streamError struct {
	StreamID, Code uint32
	Cause          error
}

func (e streamError) Error() string { return fmt.Sprintf("stream error: %d", e.Code) }

const codeRefusedStream = 7 // RFC 9113, 7

// http2Causes recognizes the errors of a connection by their words, in this order: net/http exports
// neither their types nor their values. A nil error means that the contender responded.
var http2Causes = []struct {
	words string
	err   error
}{
	{"server sent GOAWAY and closed", wire.ErrClosed},
	{"Transport received", errNotTaken}, // GOAWAY without this stream
	{"client conn not usable", errNotTaken},
	{"client conn could not be established", errNotTaken},
	{"client connection lost", wire.ErrClosed},
	{"client connection force closed", wire.ErrClosed},
	{"client conn is closed", wire.ErrClosed},
	{"connection error: ", nil},
}

// http2Cause maps the error that ended a stream to one that wire.Classify and mayRepeat know.
func (s *slot) http2Cause(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	var cause error
	if stream, ok := errors.AsType[streamError](err); ok && stream.Code == codeRefusedStream {
		cause = errNotTaken
	} else if !ok {
		i := 0
		for i < len(http2Causes) && !strings.Contains(err.Error(), http2Causes[i].words) {
			i++
		}
		if i == len(http2Causes) {
			return err
		}
		cause = http2Causes[i].err
	}
	if cause == nil {
		s.read++
		cause = wire.ErrClosed
	}
	return fmt.Errorf("%s: %w", wire.Example(err.Error()), cause)
}
