// Package tuitest compares pages with golden frames, drawn from recorded events by the dashboard
// itself. The frames are text without colors, so reviewers can read them; "go test -update" writes
// them again.
package tuitest

import (
	"bufio"
	"compress/gzip"
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
)

//go:embed recordings/*.jsonl.gz
var recordings embed.FS

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// Sizes returns usual sizes of terminals.
func Sizes() []Size { return []Size{{60, 20}, {80, 24}, {120, 40}, {200, 50}} }

// Records returns the events of a recorded run: "limits" (two contenders, two rounds, real
// containers), …; see recordings/README.md. Each is decoded once, and all tests share its events:
// they change only copies.
func Records(t testing.TB, name string) []bench.Record {
	t.Helper()
	once, _ := decoded.LoadOrStore(name, sync.OnceValues(func() ([]bench.Record, error) { return decode(name) }))
	out, err := once.(func() ([]bench.Record, error))()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(out)
}

var decoded sync.Map // the functions that decode recordings, by name

func decode(name string) (out []bench.Record, err error) {
	f, err := recordings.Open("recordings/" + name + ".jsonl.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var rec bench.Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, lines.Err()
}

// Until returns the records before the n-th record (from 1) for which is returns true.
func Until(records []bench.Record, n int, is func(bench.Record) bool) []bench.Record {
	for i, rec := range records {
		if is(rec) {
			if n--; n == 0 {
				return records[:i]
			}
		}
	}
	return records
}

// Key returns the message of a key.
func Key(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left":  tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "space": tea.KeySpace, "delete": tea.KeyDelete,
	}
	var mod tea.KeyMod
	for {
		switch {
		case strings.HasPrefix(name, "ctrl+"):
			mod |= tea.ModCtrl
			name = name[5:]
			continue
		case strings.HasPrefix(name, "shift+"):
			mod |= tea.ModShift
			name = name[6:]
			continue
		}
		break
	}
	if r, ok := special[name]; ok {
		k := tea.Key{Code: r, Mod: mod}
		if r == tea.KeySpace {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	k := tea.Key{Code: []rune(name)[0], Mod: mod}
	if mod == 0 {
		k.Text = name
	}
	return tea.KeyPressMsg(k)
}

// curves replaces marks and dots of charts by one character: marks depend on colors.
func curves(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x2800 && r <= 0x28ff || strings.ContainsRune("●■▲◆○□", r) {
			return '⠿'
		}
		return r
	}, s)
}

// Exact fails unless lines fill size to the cell and, with ascii, hold only ASCII.
func Exact(t testing.TB, lines []string, size Size, ascii bool) {
	t.Helper()
	if len(lines) != size.Height {
		t.Errorf("%d lines in a terminal of %d", len(lines), size.Height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != size.Width {
			t.Errorf("line %d takes %d cells of %d: %q", i+1, w, size.Width, ansi.Strip(line))
		}
		if w := ansi.StringWidthWc(line); w != size.Width {
			t.Errorf("line %d takes %d cells of %d as older terminals count: %q", i+1, w, size.Width, ansi.Strip(line))
		}
		text := ansi.Strip(line)
		for _, r := range text {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				t.Errorf("line %d holds the control character %U", i+1, r)
			}
			if ascii && r >= 0x80 {
				t.Errorf("line %d holds %q, which is not ASCII: %s", i+1, r, text)
				break
			}
		}
	}
}

// OfResults returns events that a run with these results may have had.
func OfResults(run bench.Run, trials []bench.TrialResult, dir string) (all []bench.Record) {
	at := run.Started
	add := func(later time.Time, trial *bench.Trial, e bench.Event) {
		if later.After(at) {
			at = later
		}
		all = append(all, bench.Record{Seq: int64(len(all) + 1), At: at, Trial: trial, Event: e})
	}
	add(at, nil, bench.RunStarted{Run: run, Dir: dir})
	for i, r := range trials {
		trial := &trials[i].Trial
		add(r.Started, trial, bench.TrialStarted{Number: i + 1, Of: len(run.Trials), Service: r.Service, Artifact: r.Artifact})
		if r.Instance != nil {
			add(r.Instance.StartedAt, trial, bench.InstanceStarted{Info: *r.Instance})
		}
		if r.StartUp != nil {
			add(at, trial, bench.InstanceReady{StartUp: *r.StartUp, FirstResponse: r.FirstResponse})
		}
		for _, c := range r.Checks {
			add(at, trial, bench.CheckDone{Check: c})
		}
		for _, step := range r.Steps {
			start := step.Load.Started
			add(start, trial, bench.StepStarted{Index: step.Index, Of: len(r.Steps), Step: step.Step})
			for _, w := range step.Load.Windows {
				add(start.Add(w.Start+w.Length), trial, bench.WindowClosed{Index: step.Index, Window: w})
			}
			add(start.Add(step.Load.Elapsed), trial, bench.StepEnded{Result: step})
		}
		for _, in := range r.Incidents {
			add(in.At, trial, bench.IncidentOccurred{Incident: in})
		}
		for _, w := range r.Warnings {
			add(at, trial, bench.WarningNotice(w))
		}
		for _, c := range r.ManualChanges {
			add(c.At, trial, bench.ChangedManually{Control: c.Control, Step: c.Step})
		}
		add(at, trial, bench.LogLines{Lines: r.LastLog})
		add(r.Ended, trial, bench.TrialEnded{State: r.State, Failure: r.Failure, Exit: r.Exit, LastLog: r.LastLog, Lost: r.Lost})
	}
	add(run.Ended, nil, bench.RunEnded{State: run.State})
	return all
}
