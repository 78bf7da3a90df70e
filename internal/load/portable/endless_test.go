package portable

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

// endless is a connection that repeats bytes until the timeout, when most of them have been read.
type endless struct {
	begin, piece string
	most         int

	read int
	left string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read >= e.most {
		return 0, os.ErrDeadlineExceeded
	}
	if e.left == "" {
		e.left, e.begin = e.begin, ""
	}
	if e.left == "" {
		e.left = e.piece
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	e.read += n
	return n, nil
}

// Of an endless response, the head is given up after wire.MaxHead, and nothing of the body is kept,
// however much is read until the timeout.
func TestEndlessResponsesAreBounded(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	block := strings.Repeat("x", 16<<10)
	for _, test := range []struct {
		name, begin, piece string
		kind               bench.ErrorKind
		most               int // bytes read before it is given up; 0: until the timeout
	}{
		{"header", ok, "X-Header: " + block + "\r\n", bench.ErrOther, wire.MaxHead},
		{"header line", ok + "X-Header: ", block, bench.ErrOther, wire.MaxHead},
		{"status line", "HTTP/1.1 200 ", block, bench.ErrOther, wire.MaxHead},
		{"interim responses", "", "HTTP/1.1 100 Continue\r\n\r\n", bench.ErrOther, 8 << 10},
		{"chunk line", chunked, "0000000", bench.ErrBody, 16 << 10},
		{"chunk extensions", chunked, "1;" + strings.Repeat("x", 1000) + "\r\ny\r\n", bench.ErrBody, 64 << 10},
		{"trailer", chunked + "0\r\n", "X: y\r\n", bench.ErrBody, 16 << 10},
		{"body", ok + "\r\n", block, bench.ErrTimeout, 0},
		{"body of an error", "HTTP/1.1 500 Oops\r\n\r\n", block, bench.ErrTimeout, 0},
		{"chunks", chunked, "4000\r\n" + block + "\r\n", bench.ErrTimeout, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodGet, "http://h/", nil)
			testenv.OK(t, err)
			const short, long = 4 << 20, 64 << 20
			response := func(most int) (read int) {
				in := &endless{begin: test.begin, piece: test.piece, most: most}
				if _, keep, err := readResponse(in, req, http.StatusOK); err == nil || keep || wire.Classify(err) != test.kind {
					t.Errorf("kept %t, %v", keep, err)
				}
				return in.read
			}
			read := response(long)
			if test.most > 0 {
				if read > test.most+readSize {
					t.Errorf("%d bytes were read, want %d at most and the rest of a buffer", read, test.most)
				}
				return
			}
			if read < long {
				t.Errorf("%d bytes were read before the timeout", read)
			}
			// 16 times as many bytes, in 3,840 more pieces, need no more allocations, apart from a
			// buffer that a collection took out of its pool.
			if a, b := testing.AllocsPerRun(3, func() { response(short) }), testing.AllocsPerRun(3, func() { response(long) }); b > a+10 {
				t.Errorf("%g allocations for %d bytes, %g for %d", a, short, b, long)
			}
		})
	}
}

// Bodies to check are kept up to workload.MaxChecked, and longer ones are marked.
func TestBodiesToCheckAreBounded(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	req, err := http.NewRequest(http.MethodGet, "http://h/", nil)
	testenv.OK(t, err)
	in := &endless{begin: chunked, piece: "4000\r\n" + strings.Repeat("x", 16<<10) + "\r\n", most: 16 * workload.MaxChecked}
	asked := &workload.Request{Method: req.Method, Status: http.StatusOK}
	s := slotOf(in)
	s.keep = true
	var x record.Exchange
	if _, err := s.response(asked, &x); wire.Classify(err) != bench.ErrTimeout || in.read < in.most || len(s.parser.Body) > workload.MaxChecked+1 || !s.parser.Response().Cut {
		t.Errorf("%v after %d bytes, of which %d are kept", err, in.read, len(s.parser.Body))
	}
	s = slotOf(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	s.keep = true
	if keep, err := s.response(asked, &x); !keep || err != nil || string(s.got.Body) != "hello" || s.got.Cut {
		t.Errorf("%t, %v, %q", keep, err, s.parser.Body)
	}
}
