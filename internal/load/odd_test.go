package load

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
)

const (
	okHead       = "HTTP/1.1 200 OK\r\n"
	okResponse   = okHead + "Content-Length: 5\r\n\r\nhello"
	lastResponse = okHead + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"
	gaveUp       = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	chunkHead    = okHead + "Transfer-Encoding: chunked\r\n\r\n"
)

// oddRequests is how many requests each odd server gets.
const oddRequests = 8

// odd is a server with rare behavior: what HTTP allows, what it does not, and what is hostile.
type odd struct {
	name   string
	method string   // empty: GET
	body   int      // bytes of the request body
	accept response // what it does before any request; nil: nothing
	serve  response

	// Expected results of oddRequests requests, one after the other, with every loop.

	kind   bench.ErrorKind // of the failed requests
	text   string          // text in the example
	failed int64
	opened int64 // connections the server has seen; 0: depends on timing
}

// odds returns the odd servers of HTTP/1.1. If a server closes a connection without a response, the
// first request is sent twice, as its connection was open before; each has to fail all the same.
func odds() []odd {
	const all, each, once = oddRequests, oddRequests, 1
	const twice = oddRequests + 1
	none, ok, last := says(""), says(okResponse), says(lastResponse)
	block := strings.Repeat("x", 16<<10)
	return []odd{
		// What HTTP allows causes no errors and the fewest possible connections.
		{name: "plain", serve: ok, opened: once},
		{name: "in pieces", serve: inPieces(okResponse), opened: once},
		{name: "chunked in pieces", serve: inPieces(chunkHead + "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n"), opened: once},
		{name: "chunked", serve: says(chunkHead + "5\r\nhello\r\n0\r\n\r\n"), opened: once},
		{
			name:   "interim responses",
			serve:  says(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", wire.MaxInterim) + okResponse),
			opened: once,
		},
		{name: "interim response in pieces", serve: inPieces("HTTP/1.1 100 Continue\r\n\r\n" + okResponse), opened: once},
		{
			name:  "one length twice",
			serve: says(okHead + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), opened: once,
		},
		{name: "announced close", serve: last.ends(closes), opened: each},
		{name: "announced close that does not come", serve: last, opened: each},
		{name: "announced close, half", serve: last.ends(halfCloses), opened: each},
		{name: "HTTP/1.0 until the end", serve: says("HTTP/1.0 200 OK\r\n\r\nhello").ends(closes), opened: each},
		{
			name:  "HTTP/1.0 with a length",
			serve: says("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), opened: each,
		},
		{
			name:  "HTTP/1.0 that stays",
			serve: says("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello"), opened: once,
		},
		{name: "until the end", serve: says(okHead + "\r\nhello").ends(closes), opened: each},
		{name: "until half an end", serve: says(okHead + "\r\nhello").ends(halfCloses), opened: each},
		{name: "silent close", serve: ok.ends(closes), opened: each},
		{name: "silent reset", serve: ok.ends(resets), opened: each},
		{name: "silent half close", serve: ok.ends(halfCloses), opened: each},
		{name: "surplus bytes", serve: says(okResponse + "surplus"), opened: each},
		{name: "close instead of the second response", serve: ok.then(none.ends(closes)), opened: each},
		{name: "reset instead of the second response", serve: ok.then(none.ends(resets)), opened: each},
		{name: "half close instead of the second response", serve: ok.then(none.ends(halfCloses)), opened: each},
		{name: "408 instead of the second response", serve: ok.then(says(gaveUp).ends(closes)), opened: each},
		{
			name: "close instead of the second response, PUT", method: "PUT", body: 10,
			serve: ok.then(none.ends(closes)), opened: each,
		},
		{
			name: "408 instead of the second response, POST", method: "POST",
			serve: ok.then(says(gaveUp).ends(closes)), opened: each,
		},
		{
			name: "response before a long request is read", method: "POST", body: 8 << 20,
			serve: ok.ends(leaves), opened: each,
		},

		// What the server may have done is not repeated.
		{
			name: "close instead of the second response, POST", method: "POST", serve: ok.then(none.ends(closes)),
			kind: bench.ErrReset, failed: all / 2, opened: each / 2,
		},
		{
			name: "interim response and close", serve: says("HTTP/1.1 103 Early Hints\r\n\r\n").ends(closes),
			kind: bench.ErrReset, failed: all, opened: each,
		},

		// Errors, each of its kind.
		{
			name: "close at once", accept: none.ends(closes), serve: none,
			kind: bench.ErrReset, failed: all, opened: twice,
		},
		{
			name: "reset at once", accept: none.ends(resets), serve: none,
			kind: bench.ErrReset, failed: all, opened: twice,
		},
		{
			name: "no response", serve: none.ends(closes),
			kind: bench.ErrReset, text: "before the end of the response", failed: all, opened: twice,
		},
		{
			name: "no response, half close", serve: none.ends(halfCloses),
			kind: bench.ErrReset, failed: all, opened: twice,
		},
		{name: "no response, reset", serve: none.ends(resets), kind: bench.ErrReset, failed: all, opened: twice},
		{
			name: "no response, POST", method: "POST", serve: none.ends(closes),
			kind: bench.ErrReset, failed: all, opened: each,
		},
		{
			name: "408", serve: says(gaveUp).ends(closes),
			kind: "4xx", text: "408 Request Timeout", failed: all, opened: twice,
		},
		{
			name:  "408 that is a response",
			serve: says("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"),
			kind:  "4xx", failed: all, opened: once,
		},
		{
			name: "413 before a long request is read", method: "POST", body: 8 << 20,
			serve: says("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").ends(halfCloses),
			kind:  "4xx", failed: all, opened: each,
		},
		{
			name: "half a status line", serve: says("HTTP/1.").ends(closes),
			kind: bench.ErrReset, text: "closed the connection", failed: all, opened: each,
		},
		{
			name: "half a head", serve: says(okHead + "Content-").ends(closes),
			kind: bench.ErrReset, text: "before the end of the response", failed: all, opened: each,
		},
		{
			name: "half a body", serve: says(okHead + "Content-Length: 9\r\n\r\nhello").ends(closes),
			kind: bench.ErrReset, text: "body of the response", failed: all, opened: each,
		},
		{
			name:  "half a body, half close",
			serve: says(okHead + "Content-Length: 9\r\n\r\nhello").ends(halfCloses),
			kind:  bench.ErrReset, failed: all, opened: each,
		},
		{
			name:  "half a body of an error",
			serve: says("HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nhello").ends(closes),
			kind:  bench.ErrReset, text: "body of the response", failed: all, opened: each,
		},
		{
			name: "half a chunk", serve: says(chunkHead + "5\r\nhel").ends(closes),
			kind: bench.ErrReset, text: "body of the response", failed: all, opened: each,
		},
		{name: "reset in the status line", serve: says("HTTP/1.1 2").ends(soon), kind: bench.ErrReset, failed: all},
		{name: "reset in a header", serve: says(okHead + "Content-Le").ends(soon), kind: bench.ErrReset, failed: all},
		{
			name: "reset in the body", serve: says(okHead + "Content-Length: 10\r\n\r\nhello").ends(soon),
			kind: bench.ErrReset, failed: all,
		},
		{name: "reset in a chunk", serve: says(chunkHead + "5\r\nhe").ends(soon), kind: bench.ErrReset, failed: all},
		{
			name: "reset instead of the end", serve: says(okHead + "\r\nhello").ends(soon),
			kind: bench.ErrReset, failed: all,
		},
		{
			name: "no chunk", serve: says(chunkHead + "hello\r\n").ends(closes),
			kind: bench.ErrBody, text: "chunk", failed: all, opened: each,
		},
		{
			name: "two lengths", serve: says(okHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
			kind: bench.ErrOther, failed: all, opened: each,
		},
		{
			name: "status 999", serve: says("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n"),
			kind: bench.ErrOther, text: "999", failed: all, opened: once,
		},
		{
			name:  "switching protocols",
			serve: says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
			kind:  "1xx", text: "101", failed: all, opened: each,
		},
		{
			name: "not HTTP", serve: says("SSH-2.0-OpenSSH_9.2\r\n").ends(closes),
			kind: bench.ErrOther, text: "malformed", failed: all, opened: each,
		},
		{
			name: "garbage", serve: endless("\x00\xff\x16\x03\x01", "\x00\n\xff", 0),
			kind: bench.ErrOther, failed: all, opened: each,
		},
		{
			name:  "one interim response too many",
			serve: endless(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", wire.MaxInterim+1), "", 0),
			kind:  bench.ErrOther, text: "interim", failed: all, opened: each,
		},
		{
			name: "endless header", serve: endless(okHead, "X-Header: "+block+"\r\n", 0),
			kind: bench.ErrOther, text: "headers of the response over", failed: all, opened: each,
		},
		{
			name: "endless header line", serve: endless(okHead+"X-Header: ", block, 0),
			kind: bench.ErrOther, text: "headers of the response over", failed: all, opened: each,
		},
		{name: "endless body", serve: endless(okHead+"\r\n", block, 0), kind: bench.ErrTimeout, failed: all},
		{
			name: "endless chunks", serve: endless(chunkHead, "4000\r\n"+block+"\r\n", 0),
			kind: bench.ErrTimeout, failed: all,
		},
		{
			name: "slow drip of a header", serve: endless(okHead, "X: y\r\n", 10*time.Millisecond),
			kind: bench.ErrTimeout, failed: all,
		},
		{
			name:  "slow drip of a body",
			serve: endless(okHead+"Content-Length: 100000\r\n\r\n", "x", 10*time.Millisecond),
			kind:  bench.ErrTimeout, failed: all,
		},
		{name: "silence", serve: endless("", "", 0), kind: bench.ErrTimeout, failed: all},
	}
}

// Every loop sees the same in an odd server: as many requests, failures of each kind, and
// connections.
func TestOddServers(t *testing.T) {
	secure := httptest.NewTLSServer(nil)
	t.Cleanup(secure.Close)
	trusted := Engine{TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig}
	for _, o := range odds() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			for _, open := range []bool{false, true} {
				all := slices.Concat(loops(), []driver{{bench.LoopVegeta + " TLS", trusted}})
				name := "closed"
				if open {
					name, all = "open", all[1:] // without io_uring
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					eachOf(t, all, func(t *testing.T, e Engine) {
						t.Parallel()
						var config *tls.Config
						if e.TLS != nil {
							config = secure.TLS
						}
						o.meets(t, e, config, open)
					})
				})
			}
		})
	}
}

