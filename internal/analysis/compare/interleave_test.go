package compare

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// interleavedRounds returns interleaved rounds of contenders, on a machine whose speed varies
// between rounds by up to a factor of two.
func interleavedRounds(rng *rand.Rand, n int, by ...float64) []bench.TrialResult {
	var all []bench.TrialResult
	for round := range n {
		machine := 1 + rng.Float64()
		since := time.Unix(1_800_000_000, int64(round))
		for i, factor := range by {
			f := usual()
			noise := machine * factor * (1 + 0.01*rng.NormFloat64())
			f.peak *= noise
			f.p99 = time.Duration(float64(f.p99) / noise)
			l := trial(string(rune('a'+i)), round+1, f)
			for k := range l.Steps {
				l.Steps[k].Interleave = &bench.Interleave{Length: 100 * time.Millisecond, Count: 100, Since: since, With: []string{"other"}}
			}
			all = append(all, l)
		}
	}
	return all
}

// On a machine that varies by a factor of two, only paired rounds show a difference of 10%.
func TestInterleavingFindsDifferences(t *testing.T) {
	found, missed := 0, 0
	for seed := range uint64(20) {
		rounds := interleavedRounds(rand.New(rand.NewPCG(seed, 5)), stats.MinPaired, 1, .9)
		set := func(c string) raw { return raw{Run: run(), Trials: rounds, Contender: c} }
		r := compared(t, set("a"), set("b"), Options{})
		row := r.Contenders[0].Rows[0]
		if !row.Paired || row.Ratio == nil {
			t.Fatalf("%+v", row)
		}
		if row.Verdict == stats.Worse && row.Ratio.High < 1 && row.Ratio.Low < .9 && row.Ratio.High > .9 {
			found++
		}
		var text bytes.Buffer
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "Interleaved run") || !strings.Contains(text.String(), "signed ranks") {
			t.Fatalf("%v\n%s", err, text.String())
		}
		for i := range rounds {
			for k := range rounds[i].Steps {
				rounds[i].Steps[k].Interleave = nil
			}
		}
		row = compared(t, set("a"), set("b"), Options{}).Contenders[0].Rows[0]
		if row.Paired || row.Verdict == stats.Worse {
			missed++
		}
	}
	if found < 19 || missed > 1 {
		t.Errorf("paired: found in %d of 20; unpaired: found in %d", found, missed)
	}
}

func TestTiersOfInterleaving(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	rounds := interleavedRounds(rng, 12, .9, 1, 1.001)
	// A contender with too few rounds is in no tier, and does not reduce the rounds of the others.
	few := interleavedRounds(rng, 12, 1, 1, 1, 2)
	few = slices.DeleteFunc(few, func(l bench.TrialResult) bool { return l.Trial.Contender != "d" || l.Trial.Round > 3 })
	s := standing(raw{Run: run(), Trials: append(rounds, few...)}, measure.Throughput, stats.Rule{})
	labels, tiers := places(s)
	slices.Sort(labels[:2])
	if !s.Paired || !slices.Equal(labels, []string{"b", "c", "a", "d"}) || !slices.Equal(tiers, []int{1, 1, 2, 0}) {
		t.Errorf("paired %v: %v in tiers %v", s.Paired, labels, tiers)
	}
	if r := s.Places[2].Ratio; r == nil || r.Interval.Low < .85 || r.Interval.High > .95 {
		t.Errorf("ratio to the leader %+v", r)
	}
}

// A round that one side did not complete is removed from both.
func TestInterleavedRoundNotComplete(t *testing.T) {
	rounds := interleavedRounds(rand.New(rand.NewPCG(2, 2)), 10, 1, .9)
	rounds[5].State = bench.TrialAborted // the third of b
	set := func(c string) raw { return raw{Run: run(), Trials: rounds, Contender: c} }
	row := compared(t, set("a"), set("b"), Options{}).Contenders[0].Rows[0]
	if !row.Paired || len(row.Old.Rounds) != 9 || len(row.New.Rounds) != 9 || row.Verdict != stats.Worse {
		t.Errorf("%+v", row)
	}
	// A round that a contender failed leaves it without a verdict, here and in the tiers.
	rounds[5].State = bench.TrialFailed
	if row := compared(t, set("a"), set("b"), Options{}).Contenders[0].Rows[0]; row.Verdict != stats.Inconclusive || row.NotComparable != "new: 1 of 10 rounds failed" {
		t.Errorf("a failed round: %+v", row)
	}
	one, interleaved := run(), run()
	interleaved.Profile.Interleave = 100 * time.Millisecond
	if d := Differences(one, interleaved); len(d) == 0 || d[0].What != "interleaving" || d[0].Old != "none" || d[0].New != "100 ms" || d[0].Weight != Incomparable {
		t.Errorf("an interleaved run and another one differ in %+v", d)
	}
	// Contenders of two runs are not interleaved.
	other := interleavedRounds(rand.New(rand.NewPCG(3, 3)), 10, 1, .9)
	for i := range other {
		for k := range other[i].Steps {
			own := *other[i].Steps[k].Interleave
			own.Since = own.Since.Add(time.Hour)
			other[i].Steps[k].Interleave = &own
		}
	}
	row = compared(t, set("a"), raw{Run: run(), Trials: other, Contender: "b"}, Options{}).Contenders[0].Rows[0]
	if row.Paired || len(row.Old.Rounds) != 10 {
		t.Errorf("of two runs: %+v", row)
	}
}

// A contender that is interleaved with itself gives the noise floor of interleaving.
func TestNoiseFloorOfInterleaving(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	pairs := interleavedRounds(rng, 8, 1, 1)
	for i := range pairs {
		pairs[i].Trial = bench.Trial{Contender: "a", Round: i + 1}
	}
	f, err := noiseFloor(raw{Run: run(), Trials: pairs})
	if err != nil || f.Rounds != 8 || f.FalsePositives != 0 || f.Of(measure.Throughput) <= 0 || f.Of(measure.Throughput) > .03 {
		t.Fatalf("%+v, %v", f, err)
	}
	for i := range pairs {
		for k := range pairs[i].Steps {
			pairs[i].Steps[k].Interleave = nil
		}
	}
	if loud, err := noiseFloor(raw{Run: run(), Trials: pairs}); err != nil || loud.Of(measure.Throughput) < 5*f.Of(measure.Throughput) {
		t.Errorf("unpaired %+v, %v", loud, err)
	}
}
