package compare

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

var now = time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)

const dirA, dirB = "results/20261121-154953-quick", "results/20261122-091500-quick"

func opened(t testing.TB, folders tuitest.Folders, a, b string) *Screen {
	t.Helper()
	s := New(a, b, folders)
	s.Update(ui.Resized{Width: 80, Height: 23})
	tuitest.Settle(s, s.Init(), nil)
	return s
}

// two returns a recorded run twice, with its rounds repeated the given times. The second one is
// faster by factor and changed by change.
func two(t testing.TB, times int, factor float64, change func(*tuitest.Folder)) tuitest.Folders {
	t.Helper()
	records := tuitest.Records(t, "limits")
	a := tuitest.FolderOf(dirA, moreRounds(records, times, 1))
	b := tuitest.FolderOf(dirB, moreRounds(records, times, factor))
	b.Run.Started = b.Run.Started.Add(17 * time.Hour)
	if change != nil {
		change(&b)
	}
	return tuitest.Folders{a, b}
}

func TestViews(t *testing.T) {
	s := New(dirA, dirB, nil)
	s.loading = true
	tuitest.Shows(t, s, now, "reading")

	s = opened(t, two(t, 3, 1.1, nil), dirA, dirB)
	tuitest.Golden(t, s, "six-rounds", now)
	for i, want := range []string{"B is better: +10.0% (+8.2% to +11.8%)", "▸2 steps", "▸3 charts", "inconclusive, ~26 more rounds",
		"Only the contenders differ."} {
		tuitest.Press(s, nil, fmt.Sprint(i+1))
		tuitest.Shows(t, s, now, want, "6 rounds")
	}

	s = opened(t, two(t, 1, 0.9, func(b *tuitest.Folder) {
		p := &b.Run.Profile
		p.Limits.CPUs, p.Limits.Memory = 1.5, 512<<20
		b.Run.Machine.Kernel, b.Run.Software.Locbench, p.Name = "6.12.0-amd64", "0.2.0", "mine"
	}), dirA, dirB)
	tuitest.Shows(t, s, now, "Not comparable: different limits", "also: kernel, locbench", "not comparable")
	tuitest.Press(s, nil, "5")
	tuitest.Shows(t, s, now, "6.12.0-amd64", "may affect", "0.1.0-dev")

	// One round, the second contender on one side only, different steps.
	s = opened(t, two(t, 1, 1, func(b *tuitest.Folder) {
		b.Trials = append([]bench.TrialResult(nil), b.Trials[:2]...)
		b.Trials[1].Trial.Contender, b.Trials[1].Trial.Variant = "rs-actix", "lto"
		for i := range b.Trials {
			b.Trials[i].Steps = append([]bench.StepResult(nil), b.Trials[i].Steps[1:]...)
		}
	}), dirA, dirB)
	tuitest.Press(s, nil, "2")
	tuitest.Shows(t, s, now,
		"▸2 steps", "A verdict and a 95% CI need 6 or more rounds on both sides.", "need ≥ 6 rounds")
	tuitest.Press(s, nil, "4", "down")
	tuitest.Shows(t, s, now, "not in this run", "▸ go-nethttp:release", "only in A", "rs-actix:lto", "only in B")
	tuitest.Press(s, nil, "b", "b", "1")
	tuitest.Shows(t, s, now, "A go-nethttp:release", "B rs-actix:lto", "▸1 results")

	faults := tuitest.FolderOf("results/faulty", tuitest.Records(t, "faults"))
	s = opened(t, tuitest.Folders{faults}, faults.Dir, faults.Dir)
	tuitest.Shows(t, s, now, "B my-oom", "0 of 1 rounds complete", "✓ same run: same machine, limits and load")

	s = opened(t, tuitest.Folders{faults}, faults.Dir, dirB)
	tuitest.Shows(t, s, now, "cannot compare", "results/20261122-091500-quick: file does not exist")
}

func plain(s *Screen, w, h int) string {
	return strings.Join(tuitest.View(s, tuitest.Size{Width: w, Height: h}, ui.NewLook(ui.LookOptions{NoColor: true}), now), "\n")
}

