package compare

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// standing returns the standing of all contenders of a set.
func standing(s raw, id measure.ID, rule stats.Rule) analysis.Standing {
	return s.set().Run.Standing(id, rule)
}

func places(s analysis.Standing) (labels []string, tiers []int) {
	for _, p := range s.Places {
		labels, tiers = append(labels, p.Contender), append(tiers, p.Tier)
	}
	return labels, tiers
}

func TestTiersOfContenders(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	with := func(by float64) values {
		f := usual()
		f.peak *= by
		f.p99 = time.Duration(float64(f.p99) / by)
		return f
	}
	set := raw{Run: run(), Trials: slices.Concat(
		trials(rng, "slow", 6, with(.7)), trials(rng, "fast", 6, with(1.001)), trials(rng, "twin", 6, with(1)), trials(rng, "few", 3, with(2)),
	)}
	set.Trials[0].Steps[3].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 2000}
	s := standing(set, measure.Throughput, stats.Rule{})
	labels, tiers := places(s)
	slices.Sort(labels[:2]) // either may lead
	if !slices.Equal(labels, []string{"fast", "twin", "slow", "few"}) || !slices.Equal(tiers, []int{1, 1, 2, 0}) || !s.HasTiers() {
		t.Fatalf("%v in tiers %v", labels, tiers)
	}
	for i, want := range []string{"leader", "same within 3%: ", "behind: −", "3 rounds, need ≥ 6"} {
		if got := s.Places[i].Words(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", s.Places[i].Contender, got, want)
		}
	}
	if got := s.Places[2]; !strings.HasSuffix(got.Text(), "/s") || !strings.Contains(got.Interval(), "/s to ") || got.At != "8 connections" {
		t.Errorf("%+v: %s, %s", got, got.Text(), got.Interval())
	}
	if got := s.Places[3].Interval(); got != "need ≥ 6 rounds" {
		t.Errorf("of three rounds: %q", got)
	}

	// All contenders at the step at half peak of the first. Lower is better.
	s = standing(set, measure.P99Half, stats.Rule{})
	labels, tiers = places(s)
	if s.At != "4 connections (55% of peak of slow)" || labels[2] != "slow" || !slices.Equal(tiers, []int{1, 1, 2, 0}) {
		t.Errorf("%v in tiers %v at %q", labels, tiers, s.At)
	}
	// Differences below the noise floor do not separate tiers.
	s = standing(set, measure.Throughput, stats.Rule{Floor: .5})
	if _, tiers = places(s); !slices.Equal(tiers, []int{1, 1, 1, 0}) || !strings.HasPrefix(s.Places[2].Words(), "inconclusive: −") {
		t.Errorf("with a floor of 50%%: %v, %q", tiers, s.Places[2].Words())
	}
}

// Contenders with failed rounds are in no tier, with the reason.
func TestTiersExclude(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	all := slices.Concat(trials(rng, "a", 6, usual()), trials(rng, "b", 6, usual()), trials(rng, "c", 6, usual()))
	all[0].Steps[3].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 60_000} // of a
	all[6].State = bench.TrialFailed                                                  // of b
	for m, want := range map[measure.ID]map[string]string{
		measure.Throughput: {"a": "behind: −", "b": "excluded: 1 of 6 rounds failed", "c": "leader"},
		measure.StartUp:    {"b": "excluded: 1 of 6 rounds failed"},
	} {
		s := standing(raw{Run: run(), Trials: all}, m, stats.Rule{})
		for _, p := range s.Places {
			if w := want[p.Contender]; w != "" && (!strings.HasPrefix(p.Words(), w) || (p.Tier == 0) != strings.HasPrefix(w, "excluded")) {
				t.Errorf("%s: %s in tier %d: %q, want %q", m, p.Contender, p.Tier, p.Words(), w)
			}
		}
	}
}

// A contender without values is in no tier, and an outlier is reported.
func TestTiersOfFewValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	all := trials(rng, "a", 7, usual())
	for i := range all {
		all[i].StartUp = nil
	}
	all[4].Steps[3].Load.Succeeded *= 3
	s := standing(raw{Run: run(), Trials: all}, measure.StartUp, stats.Rule{})
	if s.HasTiers() || s.Places[0].Text() != "–" || s.Places[0].Words() != "not measured" || s.Places[0].Interval() != "not measured" {
		t.Errorf("%+v", s)
	}
	s = standing(raw{Run: run(), Trials: all}, measure.Throughput, stats.Rule{})
	warnings := stats.RoundWarnings(s.Places[0].Value.Values)
	if len(s.Places) != 1 || s.Places[0].Words() != "leader" || len(warnings) != 1 || warnings[0].Kind != bench.WarnOutlier || !strings.HasPrefix(warnings[0].Text, "round 5 is an outlier") {
		t.Errorf("%+v", s)
	}
	if s = standing(raw{Run: run()}, measure.Throughput, stats.Rule{}); s.HasTiers() {
		t.Error("a tier without a trial")
	}
}

