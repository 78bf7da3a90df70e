package runs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

var now = time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)

// changed returns a folder with another start and other changes. It shares nothing that they may
// set.
func changed(f tuitest.Folder, dir string, later time.Duration, changes ...func(*tuitest.Folder)) tuitest.Folder {
	f.Dir = "results/" + dir
	f.Run.Trials, f.Trials = slices.Clone(f.Run.Trials), slices.Clone(f.Trials)
	f.Run.Started, f.Run.Ended = f.Run.Started.Add(later), f.Run.Ended.Add(later)
	for _, change := range changes {
		change(&f)
	}
	return f
}

// someFolders returns published and recorded runs in different states, and a broken folder.
func someFolders(t testing.TB) tuitest.Folders {
	const day = 24 * time.Hour
	limits := tuitest.FolderOf("", tuitest.Records(t, "limits"))
	limits.Run.Given = []string{"locbench", "run", "--profile=quick", "--cpus=0.4", "--memory=64MiB", "go-nethttp"}
	faults := tuitest.FolderOf("", tuitest.Records(t, "faults"))
	folders := tuitest.Folders{
		changed(limits, "20261127-015500-quick", 5*day+10*time.Hour, func(f *tuitest.Folder) {
			f.Live, f.Run.State, f.Run.Ended = true, bench.RunRunning, time.Time{}
			f.Run.Trials[2].State, f.Run.Trials[3].State, f.Trials = bench.TrialRunning, bench.TrialPending, f.Trials[:3]
		}),
		changed(limits, "20261125-080000-quick", 3*day+16*time.Hour, func(f *tuitest.Folder) {
			f.Run.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlPause}}}
		}),
		changed(limits, "20261124-081500-quick", 2*day+17*time.Hour, func(f *tuitest.Folder) {
			f.Run.State, f.Run.Resumed = bench.RunInterrupted, []time.Time{now}
			f.Run.Trials[3].State, f.Trials = bench.TrialAborted, f.Trials[:3]
		}),
		changed(faults, "20261123-155149-faulty", 2*day, func(f *tuitest.Folder) { f.Run.Profile.Name = "faulty" }),
	}
	for _, name := range []string{"delay-matrix", "locations", "cold-warm", "burst"} {
		run, trials, err := results.Read(filepath.Join("..", "..", "..", "..", "testdata", "results", name))
		testenv.OK(t, err)
		folders = append(folders, tuitest.Folder{Dir: "results/" + run.ID + "-" + name, Run: run, Trials: trials})
	}
	return append(folders, tuitest.Folder{Dir: "results/copied from elsewhere",
		Broken: errors.New("run.json: line 17: invalid character ']' looking for beginning of value")})
}

// few are the recorded runs and the broken folder alone.
func few(all tuitest.Folders) tuitest.Folders { return append(all[:4:4], all[len(all)-1]) }

// leads are messages in place of the pages that a page leads to.
func leads(words ...string) tea.Cmd { return ui.Cmd(ui.TellMsg{Text: strings.Join(words, " ")}) }

// page returns the page of folders, with what opens it and presses keys.
func page(folders tuitest.Folders, keys ...string) tuitest.Page {
	return tuitest.Page{Keys: keys, New: func(*testing.T) ui.Page {
		return New(Options{Source: folders, Roots: "results/", Report: folders.Report,
			Open:    func(dir string) tea.Cmd { return leads("open", dir) },
			Compare: func(a, b string) tea.Cmd { return leads("compare", a, b) },
			Start:   func(args []string) tea.Cmd { return leads(append([]string{"start"}, args...)...) }})
	}}
}

var full = tuitest.Size{Width: 120, Height: 40}

// shows presses keys on the page and looks at the frame.
func shows(t *testing.T, folders tuitest.Folders, keys string, parts ...string) {
	t.Helper()
	page(folders, strings.Fields(keys)...).Play(t, full, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), parts...)
	})
}

func TestFrames(t *testing.T) {
	folders := someFolders(t)
	c := page(folders, "down", "space", "down", "down", "down", "down")
	c.Frames(t, "runs")
	c.Light(t, "runs")
	for _, keys := range []string{"end", "/ f a u l t", "/ x x"} {
		page(few(folders), strings.Fields(keys)...).Whole(t)
	}
	page(nil).Whole(t)
}

