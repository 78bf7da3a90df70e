package plain

import (
	"bytes"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRequestsTimed(t *testing.T) {
	var talk bytes.Buffer
	p := New(Options{Talk: &talk})
	ms := time.Millisecond
	p.Handle(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1}, Event: bench.RequestsTimed{FirstRequests: bench.FirstRequests{
		First: bench.RequestPhases{New: true, Name: ms, Connect: 2 * ms, TLS: 3 * ms, Send: 4 * ms, FirstByte: 5 * ms, Receive: 6 * ms, Total: 21 * ms},
		Kept:  []bench.RequestPhases{{Send: ms, FirstByte: ms, Total: 2 * ms}, {FirstByte: ms, Total: ms, Err: "\x1b[2Jreset"}, {Send: ms, FirstByte: 2 * ms, Total: 3 * ms}},
		New:   []bench.RequestPhases{{Connect: ms, Total: ms, Err: "refused"}},
	}}})
	want := "  request  first 21.0 ms, same connection 2.00 ms, new connection –\n"
	testenv.Check(t, talk.String() == want, "%s\nwant\n%s", talk.String(), want)
}

func TestRequestText(t *testing.T) {
	for want, r := range map[string]bench.RequestPhases{
		"–": {}, "1 ns": {Total: 1}, "failed: reset␛[2J": {Total: 1, Err: "reset\x1b[2J"},
	} {
		testenv.Equal(t, requestText(r), want)
	}
}