func TestKeysChoosePairs(t *testing.T) {
	s := opened(t, two(t, 1, 1, nil), dirA, dirB)
	is := func(keys, a, b string) {
		t.Helper()
		tuitest.Press(s, nil, strings.Fields(keys)...)
		testenv.Check(t, s.set.a.Label == a && s.set.b.Label == b, "%s: %q against %q, want %q and %q", keys,
			s.set.a.Label, s.set.b.Label, a, b)
	}
	const n, r = "go-nethttp", "go-nethttp:release"
	is("", n, n)
	is("down", r, r)
	is("down", n, n)
	is("up", r, r)
	is("a", n, r)
	is("b", n, n)
	is("B A", r, r)
	is("a x", r, n)
	testenv.Check(t, s.a.dir == dirB && s.dirs[0] == dirB, "swapped, A is %s", s.a.dir)
	is("x", n, r)
	var msgs []tea.Msg
	tuitest.Press(s, func(m tea.Msg) { msgs = append(msgs, m) }, "esc")
	testenv.Check(t, len(msgs) == 1 && msgs[0] == (ui.Back{}), "esc: %v", msgs)
}

func TestVerdictNeedsEnoughRounds(t *testing.T) {
	testenv.Contains(t, plain(opened(t, two(t, 1, 2, nil), dirA, dirB), 120, 40), "need ≥ 6 rounds", "!B is better")
	testenv.Contains(t, plain(opened(t, two(t, 3, 2, nil), dirA, dirB), 120, 40), "B is better")
	view := plain(opened(t, two(t, 3, 2, func(b *tuitest.Folder) { b.Run.Data.Hash = "other" }), dirA, dirB), 120, 40)
	testenv.Contains(t, view, "!B is better", "Not comparable: different data")
}

func TestMouseAndScrolling(t *testing.T) {
	s := opened(t, two(t, 1, 1, func(b *tuitest.Folder) {
		b.Run.Machine = bench.Machine{OS: "linux", CPUs: 64, Kernel: "x", Governor: "powersave", CgroupVersion: 2}
		b.Run.Software = bench.Software{Locbench: "x", Go: "x", Docker: "x"}
		b.Run.Profile = bench.Profile{Name: "x", Rounds: 9}
		b.Run.Needs, b.Run.Data = []bench.NeedInfo{{Name: "elasticsearch", Kind: "external", Version: "x", URL: "http://x"}}, bench.DataInfo{}
	}), dirA, dirB)
	plain(s, 80, 24)
	s.Update(tea.MouseClickMsg{X: s.ends[differences] - 1, Y: s.tabLine, Button: tea.MouseLeft})
	testenv.Need(t, s.tab == differences, "a click on a name leads to page %d", s.tab)
	top := plain(s, 80, 18)
	tuitest.Press(s, nil, "end")
	bottom := plain(s, 80, 18)
	if top == bottom || !strings.Contains(top, "more (pgdn)") || strings.Contains(bottom, "more (pgdn)") {
		t.Errorf("scrolled:\n%s\n%s", top, bottom)
	}
	tuitest.Press(s, nil, "home")
	s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	testenv.Equal(t, s.scroll, 3, "the wheel scrolls by")
	if plain(s, 80, 50); s.scroll != 0 {
		t.Errorf("everything is in sight, scrolled by %d", s.scroll)
	}
}

const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u0301\u200d👩‍👩‍👧‍👦\xff\n\r\t日本語 "