func TestWhatARunSays(t *testing.T) {
	folders := someFolders(t)
	shows(t, folders, "", "past runs   1 to 6 of 9 in results/", "▶ running, 2 of 4 trials", "/: no filter")
	shows(t, folders, "down", "differs from the profile", "vs 24 Nov", "differs from the profile: --cpus 0.4 --memory 64MiB")
	shows(t, folders, "down down", "○ interrupted, 3 of 4 trials", "resumed 1 time", "R resume")
	shows(t, folders, "end", "✗ run.json: line 17", "remedy")
	shows(t, folders, "/ i n t e r", "1 in results/", "enter keep")
	shows(t, folders, "/ x x", "No match; esc clears the filter.")
	shows(t, folders, "/ x x esc", "9 in results/")
	shows(t, folders, "down down down down", "2 of 9", "more lines: enter")
	shows(t, nil, "", "No runs in results/ yet")
}

func TestKeysLeadOn(t *testing.T) {
	folders := few(someFolders(t))
	const again = "start --profile=quick --cpus=0.4 --memory=64MiB go-nethttp"
	for keys, want := range map[string]string{
		"enter": "open results/20261127-015500-quick", "end enter": "line 17",
		"down r": "report results/20261125-080000-quick/report.html", "end r": "line 17",
		"down y":            "copied command: locbench run --profile=quick --cpus=0.4 --memory=64MiB go-nethttp",
		"end y":             "line 17",
		"down s":            "locbench run --profile=quick --cpus=0.4 --memory=64MiB go-nethttp",
		"down s enter":      again,
		"down s 1":          again,
		"down down down s":  "its record has no command",
		"down R":            "past runs   5 in results/",
		"down down R":       "locbench run --resume results/20261124-081500-quick",
		"down down R enter": "start --resume results/20261124-081500-quick",
		"down c":            "compare results/20261124-081500-quick results/20261125-080000-quick",
		"down down space c": "compare results/20261124-081500-quick results/20261124-081500-quick",
		"down space down c": "compare results/20261124-081500-quick results/20261125-080000-quick",
		"end space":         "line 17", "down space end c": "line 17",
	} {
		t.Run(keys, func(t *testing.T) { shows(t, folders, keys, want) })
	}
}

// rounds returns the folder of a run of ten rounds with a number of successes each.
func rounds(dir string, later time.Duration, successes int64) tuitest.Folder {
	var trials []bench.TrialResult
	for round := 1; round <= 10; round++ {
		trials = append(trials, benchtest.Trial("a", round, benchtest.Step(successes+int64(7*round%5))))
	}
	run := benchtest.Run(trials...)
	run.ID = dir
	return changed(tuitest.Folder{Run: run, Trials: trials}, dir, later)
}

func TestTheRunBefore(t *testing.T) {
	before, old := rounds("before", 0, 10_000), rounds("old", -time.Hour, 20_000)
	clock := before.Run.Started.Format("vs _2 Jan 15:04")
	day := before.Run.Started.Format("vs _2 Jan")
	shows(t, tuitest.Folders{rounds("after", time.Minute, 9_000), before, old}, "", clock+": worse −10.0%", "first of its profile")
	shows(t, tuitest.Folders{rounds("after", 24*time.Hour, 9_000), before, old}, "", day+": worse −10.0%")
	live, empty := rounds("live", time.Second, 5_000), rounds("empty", 2*time.Second, 5_000)
	live.Live, empty.Run.Trials = true, nil
	shows(t, tuitest.Folders{rounds("after", time.Minute, 9_000), live, empty, before, old}, "", clock+": worse −10.0%")
	before.Broken = errors.New("x")
	shows(t, tuitest.Folders{rounds("after", time.Minute, 20_000), before, old}, "", ": same")
}

// TestTheCommandIsShownWhole: a command that does not fit in the question is not started.
func TestTheCommandIsShownWhole(t *testing.T) {
	folders := someFolders(t)[:4]
	folders[1].Run.Given = append(folders[1].Run.Given, strings.Repeat("--set=a ", 60))
	for size, asks := range map[tuitest.Size]bool{full: true, {Width: 40, Height: 12}: false} {
		page(folders, "down", "s").Play(t, size, tuitest.Look{}, func(p *tuitest.Program) {
			testenv.Equal(t, strings.Contains(p.Frame(), "Run it again?"), asks, size)
			p.Press("enter")
			testenv.Equal(t, strings.Contains(p.Frame(), "start --profile"), asks, size)
		})
	}
	folders[1].Run.Given = append(folders[1].Run.Given[:3], "--header=Authorization: ***")
	shows(t, folders, "down s", "a secret, which the record does not keep")
	folders[1].Run.Given[3] = "--duration=\u202e1s"
	shows(t, folders, "down s", "invisible characters")
}