// A step with a drift has no tier, no verdict and no change in the history, and the reason is
// reported. Measures of whole trials, and of other steps, are compared.
func TestDriftingStepsAreNotCompared(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	faster := usual()
	faster.peak *= 1.5
	set := raw{Run: run(), Trials: slices.Concat(trials(rng, "slow", 6, usual()), trials(rng, "fast", 6, faster), trials(rng, "third", 6, usual()))}
	steady := slices.Clone(set.Trials)
	warming := &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}}
	for _, round := range []int{7, 9} {
		trial := &set.Trials[round]
		trial.Steps = slices.Clone(trial.Steps)
		trial.Steps[3].Drift = warming
	}
	for m, want := range map[measure.ID]string{
		measure.Throughput: "excluded: still warming up in 2 of 6 rounds", measure.CPURequest: "excluded: still warming up in 2 of 6 rounds",
		measure.P99Half: "leader", measure.StartUp: "leader", measure.MemoryPeak: "leader",
	} {
		s := standing(set, m, stats.Rule{})
		i := slices.IndexFunc(s.Places, func(p analysis.Place) bool { return p.Contender == "fast" })
		got := s.Places[i]
		if want == "leader" && got.Out != "" || want != "leader" && got.Words() != want {
			t.Errorf("%s: %q, want %q", m, got.Words(), want)
		}
	}

	before, after := raw{Run: run(), Trials: set.Trials[:6]}, raw{Run: run(), Trials: set.Trials[6:12]}
	for i, row := range compared(t, before, after, Options{}).Contenders[0].Rows {
		ofPeak := row.Measure == measure.Throughput || row.Measure == measure.CPURequest
		if want := "new: still warming up in 2 of 6 rounds"; ofPeak && (row.NotComparable != want || row.Verdict != stats.Inconclusive || !slices.ContainsFunc(row.Warnings, func(d SideWarning) bool { return d.String() == want })) || !ofPeak && row.NotComparable != "" {
			t.Errorf("%s: %s, %q, not comparable: %q", row.Measure, row.Verdict, row.Sentence, row.NotComparable)
		}
		if old := compared(t, before, raw{Run: run(), Trials: steady[6:12]}, Options{}).Contenders[0].Rows[i]; ofPeak && old.Verdict != stats.Better {
			t.Errorf("%s of steady steps: %s", old.Measure, old.Sentence)
		}
	}
	if row := compared(t, before, after, Options{Force: true}).Contenders[0].Rows[0]; row.Verdict != stats.Better {
		t.Errorf("by force: %s", row.Sentence)
	}

	// p99 is of the step at half peak.
	set.Trials[2].Steps = slices.Clone(set.Trials[2].Steps)
	set.Trials[2].Steps[2].Drift = &bench.Drift{CPU: &bench.Trend{Change: .2, P: .001}}
	for _, row := range compared(t, before, after, Options{}).Contenders[0].Rows {
		if want := "old: unstable in 1 of 6 rounds"; row.Measure == measure.P99Half && row.NotComparable != want {
			t.Errorf("p99: %q, want %q", row.NotComparable, want)
		}
	}
}

func TestHistorySkipsDriftingSteps(t *testing.T) {
	for _, drifts := range []bool{false, true} {
		var h History
		rng := rand.New(rand.NewPCG(7, 7))
		for i := range 12 {
			f := usual()
			if i >= 6 {
				f.peak *= .7
			}
			all := trials(rng, "a", 6, f)
			for k := range all {
				if drifts && i >= 6 {
					all[k].Steps[3].Drift = &bench.Drift{Throughput: &bench.Trend{Change: .2, P: .001}}
				}
			}
			r := run()
			r.ID, r.Started = string(rune('a'+i)), time.Date(2026, 11, 1+i, 8, 0, 0, 0, time.UTC)
			h.Add(r.ID, r, all)
		}
		all := seriesOf(t, &h, nil, measure.Throughput)
		text, _, _ := texts(t, all)
		if got := strings.Contains(strings.Join(strings.Fields(text), " "), "peak throughput: still warming up in 6 of 6 rounds, skipped"); got != drifts || (len(all[0].Changes) == 0) != drifts {
			t.Errorf("drifts %v: %d changes\n%s", drifts, len(all[0].Changes), text)
		}
	}
}
