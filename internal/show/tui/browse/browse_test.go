package browse

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

// someFolders returns two recorded runs, others in different states, and a broken folder.
func someFolders(t testing.TB) tuitest.Folders {
	limits := tuitest.FolderOf("results/20261121-154953-quick", tuitest.Records(t, "limits"))
	faults := tuitest.FolderOf("results/20261121-155149-faulty", tuitest.Records(t, "faults"))
	change := func(f tuitest.Folder, dir string, ago time.Duration, change func(*tuitest.Folder)) tuitest.Folder {
		f.Dir = dir
		f.Run.Trials = append([]bench.TrialEntry(nil), f.Run.Trials...)
		f.Run.Started, f.Run.Ended = f.Run.Started.Add(-ago), f.Run.Ended.Add(-ago)
		change(&f)
		return f
	}
	return tuitest.Folders{
		change(limits, "results/20261121-160501-locations", -15*time.Minute, func(f *tuitest.Folder) {
			f.Live, f.Run.State, f.Run.Ended, f.Run.Profile.Name = true, bench.RunRunning, time.Time{}, "locations"
			f.Run.Trials[2].State, f.Run.Trials[3].State, f.Trials = bench.TrialRunning, bench.TrialPending, f.Trials[:3]
		}),
		faults, limits,
		change(limits, "results/20261121-081500-quick", 7*time.Hour, func(f *tuitest.Folder) {
			f.Run.State, f.Run.Resumed = bench.RunInterrupted, []time.Time{now}
			f.Run.Trials[3].State, f.Trials = bench.TrialAborted, f.Trials[:3]
		}),
		change(limits, "results/20261120-201500-quick", 20*time.Hour, func(f *tuitest.Folder) {
			f.Run.State, f.Run.Trials[3].State, f.Trials = bench.RunRunning, bench.TrialPending, f.Trials[:2]
			f.Run.Profile.Contenders = []bench.Selection{{Contender: "go-nethttp"}, {Contender: "rs-actix", Variant: "lto"}, {Contender: "kt-http4k"}, {Contender: "py-fastapi"}}
		}),
		{Dir: "results/copied from elsewhere", Broken: errors.New("run.json: line 17: invalid character ']' looking for beginning of value")},
	}
}

// open returns the list of folders; with watch nil, a message names the watched folder.
func open(folders tuitest.Folders, watch func(string) tea.Cmd) *Screen {
	if watch == nil {
		watch = func(dir string) tea.Cmd { return ui.Cmd(ui.StatusMsg{Text: "watch " + dir}) }
	}
	compare := func(a, b string) tea.Cmd { return ui.Cmd(ui.StatusMsg{Text: "compare " + a + " with " + b}) }
	s := New(Options{Source: folders, Roots: "results", Watch: watch, Compare: compare})
	s.Update(ui.Resized{Width: 120, Height: 39})
	return s
}

// settled returns the list with everything in sight summarized.
func settled(folders tuitest.Folders) *Screen {
	for i := range folders {
		folders[i].Live = false // else the list is made again every few seconds
	}
	s := open(folders, nil)
	tuitest.Settle(s, s.Init(), nil)
	return s
}

