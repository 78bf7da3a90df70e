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

	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// http2Conn is a connection that speaks HTTP/2: after TLS where the contender wants that, else from
// the first byte (RFC 9113, 3.3). One request at a time is on it, as with HTTP/1.1, so a
// number of connections means the same with both.
type http2Conn struct {
	net.Conn // below TLS
	client   *http.ClientConn
}

// Close ends the connection and everything on it.
func (c *http2Conn) Close() error {
	err := c.client.Close()
	c.Conn.Close() // it is closed already where the client has begun to speak
	return err
}

// usable says whether an idle connection still takes a request.
func (c *http2Conn) usable() bool { return c.client.Err() == nil && c.client.Available() > 0 }

// connect2 opens a connection. net/http speaks on it, but neither pools it nor repeats a request
// unnoticed: those are the doing of its transport, which only makes the
// connection here.
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

// exchange2 returns the way of a request whose bytes are in s.out, and of its response, over HTTP/2.
func (l *Loop) exchangeHTTP2(
	ctx context.Context, s *slot, r *workload.Request, x *record.Exchange, deadline time.Time,
) (keep bool, err error) {
	conn := s.conn.(*http2Conn)
	// The same bytes as on a connection of HTTP/1.1, so both ask the same.
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
	s.limit.read++
	if err := s.readBody(resp, r, x); err != nil {
		return false, wire.BodyError{Err: s.http2Cause(err)}
	}
	return conn.usable(), nil
}

// errNotTaken is of requests that the contender has not got, or has not begun with: they may be sent
// once more, whatever they ask.
var errNotTaken = fmt.Errorf("the contender has not taken the request: %w", wire.ErrClosed)

// causes2 are the errors of HTTP/2 by their words, the first ones first, as net/http does not export
// them; nil is one that is a response.
var http2Causes = []struct {
	words string
	is    error
}{
	{"server sent GOAWAY and closed", wire.ErrClosed},
	{"Transport received", errNotTaken}, // GOAWAY, which leaves this stream out
	{"REFUSED_STREAM", errNotTaken},
	{"client conn not usable", errNotTaken},
	{"client conn could not be established", errNotTaken},
	{"client connection lost", wire.ErrClosed},
	{"client connection force closed", wire.ErrClosed},
	{"client conn is closed", wire.ErrClosed},
	{"stream error: ", nil},
	{"connection error: ", nil},
}

// cause2 makes of what ended a stream what wire.Classify and mayRepeat know.
func (s *slot) http2Cause(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	for _, c := range http2Causes {
		if !strings.Contains(err.Error(), c.words) {
			continue
		}
		if c.is == nil {
			s.limit.read++
			c.is = wire.ErrClosed
		}
		return fmt.Errorf("%s: %w", wire.Example(err.Error()), c.is)
	}
	return err
}
