package profile

import (
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/results/event"
)

// TestDraftTakesThreeMinutes: the comparison of two contenders that `profiles new` writes.
func TestDraftTakesThreeMinutes(t *testing.T) {
	text, err := Draft{Get: "/items/{item}"}.Text("p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse("p.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	p.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "a", Variant: "b"}}
	p, why := Settle(p, 0)
	if why != nil || p.Rounds != InterleavedRounds {
		t.Errorf("%d rounds, not interleaved: %+v", p.Rounds, why)
	}
	for runtime, most := range map[bench.Runtime]time.Duration{
		bench.RuntimeURL: 3 * time.Minute, bench.RuntimeProcess: 3 * time.Minute, bench.RuntimeDocker: 200 * time.Second,
	} {
		p.Runtime = runtime
		if total := event.Total(p); total > most || total < 2*time.Minute {
			t.Errorf("%s: %v, want at most %v", runtime, total, most)
		}
	}
}