// meets puts load on the server and checks the results.
func (o odd) meets(t *testing.T, e Engine, config *tls.Config, open bool) {
	server, requests := newOdd(t, o, config), int64(oddRequests)
	if o.kind == bench.ErrTimeout {
		requests, o.failed = 2, 2
	}
	p := counted(server.url, 1, requests)
	if open { // a user, whose connection is opened with its first request
		p.Step.Connections, p.Step.MaxRequests = 0, 0
		p.Step.Arrivals = &bench.Arrivals{Users: 1, Requests: int(requests), Over: time.Millisecond}
		if o.opened > oddRequests {
			o.opened = oddRequests
		}
	}
	p.Requests[0].Method, p.Requests[0].Body = o.method, strings.Repeat("x", o.body)
	if o.kind == bench.ErrTimeout {
		p.Timeout = 100 * time.Millisecond
	}
	l := run(t, e, p)
	succeeded := requests - o.failed
	if l.Sent != requests || l.Succeeded != succeeded || l.Failed[o.kind] != o.failed || l.FailedTotal() != o.failed {
		t.Errorf("%d sent, %d succeeded, failed %v %v; want %d of kind %q",
			l.Sent, l.Succeeded, l.Failed, l.Examples, o.failed, o.kind)
	}
	if text := l.Examples[o.kind]; !strings.Contains(text, o.text) || len(text) > wire.MaxExample+8 {
		t.Errorf("example %q", text)
	}
	if o.opened == 0 {
		return
	}
	server.sees(t, o.opened)
	if again := o.opened - 1; l.Succeeded > 0 && reopened(l) != again {
		t.Errorf("%q, want %d opened again", l.Warnings, again)
	}
}

