package portable

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// ReadAnswer reads one answer to req as the loops do, with what they record of it; keep is whether
// the connection could be used again.
func ReadAnswer(in io.Reader, req *http.Request, want int) (x record.Exchange, keep bool, err error) {
	keep, err = slotOf(in).answer(req, want, &x)
	return x, keep, err
}

// slotOf is a slot that reads answers from in.
func slotOf(in io.Reader) *slot {
	limit := &limitedReader{r: in}
	return &slot{limit: limit, br: bufio.NewReader(limit)}
}

// answer reads the answer to req. A status other than want is put into x; an incomplete answer is
// an error.
func (s *slot) answer(req *http.Request, want int, x *record.Exchange) (keep bool, err error) {
	var resp *http.Response
	for i := 0; ; i++ {
		s.limit.n = wire.MaxHead
		resp, err = http.ReadResponse(s.br, req)
		if err != nil {
			return false, s.limit.cause(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if i == wire.MaxInterim {
			return false, fmt.Errorf("more than %d interim answers", wire.MaxInterim)
		}
	}
	// A body may be of any length: the time-out bounds it and nothing of it is kept.
	s.limit.n = math.MaxInt64
	n := 0
	if resp.StatusCode != want {
		n, err = readSome(resp.Body, s.sample[:])
		x.Kind, x.Example = wire.Class(resp.StatusCode), wire.Example(strings.TrimSpace(resp.Status+" "+string(s.sample[:n])))
		s.gaveUp = resp.StatusCode == http.StatusRequestTimeout && resp.Close
	}
	if err == nil && s.body != nil && n == 0 {
		s.body, err = io.ReadAll(io.LimitReader(resp.Body, workload.MaxChecked+1))
		if n = len(s.body); n > workload.MaxChecked {
			s.body = nil
		}
	}
	if err == nil {
		x.Bytes, err = io.Copy(io.Discard, resp.Body)
		x.Bytes += int64(n)
	}
	if err != nil && err != io.EOF {
		return false, wire.BodyError{Err: s.limit.cause(err)}
	}
	// Bytes that nobody asked for make the next answer unreadable.
	return !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && s.br.Buffered() == 0, nil
}

// readSome fills p as far as the body goes. Unlike io.ReadFull it keeps apart the end of the body
// (io.EOF) and its being cut short, which the body tells only once.
func readSome(body io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = body.Read(p[n:])
		n += m
	}
	return n, err
}

// limitedReader fails once n bytes have been read; n is set anew for each part of an answer. It
// keeps the error that ended the reading, since parsers tell a connection that ended too early as
// one mistake or another of syntax.
type limitedReader struct {
	r    io.Reader
	n    int64
	read int64 // of this exchange
	err  error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n <= 0 {
		l.err = fmt.Errorf("headers of the answer over %d bytes", wire.MaxHead)
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

// cause is the error of the connection behind what a parser made of it, or that of the parser.
func (l *limitedReader) cause(err error) error {
	switch l.err {
	case nil:
		return err
	case io.EOF:
		return wire.ErrClosed
	}
	return l.err
}
