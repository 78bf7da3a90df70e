package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// values are the results of one round of a contender.
type values struct {
	peak    float64 // requests per second at 8 connections
	p99     time.Duration
	startUp time.Duration
	memory  int64
}

func usual() values {
	return values{10_000, 5 * time.Millisecond, 100 * time.Millisecond, 50 << 20}
}

// scaled returns d times a factor.
func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// faster returns the usual values with by times the throughput; the CPU time remains.
func faster(by float64) values {
	f := usual()
	f.peak, f.p99 = f.peak*by, scaled(f.p99, 1/by)
	return f
}

type change = func(*bench.TrialResult)

// trial returns a round: a warm-up with 1 connection, then 1, 4 and 8 connections; 4 have 55% of
// the throughput of 8. Its time to peak is 30 times its start-up time.
func trial(name string, round int, f values) bench.TrialResult {
	l := bench.TrialResult{
		Schema: bench.SchemaVersion, Trial: bench.Trial{Contender: name, Round: round}, State: bench.TrialComplete,
		StartUp: &f.startUp, Service: bench.Service{Name: name, Version: "1.0"},
		Instance: &bench.InstanceInfo{Runtime: bench.RuntimeDocker, LimitsEnforced: true, Limits: bench.Limits{CPUs: 1.5},
			ImageID: "sha256:0123456789abcdef"},
	}
	l.Instance.StartedAt = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	cpu := time.Second
	for i, s := range steps4() {
		rate := f.peak * []float64{2, 0.2, 0.55, 1}[i] // the warm-up cannot be the peak, however fast
		r := bench.StepResult{
			Index: i, Step: s,
			Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: int64(rate * 10)}, Counts: bench.Counts{Sent: int64(rate * 10)}, Elapsed: 10 * time.Second,
				Latency: bench.Latencies{Count: 1, P99: f.p99 * time.Duration(i+1)}},
			Before: &bench.Usage{CPU: cpu},
		}
		if s.WarmUp {
			r.Load.Started = l.Instance.StartedAt.Add(30 * f.startUp)
			for at := range 10 {
				r.Load.Windows = append(r.Load.Windows, bench.Window{Start: time.Duration(at) * time.Second,
					Length: time.Second, Succeeded: int64(rate / 10)})
			}
		}
		cpu += 10 * time.Second
		r.After = &bench.Usage{CPU: cpu, Memory: &bench.Memory{Used: f.memory, Peak: f.memory}}
		l.Steps = append(l.Steps, r)
	}
	return l
}

func steps4() (all []bench.Step) {
	for i, connections := range []int{1, 1, 4, 8} {
		s := bench.Step{Connections: connections, Duration: 10 * time.Second}
		s.Name, s.WarmUp = s.DefaultName(), i == 0
		all = append(all, s)
	}
	return all
}

// trials returns rounds of a contender with some noise and no trend. Each change is applied to
// every round.
func trials(name string, n int, f values, changes ...change) (all []bench.TrialResult) {
	wobble := []float64{0, .011, -.008, .004, -.013, .007, -.003, .015, -.017, .002, -.006, .009}
	noise := func(i int) float64 { return 1 + wobble[i%len(wobble)] }
	for i := range n {
		l := trial(name, i+1, values{f.peak * noise(i), scaled(f.p99, noise(i+5)), scaled(f.startUp, noise(i+2)),
			int64(float64(f.memory) * noise(i+3))})
		for _, f := range changes {
			f(&l)
		}
		all = append(all, l)
	}
	return all
}

// in applies a change to one round.
func in(round int, f change) change {
	return func(l *bench.TrialResult) {
		if l.Trial.Round == round {
			f(l)
		}
	}
}

// paired makes the trials of a round interleaved.
func paired(l *bench.TrialResult) {
	for k := range l.Steps {
		l.Steps[k].Interleave = &bench.Interleave{Length: 100 * time.Millisecond, Count: 100,
			Since: time.Unix(1_800_000_000, int64(l.Trial.Round)), With: []string{"other"}}
	}
}

func is(state bench.TrialState) change { return func(l *bench.TrialResult) { l.State = state } }

// failing makes some requests of a step time out.
func failing(step int, n int64) change {
	return func(l *bench.TrialResult) {
		l.Steps[step].Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: n}
	}
}

