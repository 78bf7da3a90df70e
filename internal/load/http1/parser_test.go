package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

// outcome is what a parser makes of a stream of bytes after which the connection ends.
type outcome struct {
	failed  bool
	status  bool // it is the expected one, 200
	bytes   int64
	keep    bool // the connection could be used again
	refused error
}

// byHTTP returns the outcome of net/http.
func byHTTP(data []byte, method string) outcome {
	in := bufio.NewReader(bytes.NewReader(data))
	for range wire.MaxInterim + 1 {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return outcome{failed: true, refused: err}
		}
		if resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil {
			return outcome{failed: true, refused: err}
		}
		keep := !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols && in.Buffered() == 0
		return outcome{status: resp.StatusCode == http.StatusOK, bytes: n, keep: keep}
	}
	return outcome{failed: true, refused: errInterim}
}

// byParser returns the outcome of the parser for data that arrives in pieces of the lengths in cut.
func byParser(data []byte, method string, cut func(left int) int) outcome {
	var p Parser
	p.Reset(&workload.Request{IsHead: method == http.MethodHead, Status: http.StatusOK}, 0)
	done, surplus := false, false
	var err error
	for left := data; len(left) > 0 && !done && err == nil; {
		piece := left[:cut(len(left))]
		var n int
		n, done, err = p.Feed(piece)
		left = left[len(piece):]
		// Later bytes are noticed when the connection is used next.
		surplus = n < len(piece) || len(left) > 0
	}
	if !done && err == nil {
		_, err = p.EOF()
	}
	if err != nil {
		return outcome{failed: true, refused: err}
	}
	return outcome{status: p.Status == http.StatusOK, bytes: p.Bytes, keep: !p.Close && !surplus}
}

// saferRefusals are responses that net/http accepts and the parser does not: two readers of one
// stream could see different responses in them.
func saferRefusal(err error) bool {
	for _, known := range []error{
		errVersion,     // HTTP/2.0 and others on a connection that speaks HTTP/1.x
		errStatusCode,  // "+20"
		errContinued,   // lines that continue the header before (obs-fold)
		errHeader,      // a blank before the colon
		errTrailer,     // bare LF, folded lines and blanks before the colon in a trailer
		errTrailerLong, // from 2 kB instead of from 4 kB
		errLength,      // over 200 digits
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// compare checks that the parser and net/http agree, however the stream is cut.
func compare(t *testing.T, data []byte, method string) {
	t.Helper()
	want := byHTTP(data, method)
	check := func(how string, got outcome) {
		t.Helper()
		switch {
		case got.failed && want.failed, got.failed && saferRefusal(got.refused):
		case got.failed != want.failed:
			t.Fatalf("%s %q, %s: parser %+v, net/http %+v", method, data, how, got, want)
		case got.status != want.status || got.status && got.bytes != want.bytes || got.keep != want.keep:
			t.Fatalf("%s %q, %s: parser %+v, net/http %+v", method, data, how, got, want)
		}
	}
	whole := byParser(data, method, func(left int) int { return left })
	check("whole", whole)
	if got := byParser(data, method, func(int) int { return 1 }); got.failed != whole.failed || got.status != whole.status || got.bytes != whole.bytes {
		t.Fatalf("%s %q: whole %+v, byte by byte %+v", method, data, whole, got)
	}
	if len(data) > 2000 {
		return
	}
	for at := 1; at < len(data); at++ {
		first := true
		got := byParser(data, method, func(left int) int {
			if first {
				first = false
				return at
			}
			return left
		})
		check(fmt.Sprint("cut at ", at), got)
	}
}

var responses = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length:\t5 \r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 05\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello surplus",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n5 ;x=y\r\nhello\r\n1;z\r\n!\r\n000\r\nA: b\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\n\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\n\r\n",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nab",
	"HTTP/1.0 200 OK\r\n\r\nhello",
	"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive, x\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\n\r\nhello until the end",
	"HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 8) + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 9) + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nwhatever",
	"HTTP/1.1 503 Oops\r\nContent-Length: 5\r\n\r\nsorry",
	"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 \nContent-Length: 2\n\nab",
	"HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1\t200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 042 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n A: b\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n", "HTTP/1.1 200 OK\r\nA: long enough \x7f and on\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: \xff\xfe ok and more\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\xe4: b\r\n\r\n", "SSH-2.0\r\n", "",
}

func TestResponseParser(t *testing.T) {
	for _, data := range responses {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			compare(t, []byte(data), method)
		}
	}
}