// reopened returns how many connections were opened again, by the warnings.
func reopened(l bench.Load) (n int64) {
	for _, w := range l.Warnings {
		if w.Kind == bench.WarnReopened {
			n += int64(w.Values["times"])
		}
	}
	return n
}

// With many connections, whatever happens to all or no requests is the same.
func TestOddServersWithManyConnections(t *testing.T) {
	const many = 4 * 6 // requests
	for _, o := range odds() {
		if o.failed != 0 && o.failed != oddRequests || o.kind == bench.ErrTimeout || o.body > 1<<20 {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			meets := func(t *testing.T, e Engine, p Plan, run func(testing.TB, Engine, Plan) bench.Load) {
				t.Parallel()
				e.Shards = 2
				p.Requests[0].Method, p.Requests[0].Body = o.method, strings.Repeat("x", o.body)
				l := run(t, e, p)
				want := l.Sent * o.failed / oddRequests
				if l.Scheduled != many || l.FailedTotal() != want || l.Failed[o.kind] != want {
					t.Errorf("of %d failed %v %v, want %d of kind %q", l.Sent, l.Failed, l.Examples, want, o.kind)
				}
			}
			t.Run("closed", func(t *testing.T) {
				eachLoop(t, func(t *testing.T, e Engine) {
					meets(t, e, counted(newOdd(t, o, nil).url, 6, many), run)
				})
			})
			t.Run("open", func(t *testing.T) { // what is still queued when the last one is scheduled is dropped
				eachOpenLoop(t, func(t *testing.T, e Engine) {
					meets(t, e, openCounted(newOdd(t, o, nil).url, 500, 4, many), runOpen)
				})
			})
		})
	}
}
