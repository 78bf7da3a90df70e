package plain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
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
	want := `  request  first 21.0 ms: name 1.00 ms, connect 2.00 ms, TLS 3.00 ms, sent 4.00 ms, first byte 5.00 ms, last byte 6.00 ms
           later 2.00 ms: sent 1.00 ms, first byte 1.00 ms, median of 2, 1 failed
           new connection no success, 1 failed
`
	if talk.String() != want {
		t.Errorf("%s\nwant\n%s", talk.String(), want)
	}
}

// The spread around the means is reported only where the first requests were timed.
func TestSpreadAroundTheMeans(t *testing.T) {
	h := hdr.New()
	for i := range 100 {
		h.Record(time.Duration(i+1) * 10 * time.Microsecond)
	}
	ended := bench.StepEnded{Result: bench.StepResult{Step: bench.Step{Name: "2 connections", Connections: 2}, Load: bench.Load{
		Elapsed: 2 * time.Second, Succeeded: 100, Bytes: 3 << 20, Latency: h.Latencies(),
		Windows: []bench.Window{{Length: time.Second, Succeeded: 40}, {Length: time.Second, Succeeded: 60}},
	}}}
	want := `    latency  mean 505 µs, SD 289 µs, max 1.00 ms, 58.0% within 1 SD
    req/s    mean 50.0, SD 10.0, max 60.0, 100.0% within 1 SD, over 2 windows of 1 s
    bodies   1.50 MiB/s
`
	for _, timed := range []bool{true, false} {
		var talk bytes.Buffer
		p := New(Options{Talk: &talk})
		trial := &bench.Trial{Contender: "a", Round: 1}
		p.Handle(bench.Record{Trial: trial, Event: bench.TrialStarted{}})
		if timed {
			p.Handle(bench.Record{Trial: trial, Event: bench.RequestsTimed{}})
		}
		p.Handle(bench.Record{Trial: trial, Event: ended})
		if strings.Contains(talk.String(), want) != timed || strings.Contains(talk.String(), "within 1 SD") != timed {
			t.Errorf("timed: %t\n%s", timed, talk.String())
		}
	}
}
