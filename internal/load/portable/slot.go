package portable

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"

	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// slot is the place of one connection, which is opened again after it was closed.
type slot struct {
	mu       sync.Mutex // guards conn against Cut
	conn     net.Conn   // nil: not open
	limit    *limitedReader
	br       *bufio.Reader
	out      []byte               // the bytes of the request
	status   int                  // status of the response
	sample   [wire.MaxSample]byte // start of the body of an unexpected response
	opened   bool                 // it has been open before
	failures int                  // failed dials in a row
	answered bool                 // the first response has arrived
	user     workload.User
	keep     bool // keep the response: header, and as much of the body as is checked
	header   http.Header
	body     []byte
	gaveUp   bool // the contender gave up waiting for a request
}

// use gives s an open connection.
func (s *slot) use(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = conn
	s.readFrom(conn)
}

// readFrom makes in the source of responses.
func (s *slot) readFrom(in io.Reader) {
	s.limit = &limitedReader{r: in, n: wire.MaxHead}
	if s.br == nil {
		s.br = bufio.NewReader(s.limit)
	} else {
		s.br.Reset(s.limit)
	}
}

func (s *slot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// response reads the response to r over HTTP/1.1. It puts an unexpected status into x; an
// incomplete response is an error.
func (s *slot) response(r *workload.Request, x *record.Exchange) (keep bool, err error) {
	var resp *http.Response
	for i := 0; ; i++ {
		s.limit.n = wire.MaxHead
		resp, err = http.ReadResponse(s.br, r.HTTPRequest)
		if err != nil {
			return false, s.limit.cause(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if i == wire.MaxInterim {
			return false, fmt.Errorf("more than %d interim responses", wire.MaxInterim)
		}
	}
	// A body may have any length: the timeout bounds it, and it is not kept.
	s.limit.n = math.MaxInt64
	s.gaveUp = !r.Expects(resp.StatusCode) && resp.StatusCode == http.StatusRequestTimeout && resp.Close
	if err := s.readBody(resp, r, x); err != nil {
		return false, wire.BodyError{Err: s.limit.cause(err)}
	}
	// Surplus bytes would make the next response unreadable.
	return !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && s.br.Buffered() == 0, nil
}

// readBody reads the whole body of a response. It puts an unexpected status into x.
func (s *slot) readBody(resp *http.Response, r *workload.Request, x *record.Exchange) (err error) {
	n := 0
	s.status, s.header = resp.StatusCode, resp.Header
	switch expected := r.Expects(s.status); {
	case s.keep:
		s.body, err = io.ReadAll(io.LimitReader(resp.Body, workload.MaxChecked+1))
		if n = len(s.body); !expected {
			x.Kind, x.Example = wire.Class(s.status), s.example(resp, s.body)
		}
	case !expected:
		n, err = readFull(resp.Body, s.sample[:])
		x.Kind, x.Example = wire.Class(s.status), s.example(resp, s.sample[:n])
	}
	x.Bytes = int64(n)
	if err == nil {
		rest, failed := io.Copy(io.Discard, resp.Body)
		x.Bytes, err = x.Bytes+rest, failed
	}
	if err == io.EOF {
		err = nil
	}
	return err
}

// example returns the text that represents an unexpected response.
func (s *slot) example(resp *http.Response, body []byte) string {
	return wire.Example(strings.TrimSpace(resp.Status + " " + string(body[:min(len(body), wire.MaxSample)])))
}

// kept returns the response that was kept.
func (s *slot) kept() workload.Response {
	var head bytes.Buffer
	_ = s.header.Write(&head) // writing to memory cannot fail
	a := workload.Response{Status: s.status, Head: head.Bytes(), Body: s.body}
	if a.Cut = len(s.body) > workload.MaxChecked; a.Cut {
		a.Body = s.body[:workload.MaxChecked]
	}
	return a
}

// readFull fills p as far as the body goes. Unlike io.ReadFull it distinguishes the end of the body
// (io.EOF) from a body cut short, which the body reports only once.
func readFull(body io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = body.Read(p[n:])
		n += m
	}
	return n, err
}

// limitedReader fails once n bytes have been read; n is set again for each part of a response. It
// keeps the error that ended reading, as parsers report an early end of the connection as a syntax
// error.
type limitedReader struct {
	r    io.Reader
	n    int64
	read int64 // bytes read in this exchange
	err  error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n <= 0 {
		l.err = fmt.Errorf("headers of the response over %d bytes", wire.MaxHead)
		return 0, l.err
	}
	if int64(len(p)) > l.n {
		p = p[:l.n]
	}
	n, err := l.r.Read(p)
	l.n -= int64(n)
	l.read += int64(n)
	l.err = err
	return n, err
}

// cause returns the error of the connection if there was one, else that of the parser.
func (l *limitedReader) cause(err error) error {
	switch l.err {
	case nil:
		return err
	case io.EOF:
		return wire.ErrClosed
	}
	return l.err
}
