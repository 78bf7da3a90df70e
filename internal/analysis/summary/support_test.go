package summary

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// badNumber matches what Go prints for a wrong verb, NaN and infinity.
var badNumber = regexp.MustCompile(`%!|\bNaN\b|[+−-]Inf\b`)

// rankingWords are words that only a ranking may use.
var rankingWords = []string{" leads ", " has the highest", " has the lowest", " needs the least", " starts the fastest", " reaches its peak the fastest", "faster", "better"}

// supported fails if the samples do not support a ranking. It tests each ranking again, with Holm's
// correction over all pairs of the measure, independently of the product code.
func supported(t *testing.T, run bench.Run, trials []bench.TrialResult, rules Rules, got []Sentence) {
	t.Helper()
	const alpha = stats.DefaultAlpha
	for _, s := range got {
		if s.Text == "" || len(s.Text) > 6000 || !utf8.ValidString(s.Text) || badNumber.MatchString(s.Text) ||
			strings.ContainsAny(s.Text, "\n\r\x1b\x00\u2028\u202e") {
			t.Errorf("%s writes %d bytes: %q", s.Rule, len(s.Text), s.Text)
		}
		if s.Kind != Ranking {
			if len(s.Leaders)+len(s.Behind) > 0 {
				t.Errorf("%s is not a ranking, but names leaders", s.Rule)
			}
			continue
		}
		samples := samplesOf(New(analysis.Of(run, trials), rules), s.Measure)
		for _, trial := range trials {
			if _, ranked := samples[trial.Trial.Label()]; ranked && measure.Get(s.Measure).Comparison.At != measure.FromStartToStop && len(trial.Steps) > 0 && trial.Steps[0].Drift != nil {
				t.Errorf("%s: a ranking with %s, which was still warming up", s.Rule, trial.Trial.Label())
			}
		}
		if len(s.Leaders) == 0 || len(s.Behind) == 0 {
			t.Fatalf("%s: a ranking without sides: %+v", s.Rule, s)
		}
		var pairs [][2]string
		var raw []float64
		names := slices.Sorted(maps.Keys(samples))
		for i, a := range names {
			for _, b := range names[i+1:] {
				test, err := stats.MannWhitney(samples[a], samples[b])
				testenv.OK(t, err)
				pairs, raw = append(pairs, [2]string{a, b}), append(raw, test.P)
			}
		}
		p := stats.Holm(raw)
		leader := s.Leaders[0]
		for _, other := range s.Behind {
			x, y := samples[other], samples[leader]
			if len(x) < stats.MinInterval || len(y) < stats.MinInterval {
				t.Fatalf("%s: a ranking from %d and %d rounds", s.Rule, len(x), len(y))
			}
			if got := p[slices.Index(pairs, [2]string{min(leader, other), max(leader, other)})]; !(got <= alpha) {
				t.Errorf("%s: %s over %s with p %g after Holm", s.Rule, leader, other, got)
			}
			if !measure.Get(s.Measure).Higher {
				x, y = y, x
			}
			if ratio, err := stats.RatioOf(x, y, 1-alpha); err != nil || !(ratio.Low > 1) {
				t.Errorf("%s: %s over %s in %s although the CI is %g to %g: %v", s.Rule, leader, other, s.Measure,
					ratio.Low, ratio.High, err)
			}
		}
		if len(s.Leaders) == 1 && len(s.Behind) != len(samples)-1 {
			t.Errorf("%s: a winner over %d of %d", s.Rule, len(s.Behind), len(samples)-1)
		}
	}
}

// samplesOf returns the samples of the compared contenders by label.
func samplesOf(f Facts, id measure.ID) map[string][]float64 {
	samples := map[string][]float64{}
	for _, s := range f.Standings {
		if s.Measure == id {
			for _, member := range s.Members {
				samples[s.Places[member].Contender] = s.Places[member].Value.Values
			}
		}
	}
	return samples
}