func TestViews(t *testing.T) {
	folders := someFolders(t)
	s := open(folders, nil)
	tuitest.Shows(t, s, now, "looking for results")
	entries, left := folders.List()
	s.Update(listed{s, 0, nil, 0}) // outdated: ignored
	s.Init()
	s.Update(listed{s, s.round, entries, left})
	s.asking = ""
	tuitest.Shows(t, s, now, "6 folders in results", "▶ running", "reading")

	for s.asking = ""; ; s.asking = "" {
		cmd := s.ask()
		if cmd == nil {
			break
		}
		msg := cmd().(summarized)
		s.known[msg.dir] = msg.summary
	}
	tuitest.Golden(t, s, "list", now)
	tuitest.Press(s, nil, "down", "down", "space", "space", "up")
	tuitest.Shows(t, s, now,
		"6 folders, 2 marked in results", "results/20261121-081500-quick", "2 rounds: no ranking", "R copy resume")
	tuitest.Press(s, nil, "up", "up", "S", "s", "s", "s", "s", "s")
	tuitest.Shows(t, s, now, "peak/s↑", "results/20261121-160501-locations")
	tuitest.Press(s, nil, "/", "q", "u", "i", "c", "k", "space", "i", "n", "t")
	tuitest.Shows(t, s, now, "/quick int", "1 of 6 folders, 2 marked in results", "results/20261121-081500-quick")
	tuitest.Press(s, nil, "x")
	tuitest.Shows(t, s, now,
		"/quick intx", "0 of 6 folders, 2 marked in results", "No match; esc clears the filter.")
	tuitest.Press(s, nil, "esc", "end")
	tuitest.Shows(t, s, now,
		"results/20261121-155149-faulty", "✗ failed, took 53s, 1 round, 1.5 CPUs, 512 MiB, store embedded", "my-exit, round 1: the contender died: exit code 7")

	empty := open(nil, nil)
	tuitest.Settle(empty, empty.Init(), nil)
	tuitest.Shows(t, empty, now, "0 folders in results")
}

// asked returns the messages for the program that keys cause.
func asked(s *Screen, keys ...string) []tea.Msg {
	var out []tea.Msg
	tuitest.Press(s, func(msg tea.Msg) { out = append(out, msg) }, keys...)
	return out
}

func TestKeysLeadOn(t *testing.T) {
	s := settled(someFolders(t))
	if msgs := asked(s, "enter"); len(msgs) != 1 || msgs[0].(ui.StatusMsg).Text != "watch results/20261121-160501-locations" {
		t.Errorf("enter: %v", msgs)
	}
	if msgs := asked(s, "down", "r"); len(msgs) != 1 || msgs[0].(ui.StatusMsg).Text != "report results/20261121-155149-faulty/report.html" {
		t.Errorf("r: %v", msgs)
	}
	msgs := asked(s, "down", "y")
	want := "locbench run --headless -q go-nethttp go-nethttp:release --connections 1,8,64,256 --duration 6s --rounds 2 --cpus 0.4 --memory 64MiB --seed 7"
	testenv.Check(t, len(msgs) == 1 && msgs[0].(ui.Copy).Text == want, "y: %v", msgs)
	msgs = asked(s, "R")
	testenv.Check(t, len(msgs) == 1 && msgs[0].(ui.StatusMsg).Bad, "R of a complete run: %v", msgs)
	if msgs := asked(s, "down", "R"); len(msgs) != 1 || msgs[0].(ui.Copy).Text != "locbench run --resume results/20261121-081500-quick" {
		t.Errorf("R: %v", msgs)
	}
	msgs = asked(s, "end", "y")
	testenv.Check(t, len(msgs) == 1 && msgs[0].(ui.StatusMsg).Bad, "y of a broken folder: %v", msgs)
	if msgs := asked(s, "enter"); len(msgs) != 1 || !strings.Contains(msgs[0].(ui.StatusMsg).Text, "line 17") {
		t.Errorf("enter on a broken folder: %v", msgs)
	}
	msgs = asked(s, "esc")
	testenv.Check(t, len(msgs) == 1 && msgs[0] == (ui.Back{}), "esc: %v", msgs)
}

