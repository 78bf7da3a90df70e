package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/tui/board"
	"locbench/internal/tui/look"
	"locbench/internal/tui/tuitest"
	"locbench/internal/tui/ui"
)

const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u0301\u200d👩‍👩‍👧‍👦\xff\n\r\t日本語 "

// FuzzReplay folds, seeks and draws whatever an event log holds.
func FuzzReplay(f *testing.F) {
	var few []byte
	for i, rec := range tuitest.Records(f, "faults") {
		if i%25 == 0 || i < 4 {
			data, _ := json.Marshal(rec)
			few = append(append(few, data...), '\n')
		}
	}
	f.Add(few)
	f.Add([]byte(`{"seq":1,"at":"9999-12-31T23:59:59Z","leg":{"contender":"` + "\u202e" + `","round":-1},"type":"leg_started","event":{}}
{"seq":1,"at":"0001-01-01T00:00:00Z","leg":{"contender":"x","round":1},"type":"step_started","event":{"index":-5,"step":{"name":"\u001b[2J","duration_ns":-1}}}
{"seq":1,"at":"2026-01-01T00:00:00Z","leg":{"contender":"x","round":1},"type":"window_closed","event":{"index":-5,"window":{"start_ns":9223372036854775807,"length_ns":1}}}`))
	f.Add([]byte(`{"seq":1,"type":"leg_started","event":{"number":1,"of":2}}` + "\n" + `{"seq":2,"type":"leg_ended","event":{"state":"complete"}}`))
	l := look.New(look.Options{})
	f.Fuzz(func(t *testing.T, log []byte) {
		folder := tuitest.Folder{Dir: "x", Run: bench.Run{Schema: 1}}
		for line := range bytes.Lines(log) {
			var rec bench.Record
			if json.Unmarshal(line, &rec) == nil {
				folder.Records = append(folder.Records, rec)
			}
		}
		s := New("x", tuitest.Folders{folder}, board.New())
		s.Update(load(s.source, s.dir, &progress{}).of(s))
		for _, keys := range []string{"end", "home", "n", ">", ".", "g", "space", "2", "p", "<", ","} {
			tuitest.Press(s, nil, keys)
			s.Update(ui.Tick{Now: now.Add(time.Second)})
			size := tuitest.Size{Width: 80, Height: 24}
			tuitest.Exact(t, tuitest.View(s, size, l, now), size, false)
			if s.player != nil && (s.player.pos < 0 || s.player.pos > s.player.total || s.player.n > len(s.player.records)) {
				t.Fatalf("at %s of %s, %d of %d records", s.player.pos, s.player.total, s.player.n, len(s.player.records))
			}
		}
	})
}

func (l loaded) of(s *Screen) loaded {
	l.screen = s
	return l
}

func TestHostileText(t *testing.T) {
	long := hostile + strings.Repeat("x", 1<<16)
	folder := recorded(t, "faults")
	folder.Dir = "results/" + long
	folder.NoLog = true
	for i := range folder.Legs {
		leg := &folder.Legs[i]
		leg.Leg.Contender, leg.Leg.Variant, leg.Failure = hostile, long, long
		leg.Warnings = bench.Findings{{Text: long}}
		for j := range leg.Steps {
			leg.Steps[j].Step.Name, leg.Steps[j].Warnings = long, bench.Findings{{Text: hostile}}
		}
	}
	folder.Run.Profile.Name, folder.Run.Warnings = long, bench.Findings{{Text: hostile}, {Text: long}}
	s := open(t, folder)
	s.note = long
	for _, size := range []tuitest.Size{{Width: 20, Height: 6}, {Width: 33, Height: 9}, {Width: 60, Height: 20}, {Width: 80, Height: 24}, {Width: 200, Height: 50}} {
		for _, ascii := range []bool{false, true} {
			for _, key := range []string{"home", "n", "end"} {
				tuitest.Press(s, nil, key)
				tuitest.Exact(t, tuitest.View(s, size, look.New(look.Options{ASCII: ascii}), now), size, ascii)
			}
		}
	}
	s.Update(loaded{screen: s, err: &jsonError{long}})
	for _, size := range tuitest.Sizes() {
		tuitest.Exact(t, tuitest.View(s, size, look.New(look.Options{ASCII: true}), now), size, true)
	}
}

type jsonError struct{ text string }

func (e *jsonError) Error() string { return e.text }

func TestEverySizeIsFilled(t *testing.T) {
	s := open(t, recorded(t, "limits"))
	l := look.New(look.Options{})
	for w := 20; w < 200; w += 29 {
		for h := 6; h < 60; h += 13 {
			size := tuitest.Size{Width: w, Height: h}
			tuitest.Exact(t, tuitest.View(s, size, l, now), size, false)
		}
	}
}
