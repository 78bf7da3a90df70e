package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// gone is an instance whose process has ended according to the kernel.
type gone struct {
	*fakeInstance
	is bool
}

func (g gone) Gone() bool { return g.is }

// TestExited: the kernel knows of the exit at once, the runtime reports it later.
func TestExited(t *testing.T) {
	killed := bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
	for name, tt := range map[string]struct {
		gone    bool
		reports time.Duration // when the runtime reports the exit; 0: never
		want    bool
		waits   time.Duration
	}{
		"runs":                  {false, 0, false, 0},
		"reported seconds late": {true, 12 * time.Second, true, 12 * time.Second},
		"never reported":        {true, 0, false, exitTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst := gone{newFakeInstance(bench.InstanceInfo{}), tt.gone}
				if tt.reports > 0 {
					time.AfterFunc(tt.reports, func() { inst.die(killed) })
				}
				l, began := &trialRun{inst: inst}, time.Now()
				if got := l.exited(t.Context()); got != tt.want || time.Since(began) != tt.waits {
					t.Errorf("exited: %v after %v", got, time.Since(began))
				}
			})
		})
	}
}

// said is an instance with a log.
type said struct {
	*fakeInstance
	log []string
}

func (s said) Logs() (lines []bench.LogLine) {
	for _, text := range s.log {
		lines = append(lines, bench.LogLine{Text: text})
	}
	return lines
}

// TestCause_Log: one sentence with the line that explains it; the log follows once.
func TestCause_Log(t *testing.T) {
	trace := []string{"node:internal/loader", "  throw err;", "Error: cannot read config.json", "    at main", "Node.js v18"}
	for name, tt := range map[string]struct {
		exit *bench.Exit
		want string
	}{
		"exits":            {&bench.Exit{Code: 1}, "the contender died: exit code 1: Error: cannot read config.json"},
		"does not respond": {nil, "not ready after 20s; its log: Error: cannot read config.json"},
		"killed":           {&bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}, "killed out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.only(1)
				f.site.launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
					inst, err := f.launcher.Launch(ctx, spec)
					return said{inst.(*fakeInstance), trace}, err
				})
				f.ready(func(_ context.Context, inst bench.Instance, _ bench.Service) error {
					if tt.exit != nil {
						inst.(said).die(*tt.exit)
					}
					return errors.New("not ready after 20s")
				})
			})
			trial := f.first()
			testenv.Check(t, trial.Failure == tt.want && len(trial.LastLog) == len(trace),
				"%q, want %q; log %+v", trial.Failure, tt.want, trial.LastLog)
			c := trial.WhyFailed()
			testenv.Check(t, tt.exit == nil || c != nil && c.String() == tt.want, "cause %+v, want %q", c, tt.want)
		})
	}
}

// TestRun_IgnoredSIGTERM: a contender that ignored SIGTERM in its first round is killed at
// once in later ones, unless a check times the stop or the teardown had no response.
func TestRun_IgnoredSIGTERM(t *testing.T) {
	twice := []time.Duration{15 * time.Second, 15 * time.Second}
	for name, c := range map[string]struct {
		change func(*fakeRun)
		graces []time.Duration // of contender a in its rounds
		warned int
	}{
		"ignores it":                {func(f *fakeRun) { f.launcher.killed = true }, []time.Duration{15 * time.Second, 0}, 1},
		"handles it, does not stop": {func(f *fakeRun) { f.launcher.killed, f.launcher.handles = true, true }, twice, 0},
		"handles it, after another failure": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.site.ask = func(context.Context, Place) error { return errors.New("got 404") }
		}, twice, 2},
		"stops on it": {func(*fakeRun) {}, twice, 0},
		"its stop is checked": {func(f *fakeRun) {
			f.launcher.killed = true
			f.cfg.Run.Profile.Checks.Lifecycle = []string{bench.CheckStops}
		}, twice, 2},
		"teardown without response": {func(f *fakeRun) {
			f.launcher.killed = true
			f.site.setUp = func(context.Context, Place) error { return nil }
			f.site.tearDown = func(context.Context, Place) error { return timeoutError{"i/o timeout"} }
		}, twice, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, c.change)
			var graces []time.Duration
			for _, inst := range f.launcher.instances {
				if strings.HasPrefix(inst.name, "a-") {
					graces = append(graces, inst.grace)
				}
			}
			graces = graces[1:] // without that of the lifecycle checks
			warned := 0
			for _, r := range f.records {
				if n, ok := r.Event.(bench.Notice); ok && n.Kind == bench.WarnHung && r.Trial.Contender == "a" {
					warned++
				}
			}
			testenv.Check(t, slices.Equal(graces, c.graces) && warned == c.warned,
				"graces %v, want %v; warned %d times, want %d", graces, c.graces, warned, c.warned)
			last := f.trials["a-2"].Stop
			testenv.Check(t, c.graces[1] != 0 || last.Killed && last.Forced, "stop %+v", last)
		})
	}
}

