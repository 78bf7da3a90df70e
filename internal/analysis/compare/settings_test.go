package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Limits that the profile of a run sets for one contender are the subject, not a reason to refuse.
func TestLimitsOfTheProfileAreTheSubject(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	slower := usual()
	slower.peak /= 2
	half := bench.Selection{Contender: "a", Variant: "half"}
	one := run()
	one.ID = "r"
	one.Profile.Contenders = []bench.Selection{{Contender: "a"}, half}
	old, fresh := trials(rng, "a", 6, usual()), trials(rng, "a", 6, slower)
	for i := range fresh {
		limited := *fresh[i].Instance
		limited.Limits.CPUs = .5
		fresh[i].Instance, fresh[i].Trial.Variant = &limited, "half"
	}
	sides := func(r bench.Run) Result {
		return compared(t, raw{Run: r, Trials: old}, raw{Run: r, Trials: fresh}, Options{})
	}
	if c := sides(one).Contenders[0]; c.Comparable || !strings.Contains(c.Rows[0].NotComparable, "limits in use") {
		t.Errorf("limits that the profile does not set: %+v", c.Rows[0])
	}
	one.Profile.Settings = []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: .5}}}
	r := sides(one)
	if c := r.Contenders[0]; !c.Comparable || c.Rows[0].Verdict != stats.Worse || c.Differences[0].Weight != Subject {
		t.Errorf("limits of the profile: %+v %+v", c.Differences, c.Rows[0])
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "a:half under 0.5 CPUs, a under 1.5 CPUs:") {
		t.Errorf("%v\n%s", err, text.String())
	}
	other := one
	other.ID, other.Profile.Limits.CPUs = "s", .5
	r = compared(t, raw{Run: one, Trials: old}, raw{Run: other, Trials: fresh}, Options{})
	text.Reset()
	if err := r.Text(&text); err != nil || r.Contenders[0].Comparable || !strings.Contains(text.String(), "capacity --limits") {
		t.Errorf("two runs: %v\n%s", err, text.String())
	}
}

// A smaller contender that fails requests at the peak step of the larger one is compared at a step
// that is valid for both. Without different limits the measure is not comparable.
func TestOverloadedSmallerContender(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	slower := usual()
	slower.peak /= 2
	half := bench.Selection{Contender: "a", Variant: "half"}
	r := run()
	r.ID = "r"
	r.Profile.Contenders = []bench.Selection{{Contender: "a"}, half}
	all := trials(rng, "a", 6, usual())
	for _, trial := range trials(rng, "a", 6, slower) {
		limited := *trial.Instance
		limited.Limits.CPUs = .5
		trial.Instance, trial.Trial.Variant = &limited, "half"
		last := &trial.Steps[len(trial.Steps)-1].Load
		last.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: last.Succeeded}
		all = append(all, trial)
	}
	row := func() Row {
		set := raw{Run: r, Trials: all}.set()
		for _, row := range Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{}).Rows {
			if row.Measure == measure.CPURequest {
				return row
			}
		}
		t.Fatal("no row")
		return Row{}
	}
	if r := row(); r.NotComparable == "" {
		t.Errorf("equal limits: %+v", r)
	}
	r.Profile.Settings = []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: .5}}}
	if r := row(); r.NotComparable != "" || r.At != "4 connections" || len(r.New.Rounds) != 6 {
		t.Errorf("different limits: %+v", r)
	}
}

// What the profile sets for a contender is the heading: limits with ratios, environment, image,
// folder.
func TestSubject(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	other := bench.Selection{Contender: "a", Variant: "b"}
	for name, c := range map[string]struct {
		own  bench.Settings
		want string
	}{
		"limits":      {bench.Settings{Limits: bench.Limits{CPUs: .5}}, "a:b under 0.5 CPUs, a under 1.5 CPUs: ×"},
		"environment": {bench.Settings{Env: map[string]string{"GOGC": "50", "A": "\x1b[1m"}}, "a:b with A="},
		"image":       {bench.Settings{Image: "orders:v1"}, "a:b with image orders:v1: ×"},
		"folder":      {bench.Settings{Dir: "/home/me/before"}, "a:b with folder before: ×"},
		"nothing":     {bench.Settings{}, ""},
	} {
		r := run()
		r.ID, r.Profile.Contenders = "r", []bench.Selection{{Contender: "a"}, other}
		c.own.Selection = other
		r.Profile.Settings = []bench.Settings{c.own}
		all := trials(rng, "a", 6, usual())
		for _, trial := range trials(rng, "a", 6, usual()) {
			trial.Trial.Variant = "b"
			all = append(all, trial)
		}
		set := raw{Run: r, Trials: all}.set()
		got := Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{}).Subject
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", name, got)
		}
		if c.want != "" && !strings.Contains(got, "the throughput (95% CI ×") {
			t.Errorf("%s: %q has no ratio", name, got)
		}
	}
}

// Contenders with different CPU quotas are not sent to interleaving, in which they would exceed
// them.
func TestQuotasAreNotInterleaved(t *testing.T) {
	half := bench.Selection{Contender: "b"}
	for own, interleaved := range map[float64]bool{0: true, .5: false} {
		r := inRun(flat(rand.New(rand.NewPCG(3, 9)), 6, false, 1, 1.02))
		r.Run.Plain = &bench.Plain{Reason: bench.PlainChosen}
		r.Run.Profile.Contenders = []bench.Selection{{Contender: "a"}, half}
		r.Run.Profile.Settings = []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: own}}}
		set := r.set()
		c := Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{})
		if c.Settle == "" || strings.Contains(c.Settle, "--interleave") != interleaved {
			t.Errorf("quota %v: %q", own, c.Settle)
		}
	}
}
