package portable

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/load/http1"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/text/unpack"
)

const readSize = 8 << 10 // bytes of the buffer that a slot reads into

// slot is the place of one connection, which is opened again after it was closed. It serves one
// unit at a time.
type slot struct {
	index     int
	job       workload.Job
	request   *workload.Request // the request in out
	mu        sync.Mutex        // guards conn against Cut
	conn      net.Conn          // nil: not open
	gone      func() bool       // of conn, see watch
	in        []byte
	read      int    // bytes of the response read in this exchange
	out       []byte // the bytes of the request
	url       []byte // of the target
	parser    http1.Parser
	opened    bool // it has been open before
	failures  int  // failed dials in a row
	answered  bool // the first response has arrived
	iterating record.Iterating
	user      workload.User
	links     bool // keep what sets cookies or says where to go next
	keep      bool // keep the response: header, and as much of the body as is checked
	got       workload.Response
	gaveUp    bool // the contender gave up waiting for a request
}

// use gives s an open connection.
func (s *slot) use(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.gone = conn, watch(conn)
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
	p := &s.parser
	p.Reset(r, 0)
	if s.keep {
		p.KeepAll()
	}
	if s.links {
		p.KeepLinks()
	}
	if s.in == nil {
		s.in = make([]byte, readSize)
	}
	var used, n int
	for done := false; !done; {
		var ended error
		n, ended = s.conn.Read(s.in)
		s.read += n
		if n > 0 {
			used, done, err = p.Feed(s.in[:n])
		}
		if !done && err == nil && errors.Is(ended, io.EOF) {
			done, err = p.EOF()
		} else if !done && err == nil {
			err = ended
		}
		if err != nil {
			return false, err
		}
	}
	s.got, s.gaveUp, x.Bytes = p.Response(), p.GaveUp(), p.Bytes
	if !r.Expects(p.Status) && !r.Follows(p.Status) {
		x.Kind, x.Example = wire.Class(p.Status), p.Example()
	}
	// Surplus bytes would make the next response unreadable.
	return !p.Close && used == n, nil
}

// responseHTTP2 takes the whole response to r over HTTP/2, as response does.
func (s *slot) responseHTTP2(resp *http.Response, r *workload.Request, x *record.Exchange) error {
	most := 0
	expected := r.Expects(resp.StatusCode) || r.Follows(resp.StatusCode)
	if s.keep {
		most = workload.MaxChecked
	} else if !expected {
		most = wire.MaxPacked
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)))
	x.Bytes = int64(len(body))
	if err == nil {
		rest, failed := io.Copy(io.Discard, resp.Body)
		x.Bytes, err = x.Bytes+rest, failed
	}
	s.got = workload.Response{Status: resp.StatusCode, Body: body, Cut: x.Bytes > int64(len(body))}
	if s.keep || s.links {
		var head bytes.Buffer
		_ = resp.Header.Write(&head) // writing to memory cannot fail
		s.got.Head = head.Bytes()
	}
	if !expected {
		hint := workload.RedirectHint(resp.StatusCode, []byte(resp.Header.Get("Location")))
		encodings := []byte(strings.Join(resp.Header.Values("Content-Encoding"), ","))
		sample := unpack.Sample(encodings, body[:min(len(body), wire.MaxPacked)], x.Bytes, wire.MaxSample)
		text := resp.Status + " " + hint + sample
		x.Kind, x.Example = wire.Class(resp.StatusCode), wire.Example(strings.TrimSpace(text))
	}
	return err
}