// TestLogRelay_OnceASecond: lines are published within a second, at most one event per second.
func TestLogRelay_OnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var published []time.Duration
		var lines []int
		began := time.Now()
		r := &logRelay{publish: func(e bench.LogLines) {
			published, lines = append(published, time.Since(began)), append(lines, len(e.Lines))
		}}
		for range 5 {
			r.add(bench.LogLine{Text: "x"})
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		r.add(bench.LogLine{Text: "x"})
		r.flush(true)
		r.add(bench.LogLine{Text: "late"})
		time.Sleep(2 * time.Second) // for the timer of the last event
		want := []time.Duration{time.Second, 2200 * time.Millisecond, 61500 * time.Millisecond}
		testenv.Equal(t, published, want, "published at")
		testenv.Equal(t, lines, []int{4, 1, 1}, "lines")
	})
}

func TestLogRelay_Bounded(t *testing.T) {
	var got []bench.LogLines
	r := &logRelay{publish: func(e bench.LogLines) { got = append(got, e) }}
	for range 5000 {
		r.add(bench.LogLine{Text: strings.Repeat("é", 5000)})
	}
	r.flush(true)
	var lines int
	var dropped int64
	for _, e := range got {
		lines += len(e.Lines)
		dropped += e.Dropped
		for _, l := range e.Lines {
			testenv.Need(t, len(l.Text) <= relayBytes+4 && !strings.ContainsRune(l.Text, '\ufffd'),
				"line of %d bytes", len(l.Text))
		}
	}
	testenv.Check(t, int64(lines)+dropped == 5000 && lines != 0 && lines <= 10*relayLines,
		"%d lines and %d dropped of 5000", lines, dropped)
}

// TestLogRelay_MasksBeforeItCuts: a secret across the cut does not stay in part.
func TestLogRelay_MasksBeforeItCuts(t *testing.T) {
	const secret = "hunter2hunter2"
	var got bench.LogLines
	r := &logRelay{publish: func(e bench.LogLines) { got = e }, masked: func(l bench.LogLine) bench.LogLine {
		l.Text = strings.ReplaceAll(l.Text, secret, "***")
		return l
	}}
	r.add(bench.LogLine{Text: strings.Repeat("x", relayBytes-7) + secret})
	r.flush(true)
	testenv.Check(t, len(got.Lines) == 1 && !strings.Contains(got.Lines[0].Text, "hunter"), "%+v", got)
}

// TestLogRelay_Excerpt: the first lines stay when the instance has dropped them.
func TestLogRelay_Excerpt(t *testing.T) {
	r := &logRelay{publish: func(bench.LogLines) {}}
	var tail []bench.LogLine
	for n := range 1000 {
		line := bench.LogLine{Text: fmt.Sprint(n)}
		r.add(line)
		tail = append(tail, line)
	}
	r.flush(true)
	kept := r.excerpt(tail[500:])
	var texts []string
	for _, l := range kept {
		texts = append(texts, l.Text)
	}
	// 30 lines: the first 10 of the log, the first 10 of its last burst, the last 10.
	want := "0 1 2 3 4 5 6 7 8 9 … 490 lines … 500 501 502 503 504 505 506 507 508 509 … 480 lines … " +
		"990 991 992 993 994 995 996 997 998 999"
	testenv.Equal(t, strings.Join(texts, " "), want, len(kept), kept)
}

