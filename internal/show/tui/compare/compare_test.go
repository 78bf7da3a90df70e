package compare

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

const dirA, dirB = "results/20261121-154953-quick", "results/20261122-091500-quick"

// page returns the page of two folders, or of one twice, after keys.
func page(folders tuitest.Folders, a, b string, keys ...string) tuitest.Page {
	return tuitest.Page{Keys: keys, New: func(*testing.T) ui.Page { return New(a, b, folders) }}
}

// shows requires parts of the frame after keys, which are separated by spaces.
func shows(t *testing.T, p tuitest.Page, keys string, parts ...string) {
	t.Helper()
	p.Play(t, tuitest.Size{Width: 120, Height: 50}, tuitest.Look{}, func(program *tuitest.Program) {
		program.Press(strings.Fields(keys)...)
		testenv.Contains(t, program.Frame(), parts...)
	})
}

// two returns a recorded run twice, with its rounds repeated the given times. The second one is
// faster by factor and changed by change.
func two(t testing.TB, times int, factor float64, change func(*tuitest.Folder)) tuitest.Folders {
	t.Helper()
	records := tuitest.Records(t, "limits")
	a := tuitest.FolderOf(dirA, moreRounds(records, times, 1))
	b := tuitest.FolderOf(dirB, moreRounds(records, times, factor))
	b.Run.ID, b.Run.Started = "another", b.Run.Started.Add(17*time.Hour)
	if change != nil {
		change(&b)
	}
	return tuitest.Folders{a, b}
}

func TestCompare(t *testing.T) {
	c := page(two(t, 3, 1.1, nil), dirA, dirB)
	c.Frames(t, "compare")
	c.Light(t, "compare")
}

func TestCompare_NotComparable(t *testing.T) {
	folders := two(t, 1, 0.9, func(b *tuitest.Folder) {
		p := &b.Run.Profile
		p.Limits.CPUs, p.Limits.Memory = 1.5, 512<<20
		b.Run.Machine.Kernel, b.Run.Software.Locbench, p.Name = "6.12.0-amd64", "0.2.0", "mine"
	})
	page(folders, dirA, dirB).Frames(t, "not-comparable")
}

// The contenders of one run are compared in pairs.
func TestCompare_OneRun(t *testing.T) {
	faults := tuitest.FolderOf("results/faulty", tuitest.Records(t, "faults"))
	p := page(tuitest.Folders{faults}, faults.Dir, faults.Dir)
	p.Frames(t, "one-run")
	shows(t, p, "", "!results/faulty", "go-nethttp → my-oom")
}

// The text has all contenders in common, or all pairs, and scrolls as far as there are lines.
func TestCompare_Scrolls(t *testing.T) {
	page(two(t, 3, 1.1, nil), dirA, dirB).Play(t, tuitest.Size{Width: 80, Height: 24}, tuitest.Look{}, func(p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "go-nethttp: peak throughput 10.0% higher", "to go-nethttp:release;", "lines 1 to ")
		p.Press("down", "down", "up")
		testenv.Contains(t, p.Frame(), "lines 2 to ")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "p Holm-corrected.")
		p.Press("y")
		testenv.Contains(t, p.Frame(), "copied command: locbench compare "+dirA)
		p.Press("esc")
		testenv.Check(t, p.Quit(), "esc does not close the page")
	})
	shows(t, page(two(t, 1, 1, nil), dirA, dirA), "y", "copied command: locbench compare "+dirA+" go-nethttp go-nethttp:release")
}

// What cannot be compared says why; what could not be read of a folder is a caution.
func TestCompare_Problems(t *testing.T) {
	folders := two(t, 1, 1, nil)
	shows(t, page(folders, dirA, "results/none"), "", "cannot compare: results/none: file does not exist", "remedy")
	other := two(t, 1, 1, func(b *tuitest.Folder) {
		b.Trials = append([]bench.TrialResult(nil), b.Trials...)
		for i := range b.Trials {
			b.Trials[i].Trial.Contender = "another"
		}
	})
	shows(t, page(other, dirA, dirB), "y down", "cannot compare: no contender in common", "!copied")
	folders[1].Broken = errors.New("round 2: unexpected end of JSON input")
	shows(t, page(folders, dirA, dirB), "", " "+dirB+": round 2: unexpected end of JSON input", "go-nethttp   ")
	folders[1].Trials = folders[1].Trials[:1]
	shows(t, page(tuitest.Folders{folders[1]}, dirB, dirB), "", "the run has results of one contender only")
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
