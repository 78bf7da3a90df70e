package load

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/testenv"
)

const (
	okHead       = "HTTP/1.1 200 OK\r\n"
	okResponse   = okHead + "Content-Length: 5\r\n\r\nhello"
	lastResponse = okHead + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"
	gaveUp       = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	earlyHints   = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
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
	again  int64 // requests sent again; -1: depends on timing
}

// repeated returns o with a number of requests that are sent again.
func (o odd) repeated(n int64) odd {
	o.again = n
	return o
}

// by returns o for requests with another method and a body of a number of bytes.
func (o odd) by(method string, body int) odd {
	o.method, o.body = method, body
	return o
}

// odds returns the odd servers of HTTP/1.1. If a server closes a connection without a response, the
// first request is sent twice, as its connection was open before; each has to fail all the same.
func odds() []odd {
	const all, each, once, timed = oddRequests, oddRequests, 1, 0
	const twice = oddRequests + 1
	none, ok, last := says(""), says(okResponse), says(lastResponse)
	block := strings.Repeat("x", 16<<10)
	works := func(name string, opened int64, serve response) odd {
		return odd{name: name, serve: serve, opened: opened}
	}
	fails := func(name string, kind bench.ErrorKind, text string, opened int64, serve response) odd {
		return odd{name: name, serve: serve, kind: kind, text: text, failed: all, opened: opened}
	}
	lost := func(name, text string, opened int64, serve response) odd {
		return fails(name, bench.ErrReset, text, opened, serve)
	}
	cut := func(name, text string, opened int64, serve response) odd {
		return fails(name, bench.ErrCut, text, opened, serve)
	}
	atOnce := func(name string, accept response) odd {
		return odd{name: name, accept: accept, serve: none, kind: bench.ErrReset, failed: all, opened: twice, again: -1}
	}
	const notAll, ofBody = "before the end of the response", "body of the response"
	const ofHeaders = "headers of the response over"
	return []odd{
		// What HTTP allows causes no errors and the fewest possible connections.
		works("plain", once, ok),
		works("in pieces", once, inPieces(okResponse)),
		works("chunked in pieces", once, inPieces(chunkHead+"5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n")),
		works("chunked", once, says(chunkHead+"5\r\nhello\r\n0\r\n\r\n")),
		works("interim responses", once, says(strings.Repeat(earlyHints, wire.MaxInterim)+okResponse)),
		works("interim response in pieces", once, inPieces("HTTP/1.1 100 Continue\r\n\r\n"+okResponse)),
		works("one length twice", once, says(okHead+"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello")),
		works("announced close", each, last.ends(closes)),
		works("announced close that does not come", each, last),
		works("announced close, half", each, last.ends(halfCloses)),
		works("HTTP/1.0 until the end", each, says("HTTP/1.0 200 OK\r\n\r\nhello").ends(closes)),
		works("HTTP/1.0 with a length", each, says("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")),
		works("HTTP/1.0 that stays", once,
			says("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello")),
		works("until the end", each, says(okHead+"\r\nhello").ends(closes)),
		works("until half an end", each, says(okHead+"\r\nhello").ends(halfCloses)),
		works("silent close", each, ok.ends(closes)).repeated(-1),
		works("silent reset", each, ok.ends(resets)).repeated(-1),
		works("silent half close", each, ok.ends(halfCloses)).repeated(-1),
		works("surplus bytes", each, says(okResponse+"surplus")).repeated(-1),
		works("close instead of the second response", each, ok.then(none.ends(closes))).repeated(each - 1),
		works("reset instead of the second response", each, ok.then(none.ends(resets))).repeated(each - 1),
		works("half close instead of the second response", each, ok.then(none.ends(halfCloses))).repeated(each - 1),
		works("408 instead of the second response", each, ok.then(says(gaveUp).ends(closes))).repeated(each - 1),
		works("close instead of the second response, PUT", each, ok.then(none.ends(closes))).by("PUT", 10).repeated(each - 1),
		works("408 instead of the second response, POST", each, ok.then(says(gaveUp).ends(closes))).by("POST", 0).repeated(each - 1),
		works("response before a long request is read", each, ok.ends(leaves)).by("POST", 8<<20),

		// What the server may have done is not repeated.
		{
			name: "close instead of the second response, POST", method: "POST", serve: ok.then(none.ends(closes)),
			kind: bench.ErrReset, failed: all / 2, opened: each / 2,
		},
		{
			name: "close instead of the second response, PURGE", method: "PURGE", serve: ok.then(none.ends(closes)),
			kind: bench.ErrReset, failed: all / 2, opened: each / 2,
		},
		lost("interim response and close", "", each, says(earlyHints).ends(closes)),

		// Errors, each of its kind.
		atOnce("close at once", none.ends(closes)),
		atOnce("reset at once", none.ends(resets)),
		lost("no response", notAll, twice, none.ends(closes)).repeated(1),
		lost("no response, half close", "", twice, none.ends(halfCloses)).repeated(1),
		lost("no response, reset", "", twice, none.ends(resets)).repeated(1),
		lost("no response, POST", "", each, none.ends(closes)).by("POST", 0),
		fails("408", "4xx", "408 Request Timeout", twice, says(gaveUp).ends(closes)).repeated(1),
		fails("408 that is a response", "4xx", "", once,
			says("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")),
		fails("413 before a long request is read", "4xx", "", each,
			says("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").ends(halfCloses),
		).by("POST", 8<<20),
		cut("half a status line", "closed the connection", each, says("HTTP/1.").ends(closes)),
		cut("half a head", notAll, each, says(okHead+"Content-").ends(closes)),
		cut("half a body", ofBody, each, says(okHead+"Content-Length: 9\r\n\r\nhello").ends(closes)),
		cut("half a body, truncated", ofBody, each, says(okHead+"Content-Length: 9\r\n\r\nhello").ends(truncates)),
		cut("half a body, half close", "", each, says(okHead+"Content-Length: 9\r\n\r\nhello").ends(halfCloses)),
		cut("half a body of an error", ofBody, each,
			says("HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nhello").ends(closes)),
		cut("half a chunk", ofBody, each, says(chunkHead+"5\r\nhel").ends(closes)),
		lost("reset in the status line", "", timed, says("HTTP/1.1 2").ends(soon)),
		lost("reset in the body", "", timed, says(okHead+"Content-Length: 10\r\n\r\nhello").ends(soon)),
		lost("reset instead of the end", "", timed, says(okHead+"\r\nhello").ends(soon)),
		fails("no chunk", bench.ErrBody, "chunk", each, says(chunkHead+"hello\r\n").ends(closes)),
		fails("two lengths", bench.ErrOther, "", each,
			says(okHead+"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello")),
		fails("status 999", bench.ErrOther, "999", once, says("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n")),
		fails("switching protocols", "1xx", "101", each,
			says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")),
		fails("not HTTP", bench.ErrOther, "malformed", each, says("SSH-2.0-OpenSSH_9.2\r\n").ends(closes)),
		fails("garbage", bench.ErrOther, "", each, endless("\x00\xff\x16\x03\x01", "\x00\n\xff", 0)),
		fails("one interim response too many", bench.ErrOther, "interim", each,
			endless(strings.Repeat(earlyHints, wire.MaxInterim+1), "", 0)),
		fails("endless header", bench.ErrOther, ofHeaders, each, endless(okHead, "X-Header: "+block+"\r\n", 0)),
		fails("endless header line", bench.ErrOther, ofHeaders, each, endless(okHead+"X-Header: ", block, 0)),
		fails("endless body", bench.ErrTimeout, "", timed, endless(okHead+"\r\n", block, 0)),
		fails("slow drip of a body", bench.ErrTimeout, "", timed,
			endless(okHead+"Content-Length: 100000\r\n\r\n", "x", 10*time.Millisecond)),
		fails("silence", bench.ErrTimeout, "", timed, endless("", "", 0)),
	}
}

// Every loop sees the same in an odd server: as many requests, failures of each kind, and
// connections. With many connections, whatever happens to all or no requests is the same.
func TestOddServers(t *testing.T) {
	secure := &site{}
	trusted := secure.start(t, true, false)
	for _, o := range odds() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			for _, open := range []bool{false, true} {
				all := slices.Concat(loops(), []driver{{bench.LoopVegeta + " TLS", trusted}})
				t.Run(map[bool]string{false: "closed", true: "open"}[open], func(t *testing.T) {
					t.Parallel()
					eachOf(t, all, func(t *testing.T, e Engine) {
						t.Parallel()
						var config *tls.Config
						if e.TLS != nil {
							config = secure.TLS
						}
						o.meets(t, e, config, open)
						if all := o.failed == 0 || o.failed == oddRequests; all && config == nil && o.kind != bench.ErrTimeout && o.body <= 1<<20 {
							o.meetsMany(t, e, open)
						}
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
		p.Step.Arrivals = &bench.Arrivals{Users: 1, Requests: int(requests), Over: ms}
		if o.opened > oddRequests {
			o.opened, o.again = oddRequests, min(o.again, 0)
		}
	}
	if o.kind == bench.ErrTimeout {
		p.Timeout = 100 * ms
	}
	l := o.of(t, e, p, requests, o.failed)
	text := l.Examples[o.kind]
	testenv.Check(t, strings.Contains(text, o.text) && len(text) <= wire.MaxExample+8, "example %q", text)
	if o.kind == bench.ErrCut { // without a complete response there is no status
		holds(t, l, nil, "statuses=0")
	}
	server.opens(t, l, o.opened, o.again)
}

// opens checks how many connections a result says were opened, and how many requests were sent again.
func (s *oddServer) opens(t *testing.T, l bench.Load, opened, again int64) {
	t.Helper()
	if again >= 0 {
		testenv.Equal(t, l.SentAgain, again, "sent again")
	}
	if opened > 0 {
		s.sees(t, opened)
		testenv.Check(t, l.Succeeded == 0 || l.Reconnects == opened-1, "%d opened again, want %d", l.Reconnects, opened-1)
	}
}

func (o odd) of(t *testing.T, e Engine, p Plan, requests, failed int64) bench.Load {
	p.Requests[0].Method, p.Requests[0].Body = o.method, strings.Repeat("x", o.body)
	l := run(t, e, p)
	holds(t, l, nil, fmt.Sprintf("scheduled=%d ok+failed=sent failed=%d", requests, failed*l.Sent/requests))
	testenv.Equal(t, l.Failed[o.kind], l.FailedTotal(), o.kind)
	return l
}

func (o odd) meetsMany(t *testing.T, e Engine, open bool) {
	const many = 4 * 6 // requests
	e.Shards = 2
	p := counted(newOdd(t, o, nil).url, 6, many)
	if open { // what is still queued when the last one is scheduled is dropped
		p = openCounted(p.BaseURL, 500, 4, many)
	}
	o.of(t, e, p, many, many*o.failed/oddRequests)
}