// TestBounds: folders may be many.
func TestBounds(t *testing.T) {
	folders := someFolders(t)[1:2]
	runs := New(Options{Source: folders})
	for i := range maxKnown {
		runs.known[fmt.Sprint(i)] = &known{}
	}
	c := tuitest.Page{New: func(*testing.T) ui.Page { return runs }}
	c.Play(t, full, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Equal(t, len(runs.known), 1, "folders")
	})
}

func TestTheCursorStaysOnItsRun(t *testing.T) {
	folders := someFolders(t)[:4]
	runs := New(Options{Source: folders})
	c := tuitest.Page{Keys: []string{"down", "space", "down"}, New: func(*testing.T) ui.Page { return runs }}
	c.Play(t, full, tuitest.Look{}, func(p *tuitest.Program) {
		runs.options.Source = folders[1:]
		p.Press("f5")
		testenv.Check(t, runs.grid.Row() == 1 && runs.list.marked == folders[1].Dir, "at %d, marked %q", runs.grid.Row(), runs.list.marked)
		runs.options.Source = folders[2:]
		p.Tick(now) // a second that does not read again, since no run is in progress
		testenv.Equal(t, len(runs.list.entries), len(folders)-1)
		p.Press("f5")
		testenv.Check(t, runs.grid.Row() == 0 && runs.list.marked == "", "at %d, marked %q", runs.grid.Row(), runs.list.marked)
	})
}

func TestARunInProgressIsReadAgain(t *testing.T) {
	folders := someFolders(t)[:4]
	runs := New(Options{Source: folders})
	c := tuitest.Page{New: func(*testing.T) ui.Page { return runs }}
	c.Play(t, full, tuitest.Look{}, func(p *tuitest.Program) {
		runs.options.Source = tuitest.Folders{changed(folders[0], "20261127-015500-quick", time.Minute, func(f *tuitest.Folder) {
			f.Run.Given = []string{"locbench", "run", "--seed=7"}
		})}
		p.Tick(now.Add(time.Second))
		testenv.Equal(t, len(runs.list.entries), len(folders))
		p.Tick(now.Add(again * time.Second))
		testenv.Equal(t, len(runs.list.entries), 1)
		testenv.Contains(t, p.Frame(), "differs from the profile: --seed 7")
		p.Press("down", "R")
		testenv.Check(t, !strings.Contains(p.Frame(), "Resume it?"), "a run in progress is resumed")
	})
}

const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u0301\u200d👩‍👩‍👧‍👦\xff\n\r\t日本語 "

func TestHostileFolders(t *testing.T) {
	long := hostile + strings.Repeat("x", 1<<16)
	folders := few(someFolders(t))
	for i := range folders {
		f := &folders[i]
		if f.Broken != nil {
			f.Broken = errors.New(long)
		}
		f.Dir = fmt.Sprintf("results/%d%s", i, long)
		f.Run.State, f.Run.Profile.Name, f.Run.Needs = bench.RunState(long), long, []bench.NeedInfo{{Name: long}}
		f.Run.Given, f.Run.Machine.Load1, f.Run.Profile.Runtime = []string{"locbench", "run", "--x=" + long}, long, bench.Runtime(long)
		f.Run.Warnings = bench.Warnings{{Text: long}, {Text: hostile}}
		f.Run.ManualChanges = []bench.ManualChange{{Control: bench.Control{Kind: bench.ControlKind(long)}}}
		f.Run.Profile.Contenders = []bench.Selection{{Contender: long}, {Contender: hostile, Variant: long}}
		for j := range f.Trials {
			f.Trials[j].Trial.Contender, f.Trials[j].Trial.Variant = hostile, long
			f.Trials[j].Failure, f.Trials[j].Warnings = long, bench.Warnings{{Text: hostile}}
			f.Trials[j].Steps = slices.Clone(f.Trials[j].Steps)
			for k := range f.Trials[j].Steps {
				f.Trials[j].Steps[k].Step.Name, f.Trials[j].Steps[k].Step.Connections = long, 0
			}
		}
	}
	folders[1].Run.Started = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, ascii := range []bool{false, true} {
		page(folders).Play(t, full, tuitest.Look{ASCII: ascii}, func(p *tuitest.Program) {
			for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 33, Height: 9}, {Width: 80, Height: 24}, full, {Width: 200, Height: 50}} {
				p.Resize(size)
				p.Press("home")
				for range folders {
					p.Frame()
					p.Press("space", "down")
				}
			}
		})
	}
}
