package portable

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

// A connection whose request was not read to its end is closed at once, with TLS too.
func TestExchangeLong_CutIsClosedAtOnce(t *testing.T) {
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go func() {
			server := tls.Server(there, certified.TLS)
			_, _ = io.CopyN(io.Discard, server, 1024)
			_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}()
		began := time.Now()
		s := &slot{}
		s.out = bytes.Repeat([]byte("x"), 8<<20)
		s.use(tls.Client(here, &tls.Config{InsecureSkipVerify: true}))
		keep, err := s.exchangeLong(&workload.Request{Status: http.StatusOK}, &record.Exchange{})
		s.close()
		testenv.OK(t, err)
		testenv.Equal(t, keep, false, "the connection is kept")
		testenv.Equal(t, time.Since(began), 0, "it took")
	})
}
