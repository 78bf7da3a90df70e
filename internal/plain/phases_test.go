package plain

import (
	"bytes"
	"testing"
	"time"

	"locbench/internal/bench"
)

func TestRequestsTimed(t *testing.T) {
	var talk bytes.Buffer
	p := New(Options{Talk: &talk})
	ms := time.Millisecond
	p.Handle(bench.Record{Leg: &bench.Leg{Contender: "a", Round: 1}, Event: bench.RequestsTimed{Phases: bench.Phases{
		First: bench.RequestPhases{New: true, Name: ms, Connect: 2 * ms, TLS: 3 * ms, Send: 4 * ms, FirstByte: 5 * ms, Receive: 6 * ms, Total: 21 * ms},
		Kept:  []bench.RequestPhases{{Send: ms, FirstByte: ms, Total: 2 * ms}, {FirstByte: ms, Total: ms, Err: "\x1b[2Jreset"}, {Send: ms, FirstByte: 2 * ms, Total: 3 * ms}},
		New:   []bench.RequestPhases{{Connect: ms, Total: ms, Err: "refused"}},
	}}})
	want := `  request  first 21.0 ms: name 1.00 ms, connect 2.00 ms, TLS 3.00 ms, sent 4.00 ms, first byte 5.00 ms, last byte 6.00 ms
           later 2.00 ms: sent 1.00 ms, first byte 1.00 ms, the median of 2, 1 FAILED
           new connection no success, 1 FAILED
`
	if talk.String() != want {
		t.Errorf("%s\nwant\n%s", talk.String(), want)
	}
}
