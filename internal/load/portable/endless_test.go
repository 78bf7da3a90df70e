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

// Bodies to check are kept up to workload.MaxChecked, and longer ones are marked.
func TestBodiesToCheckAreBounded(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	req := testenv.Must(http.NewRequest(http.MethodGet, "http://h/", nil))(t)
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