// froze makes the first responses of a step take d, with a small noise.
func froze(step int, d time.Duration) change {
	return func(l *bench.TrialResult) {
		l.Steps[step].Load.FirstResponse = d + time.Duration(l.Trial.Round)*time.Microsecond
		l.Steps[step].Load.Latency.P50 = 10 * time.Millisecond
	}
}

// late makes each response take longer than a step.
func late(l *bench.TrialResult) {
	for i := range l.Steps {
		s := &l.Steps[i]
		s.Load = bench.Load{Definition: s.Load.Definition, Started: s.Load.Started, Elapsed: 10 * time.Second, Counts: bench.Counts{Sent: 2, Lead: 1, Drain: 1},
			FirstResponse: 15 * time.Second}
	}
}

// refused makes each request fail.
func refused(l *bench.TrialResult) {
	late(l)
	for i := range l.Steps {
		l.Steps[i].Load.Lead, l.Steps[i].Load.Drain = 0, 0
		l.Steps[i].Load.Failed = map[bench.ErrorKind]int64{bench.ErrRefused: 2}
	}
}

// raw is a side before its analysis, which tests can change.
type raw struct {
	Run       bench.Run
	Trials    []bench.TrialResult
	Contender string
}

func (r raw) set() Set { return Set{analysis.Of(r.Run, r.Trials), r.Contender} }

// of returns a side with one run.
func of(all ...[]bench.TrialResult) raw { return raw{Run: run(), Trials: slices.Concat(all...)} }

// only returns the side with only one contender.
func (r raw) only(contender string) raw {
	r.Contender = contender
	return r
}

// with returns the side with a change of its run.
func (r raw) with(f func(*bench.Run)) raw {
	f(&r.Run)
	return r
}

func run() bench.Run {
	return bench.Run{
		Schema: 1,
		Profile: bench.Profile{Name: "test", Rounds: 6, Runtime: bench.RuntimeDocker, Limits: bench.Limits{CPUs: 1.5},
			Steps: steps4(), Requests: []bench.Request{{Name: "get", Path: "/"}}, Needs: []bench.NeedSpec{{Name: "elasticsearch", URL: "http://y"}}},
		Data:    bench.DataInfo{Name: "bundled", Hash: "aaaaaaaaaaaaaaaa"},
		Machine: bench.Machine{OS: "linux", Arch: "amd64", CPUModel: "model", CPUs: 8, MemoryBytes: 16 << 30},
	}
}

func compared(t *testing.T, before, after raw, o Options) Result {
	t.Helper()
	old, fresh := before.set(), after.set()
	if before.Run.ID != "" && before.Run.ID == after.Run.ID {
		fresh.Run = old.Run
	}
	r := testenv.Must(Compare(old, fresh, o))(t)
	return r
}

// describe returns everything that a result has, in the text of the command and a line for each
// row.
func describe(t *testing.T, r Result) string {
	t.Helper()
	var b strings.Builder
	testenv.OK(t, r.Text(&b, 0))
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.2g", *v)
	}
	for _, c := range r.Contenders {
		fmt.Fprintf(&b, "# comparable %v, excluded %v", c.Comparable, c.excluded)
		for _, l := range []Trials{c.OldTrials, c.NewTrials} {
			fmt.Fprintf(&b, "; %d of %d complete, %d by hand, errors %.2g", l.Complete, l.Seen, l.ChangedByHand, l.Errors)
		}
		b.WriteString("\n")
		for _, row := range c.Rows {
			if row.Verdict == stats.Same && row.More == 0 && row.NotComparable == "" && !row.Paired && !row.BelowFloor {
				continue // as the text says
			}
			fmt.Fprintf(&b, "# %s: %d and %d rounds, %s, p %s (%s), %d more, paired %v, below %v; %s\n", row.Measure,
				len(row.Old.Rounds), len(row.New.Rounds), row.Verdict, number(row.P), number(row.PHolm), row.More, row.Paired,
				row.BelowFloor, row.NotComparable)
		}
	}
	return hashes.ReplaceAllString(b.String(), "HASH")
}

// hashes matches the starts of hashes, which change with the fields of a profile.
var hashes = regexp.MustCompile("[0-9a-f]{12}")

// threaded makes a contender have threads at the end of each step.
func threaded(n int) change {
	return func(l *bench.TrialResult) {
		for i := range l.Steps {
			after := *l.Steps[i].After
			after.Threads = &n
			l.Steps[i].After = &after
		}
	}
}