// TestDescribeBuild: what a run says of a build, and of a health check that is off.
func TestDescribeBuild(t *testing.T) {
	for want, a := range map[string]bench.Artifact{
		"a: ready":                  {},
		"a: unchanged, not rebuilt": {BuildCached: true, BuildTime: time.Second},
		"a: built in 1.23s":         {BuildTime: 1234 * time.Millisecond},
		"a: unchanged, not rebuilt; the health check of its image is off": {BuildCached: true, Healthcheck: true},
	} {
		testenv.Equal(t, describeBuild(bench.Selection{Contender: "a"}, a), want)
	}
}

// A clock that is set is reported once, with the amount and the sign; a small correction is not.
func TestClockMoved(t *testing.T) {
	for was, want := range map[time.Duration]time.Duration{
		0: 0, 400 * time.Millisecond: 0, -400 * time.Millisecond: 0, // less than clockStep
		3 * time.Second: -3 * time.Second, -time.Hour: time.Hour,
	} {
		c := &clock{began: time.Now(), off: was}
		if got, set := c.moved(); got.Round(time.Millisecond) != want || set != (want != 0) {
			t.Errorf("off by %v: moved by %v (%v), want %v", was, got, set, want)
		}
		again, set := c.moved()
		testenv.Check(t, !set, "off by %v: reported again, %v", was, again)
	}
}

// TestRun_BoundsOfTheTeardown: a teardown without responses ends within a minute; within five seconds
// once the run was interrupted; and at once when the user forces the end.
func TestRun_BoundsOfTheTeardown(t *testing.T) {
	responding := func(context.Context, Place) error { return nil }
	for name, c := range map[string]struct {
		interrupt time.Duration // after the teardown began; negative: before it; 0: never
		force     time.Duration // after the interruption; 0: never
		silent    bool          // the contender does not respond
		want      time.Duration
		says      string
	}{
		"of a whole trial":       {0, 0, false, time.Minute, "took too long"},
		"of a silent contender":  {0, 0, true, 5 * time.Second, "took too long"},
		"of an interrupted run":  {-1, 0, false, 5 * time.Second, "took too long"},
		"interrupted meanwhile":  {20 * time.Second, 0, false, 25 * time.Second, "took too long"},
		"interrupted at the end": {59 * time.Second, 0, false, time.Minute, "took too long"},
		"forced":                 {-1, 2 * time.Second, false, 2 * time.Second, "the end was forced"},
		"forced before it":       {-1, -1, false, 0, "the end was forced"},
	} {
		t.Run(name, func(t *testing.T) {
			var took time.Duration
			f := start(t, func(f *fakeRun) {
				f.only(1)
				force := make(chan struct{})
				f.ctx = bench.WithForce(f.ctx, force)
				f.site.setUp = responding
				f.site.ask = func(context.Context, Place) error {
					if c.silent {
						return timeoutError{"i/o timeout"}
					}
					if c.interrupt < 0 {
						f.interrupt(errors.New("interrupted"))
					}
					if c.force < 0 {
						close(force)
					}
					return nil
				}
				f.site.tearDown = func(ctx context.Context, at Place) error {
					testenv.Check(t, at.Trial.Contender != "" && strings.HasSuffix(at.BaseURL, at.Trial.String()),
						"sent to %+v", at)
					if c.interrupt > 0 {
						time.AfterFunc(c.interrupt, func() { f.interrupt(errors.New("interrupted")) })
					}
					if c.force > 0 {
						time.AfterFunc(c.force, func() { close(force) })
					}
					took = f.ends(ctx)
					return &Unsent{Requests: []string{"b"}, Of: 2, Begun: true, Why: context.Cause(ctx)}
				}
			})
			testenv.Equal(t, took, c.want, "ended after")
			var said string
			for _, r := range f.records {
				if e, ok := r.Event.(bench.Notice); ok {
					said += e.Text + "\n"
				}
			}
			testenv.Contains(t, said, c.says, "1 of 2 requests", "may be left at")
		})
	}
}