func TestHostileRuns(t *testing.T) {
	long := hostile + strings.Repeat("x", 1<<16)
	spoil := func(f *tuitest.Folder) {
		f.Trials = append([]bench.TrialResult(nil), f.Trials...)
		for i := range f.Trials {
			trial := &f.Trials[i]
			trial.Trial.Contender, trial.Trial.Variant, trial.Service.Version = hostile+trial.Trial.Contender, long, f.Dir+long
			trial.Steps = append([]bench.StepResult(nil), trial.Steps...)
			for j := range trial.Steps {
				trial.Steps[j].Step.Name, trial.Steps[j].Step.Connections = long, 0
				trial.Steps[j].Load.Elapsed, trial.Steps[j].Load.Succeeded = time.Duration(j-1), 1<<62
			}
		}
		r := &f.Run
		r.Profile.Name, r.Profile.Runtime = f.Dir+long, bench.Runtime(f.Dir+long)
		r.Profile.Limits = bench.Limits{CPUs: -1e300, Memory: -1 << 63}
		r.Profile.Requests = []bench.Request{{Method: long, Path: f.Dir + hostile}}
		r.Machine = bench.Machine{OS: long, Kernel: f.Dir + long, CPUModel: f.Dir + hostile, CPUs: -1}
		r.Software.Locbench, r.Data.Hash, r.Needs, r.Targets = f.Dir+long, f.Dir+long, []bench.NeedInfo{{Name: f.Dir + long, Kind: bench.StoreKind(f.Dir + long)}}, []bench.Target{{Name: "target", URL: f.Dir + long}}
		f.Dir += hostile
	}
	folders := two(t, 1, 1, spoil)
	spoil(&folders[0])
	s := opened(t, folders, folders[0].Dir, folders[1].Dir)
	testenv.Need(t, s.set != nil, "%v", s.err)
	s.a.note = long
	for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 33, Height: 9}, {Width: 60, Height: 20}, {Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 50}} {
		for _, ascii := range []bool{false, true} {
			for i := range tabNames {
				tuitest.Press(s, nil, fmt.Sprint(i+1))
				tuitest.Exact(t, tuitest.View(s, size, ui.NewLook(ui.LookOptions{ASCII: ascii}), now), size, ascii)
			}
		}
	}
	s.Update(loaded{screen: s, err: errors.New(long)})
	for _, size := range tuitest.Sizes() {
		tuitest.Exact(t, tuitest.View(s, size, ui.NewLook(ui.LookOptions{ASCII: true}), now), size, true)
	}
}

// TestOpensOnComparablePair: it opens on two contenders with results, preferably of the same name.
func TestOpensOnComparablePair(t *testing.T) {
	rename := func(f *tuitest.Folder, from, to string) {
		for i := range f.Trials {
			if f.Trials[i].Trial.Label() == from {
				f.Trials[i].Trial.Contender, f.Trials[i].Trial.Variant = to, ""
			}
		}
	}
	for name, c := range map[string]struct {
		change func(b *tuitest.Folder)
		a, b   string
	}{
		"the same contenders":        {nil, "go-nethttp", "go-nethttp"},
		"the first one is only here": {func(b *tuitest.Folder) { rename(b, "go-nethttp", "another") }, "go-nethttp:release", "go-nethttp:release"},
		"the first one did nothing there": {func(b *tuitest.Folder) {
			for i := range b.Trials {
				if b.Trials[i].Trial.Label() == "go-nethttp" {
					b.Trials[i].Steps = nil
				}
			}
		}, "go-nethttp:release", "go-nethttp:release"},
		"none in common": {func(b *tuitest.Folder) { rename(b, "go-nethttp", "another"); rename(b, "go-nethttp:release", "others") }, "go-nethttp", "another"},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, two(t, 1, 1, c.change), dirA, dirB)
			if a, b := s.set.a.Label, s.set.b.Label; a != c.a || b != c.b || s.set.a.Peak < 0 || s.set.b.Peak < 0 {
				t.Errorf("%s: opens on %q and %q, want %q and %q", name, a, b, c.a, c.b)
			}
		})
	}
}

// moreRounds repeats the rounds of a recorded run the given times, each round a little faster than
// the one before, and all of them by factor.
func moreRounds(records []bench.Record, times int, factor float64) []bench.Record {
	first, last := records[0].At, records[len(records)-1].At
	span := last.Sub(first) + time.Second
	most := 0
	for _, rec := range records {
		if rec.Trial != nil {
			most = max(most, rec.Trial.Round)
		}
	}
	var out []bench.Record
	for k := range times {
		for _, rec := range records {
			switch e := rec.Event.(type) {
			case bench.RunStarted:
				if k > 0 {
					continue
				}
				e.Run.Profile.Rounds *= times
				e.Run.Trials = nil
				for j := range times {
					for _, entry := range rec.Event.(bench.RunStarted).Run.Trials {
						entry.Trial.Round += j * most
						entry.File = entry.Trial.String() + ".json"
						e.Run.Trials = append(e.Run.Trials, entry)
					}
				}
				rec.Event = e
			case bench.RunEnded:
				if k < times-1 {
					continue
				}
			case bench.StepEnded:
				e.Result.Load.Succeeded = int64(float64(e.Result.Load.Succeeded) * factor * (1 + 0.004*float64(k)))
				rec.Event = e
			}
			if rec.Trial != nil {
				trial := *rec.Trial
				trial.Round += k * most
				rec.Trial = &trial
			}
			rec.At = rec.At.Add(time.Duration(k) * span)
			rec.Seq = int64(len(out) + 1)
			out = append(out, rec)
		}
	}
	return out
}