// At most 5% of runs of equal contenders may have a winner, and each ranking is supported.
func TestNoWinnerAmongEquals(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const runs = 200
	wrong := 0
	for range runs {
		var trials []bench.TrialResult
		for k := range 3 {
			var values []float64
			for range 6 {
				values = append(values, 1000*math.Exp(.1*rng.NormFloat64()))
			}
			trials = append(trials, side(fmt.Sprint("contender-", k), values)...)
		}
		got := New(analysis.Of(bench.Run{}, trials), Rules{}).Sentences()
		supported(t, bench.Run{}, trials, Rules{}, got)
		if slices.ContainsFunc(got, func(s Sentence) bool { return s.Kind == Ranking && s.Measure == measure.Throughput }) {
			wrong++
		}
	}
	// 5% are 10; the seed is fixed, so the count is too.
	if wrong > 10 {
		t.Errorf("%d of %d runs of equals have a winner", wrong, runs)
	}
}

const hostileName = "</script><img src=x onerror=pwned=1>|[x](javascript:y)`*_\x1b[31m\u202e\u2028\x00\n# leads %s%d"

func TestHostileNames(t *testing.T) {
	trials := together(side("a"+hostileName, around(2000, 6), warned("", hostileName), died(2)), side("b"+hostileName, around(1000, 6), quotaBound), side("c"+hostileName, around(3000, 6)))
	for i := range trials {
		trials[i].Failure = strings.Repeat(hostileName, 100)
		trials[i].Steps[0].Step.Name = hostileName
		trials[i].Steps[0].Load.Failed = map[bench.ErrorKind]int64{bench.ErrorKind(hostileName): 3}
		trials[i].Checks = []bench.CheckResult{{Name: hostileName, Status: bench.CheckFailed}}
	}
	run := bench.Run{Machine: bench.Machine{CPUs: 1, Load1: hostileName}}
	got := New(analysis.Of(run, trials), Rules{}).Sentences()
	if supported(t, run, trials, Rules{}, got); len(got) < 5 {
		t.Errorf("only %d sentences", len(got))
	}
}

// FuzzRankings makes runs out of bytes: rounds, throughputs, errors, deaths, warnings and names.
func FuzzRankings(f *testing.F) {
	f.Add([]byte("\x03\x06abcdefghijklmnopqrstuvwxyz0123456789"), "a", uint8(0))
	f.Add([]byte("\x02\x06\x00\x00\xff\xff\x00\x00\xff\xff\x00\x00"), hostileName, uint8(3))
	f.Add([]byte("\x08\x0cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "", uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, name string, margin uint8) {
		next := func() uint16 {
			if len(data) < 2 {
				data = nil
				return 7
			}
			v := binary.LittleEndian.Uint16(data)
			data = data[2:]
			return v
		}
		if badNumber.MatchString(name) {
			t.Skip("a name that looks like a bad number")
		}
		head := next()
		contenders, rounds := int(head&7)+1, int(head>>8)%9+1
		var trials []bench.TrialResult
		for k := range contenders {
			flags := next()
			var values []float64
			for range rounds {
				values = append(values, float64(next()%4096))
			}
			trials = append(trials, side(fmt.Sprint(k, name), values, func(r *bench.TrialResult) {
				s := &r.Steps[0]
				switch flags % 11 {
				case 1:
					errors(float64(flags%100) / 100)(r)
				case 2:
					clientBound(r)
				case 3:
					died(int(flags % 8))(r)
				case 4:
					open(r)
				case 5:
					unlimited(r)
				case 6:
					s.Aborted = name
				case 7:
					s.Load.Succeeded = -s.Load.Succeeded
				case 8:
					s.Load.Elapsed = time.Duration(int16(flags))
				case 9:
					r.Steps = nil
				case 10:
					warming(r)
				}
			})...)
		}
		rules := Rules{Rule: stats.Rule{Floor: float64(margin%8) / 20}}
		supported(t, bench.Run{}, trials, rules, New(analysis.Of(bench.Run{}, trials), rules).Sentences())
	})
}
