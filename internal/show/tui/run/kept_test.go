package run

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// Results are summed up again when a step, a trial or a check has changed them, and only then.
func TestKept(t *testing.T) {
	trials := slices.Concat(nethttp.rounds(2), actix.rounds(2))
	state := over(runOf("orders", trials...), trials).State
	var k kept[*ending]
	first := k.of(state, soFar)
	testenv.Check(t, first == k.of(state, soFar), "summed up twice")
	r := &state.Trials[0].Result
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a step", func() { r.Steps = append(r.Steps, benchtest.Step(1)) }},
		{"a check", func() { r.Checks[0].Status = bench.CheckFailed }},
		{"a trial", func() { r.State = bench.TrialFailed }},
		{"a start", func() { r.StartUp = nil }},
	} {
		c.change()
		now := k.of(state, soFar)
		testenv.Check(t, now != first, "not summed up after %s", c.what)
		first = now
	}
}