func TestCompareTakesTheMarkedOnes(t *testing.T) {
	s := settled(someFolders(t))
	is := func(keys string, want string) {
		t.Helper()
		msgs := asked(s, strings.Fields(keys)...)
		testenv.Need(t, len(msgs) == 1, "%s: %v", keys, msgs)
		testenv.Equal(t, msgs[0].(ui.StatusMsg).Text, want, keys)
	}
	is("home down down c", "compare results/20261121-154953-quick with results/20261121-154953-quick")
	is("home down space down c", "compare results/20261121-155149-faulty with results/20261121-081500-quick")
	is("home down down space end c", "compare results/20261121-155149-faulty with results/20261121-154953-quick")
	asked(s, "space")
	if len(s.marked) != 2 || s.marked[0] != "results/20261121-155149-faulty" || s.marked[1] != "results/copied from elsewhere" {
		t.Errorf("a third mark: %q", s.marked)
	}
	asked(s, "space", "home", "down", "space")
	testenv.Equal(t, len(s.marked), 0, "marks stay", s.marked)
}

func TestTheCursorStaysOnItsFolder(t *testing.T) {
	folders := someFolders(t)
	s := settled(folders)
	tuitest.Press(s, nil, "down", "down")
	dir := s.current().Dir
	s.options.Source = folders[1:]
	tuitest.Settle(s, s.Update(ui.Shown{}), nil)
	testenv.Check(t, s.current().Dir == dir && s.cursor == 1, "at %d, %s", s.cursor, s.current().Dir)
}

func TestMouse(t *testing.T) {
	s := settled(someFolders(t))
	click := func(y int) []tea.Msg {
		var out []tea.Msg
		tuitest.Settle(s, s.Update(tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft}), func(m tea.Msg) { out = append(out, m) })
		return out
	}
	msgs := click(4)
	testenv.Check(t, len(msgs) == 0 && s.cursor == 2, "a click: cursor %d, %v", s.cursor, msgs)
	msgs = click(4)
	testenv.Check(t, len(msgs) == 1, "a click on the chosen one: %v", msgs)
	click(0)
	click(99)
	s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	testenv.Equal(t, s.cursor, 5, "cursor")
}

const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u0301\u200d👩‍👩‍👧‍👦\xff\n\r\t日本語 "

func TestHostileFolders(t *testing.T) {
	long := hostile + strings.Repeat("x", 1<<16)
	folders := someFolders(t)
	for i := range folders {
		f := &folders[i]
		if f.Broken != nil {
			f.Broken = errors.New(long)
		}
		f.Dir = fmt.Sprintf("results/%d%s", i, long)
		f.Run.State, f.Run.Profile.Name, f.Run.Store.Kind = bench.RunState(long), long, bench.StoreKind(long)
		f.Run.Warnings = bench.Warnings{{Text: long}, {Text: hostile}}
		f.Run.Profile.Contenders = []bench.Selection{{Contender: long}, {Contender: hostile, Variant: long}}
		f.Trials = append([]bench.TrialResult(nil), f.Trials...)
		for j := range f.Trials {
			f.Trials[j].Trial.Contender, f.Trials[j].Trial.Variant = hostile, long
			f.Trials[j].Failure, f.Trials[j].Warnings = long, bench.Warnings{{Text: hostile}}
			f.Trials[j].Steps = append([]bench.StepResult(nil), f.Trials[j].Steps...)
			for k := range f.Trials[j].Steps {
				f.Trials[j].Steps[k].Step.Name, f.Trials[j].Steps[k].Step.Connections = long, 0
			}
		}
	}
	folders[1].Run.Started = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
	s := settled(folders)
	s.options.Roots = long
	s.filter.Text = ""
	for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 33, Height: 9}, {Width: 60, Height: 20}, {Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 50}} {
		for _, ascii := range []bool{false, true} {
			for range len(folders) {
				tuitest.Exact(t, tuitest.View(s, size, ui.NewLook(ui.LookOptions{ASCII: ascii}), now), size, ascii)
				tuitest.Press(s, nil, "down")
			}
			tuitest.Press(s, nil, "home")
		}
	}
	// Such a command is refused, not changed.
	if msgs := asked(s, "R"); len(msgs) == 1 {
		_, copied := msgs[0].(ui.Copy)
		testenv.Check(t, !copied, "copied %q", msgs[0])
	}
}