// The parser and net/http agree on any stream, however it is cut; or the parser refuses it for a
// listed reason.
func FuzzResponseParser(f *testing.F) {
	for _, data := range responses {
		f.Add([]byte(data), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, head bool) {
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		compare(t, data, method)
	})
}

// The parser keeps a bounded part of a response, whatever it is and however it arrives.
func TestResponseParserIsBounded(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for name, test := range map[string]struct {
		begin, repeated string
		kind            bench.ErrorKind
		most            int // bytes after which it is given up
	}{
		"endless line":         {ok, "xxxxxxxx", bench.ErrOther, wire.MaxHead},
		"endless headers":      {ok, "X: y\r\n", bench.ErrOther, wire.MaxHead},
		"endless status line":  {"HTTP/1.1 200 ", "xxxxxxxx", bench.ErrOther, wire.MaxHead},
		"endless interims":     {"", "HTTP/1.1 100 Continue\r\n\r\n", bench.ErrOther, 1 << 10},
		"endless chunk line":   {chunked, "0000000", bench.ErrBody, 16 << 10},
		"endless extensions":   {chunked, "1;" + strings.Repeat("x", 1000) + "\r\ny\r\n", bench.ErrBody, 64 << 10},
		"endless trailer":      {chunked + "0\r\n", "X: y\r\n", bench.ErrBody, 16 << 10},
		"endless trailer line": {chunked + "0\r\n", "xxxxxxx", bench.ErrBody, 16 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 4096} {
				var p Parser
				p.Reset(&workload.Request{Status: http.StatusOK}, 0)
				var err error
				stream := []byte(test.begin)
				fed := 0
				for err == nil && fed < 3<<20 {
					for len(stream) < size {
						stream = append(stream, test.repeated...)
					}
					_, _, err = p.Feed(stream[:size])
					fed += size
					stream = stream[size:]
				}
				testenv.Check(t, err != nil && wire.Classify(err) == test.kind && fed <= test.most+size,
					"%s in pieces of %d: %v after %d bytes", name, size, err, fed)
				testenv.Check(t, cap(p.line) <= 2<<20, "%s in pieces of %d: %d bytes kept", name, size, cap(p.line))
			}
		})
	}
	// A body may have any length, and is not kept.
	var p Parser
	p.Reset(&workload.Request{Status: http.StatusOK}, 0)
	p.Feed([]byte(ok + "\r\n"))
	piece := make([]byte, 1<<16)
	for range 1000 {
		n, done, err := p.Feed(piece)
		testenv.Need(t, n == len(piece) && !done && err == nil, "%v %v %v", n, done, err)
	}
	testenv.Check(t, p.Bytes == 1000<<16 && cap(p.line) == 0, "%d bytes, %d kept", p.Bytes, cap(p.line))
}

func TestResponseParserDoesNotAllocate(t *testing.T) {
	for _, data := range responses[:1] {
		var p Parser
		whole, asked := []byte(data), &workload.Request{Status: http.StatusOK}
		if n := testing.AllocsPerRun(100, func() {
			p.Reset(asked, 0)
			if _, done, err := p.Feed(whole); !done || err != nil { // Need would allocate
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%q: %g allocations", data, n)
		}
	}
}

// The lines that set cookies or say where to go next are kept without the others and the body, in
// pieces too, and not those of an interim response.
func TestLinksAreKept(t *testing.T) {
	const response = "HTTP/1.1 103 Early Hints\r\nLocation: /early\r\n\r\nHTTP/1.1 302 Found\r\nDate: x\r\nlocation:  /a \r\nSET-COOKIE: a=1\r\n" +
		"Connection: keep-alive\r\nSet-Cookie: b=2; Path=/\nContent-Length: 2\r\n\r\nok"
	const want = "location:  /a \r\nSET-COOKIE: a=1\r\nSet-Cookie: b=2; Path=/\r\n"
	for _, size := range []int{1, 7, len(response)} {
		for _, links := range []bool{true, false} {
			var p Parser
			p.Reset(&workload.Request{Status: http.StatusFound}, 0)
			if links {
				p.KeepLinks()
			}
			for left := []byte(response); len(left) > 0; left = left[min(size, len(left)):] {
				_, _, err := p.Feed(left[:min(size, len(left))])
				testenv.Need(t, err == nil, "%v", err)
			}
			if got := p.Response(); links != p.Kept() || links && string(got.Head) != want || !links && len(got.Head) > 0 || len(got.Body) > 0 {
				t.Errorf("pieces of %d, links %t: kept %q and %q", size, links, got.Head, got.Body)
			}
		}
	}
}
