package portable

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readResponse reads one response to req as the loop does.
func readResponse(in io.Reader, req *http.Request, want int) (x record.Exchange, keep bool, err error) {
	keep, err = slotOf(in).response(&workload.Request{Method: req.Method, Status: want}, &x)
	return x, keep, err
}

// slotOf returns a slot that reads responses from in.
func slotOf(in io.Reader) *slot {
	return &slot{conn: source{Reader: in}}
}

// source is a connection that only reads.
type source struct {
	net.Conn
	io.Reader
}

// Read reads from the source.
func (s source) Read(p []byte) (int, error) { return s.Reader.Read(p) }

// A contender may send anything: reading it ends, and succeeds only with the expected status.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 \x1b[31m\r\nContent-Length: 99\r\n\r\nx",
		"HTTP/1.0 200 OK\r\n\r\nhello", "HTTP/1.1 101 S\r\n\r\n", "HTTP/1.1 999 What\r\nContent-Length: -1\r\n\r\n", "SSH-2.0\r\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := http.NewRequest(http.MethodGet, "http://h/", nil)
		testenv.OK(t, err)
		o, _, err := readResponse(bytes.NewReader(data), req, http.StatusOK)
		if err != nil {
			testenv.Check(t, wire.Classify(err) != "", "%v has no kind", err)
			return
		}
		testenv.Check(t, o.Kind != "" || bytes.Contains(data, []byte("200")), "a success without a 200 in %q", data)
		testenv.Check(t, o.Bytes <= int64(len(data)), "%d bytes of %d", o.Bytes, len(data))
		testenv.Check(t, utf8.ValidString(o.Example) && len(o.Example) <= wire.MaxExample+3, "example %q", o.Example)
	})
}
