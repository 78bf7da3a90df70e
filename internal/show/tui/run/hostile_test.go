package run

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// poison puts text into every string that v holds, and number into every number if it is not 0.
// States and kinds must stay valid, so every part is drawn.
func poison(v any, text string, number int64) {
	testenv.Each(v, func(name string, v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[string](), name == "key" && v.Kind() == reflect.String:
			v.SetString(text)
		case number != 0 && v.CanInt():
			v.SetInt(number)
		case number != 0 && v.CanFloat():
			v.SetFloat(float64(number) * 1e300)
		}
	})
}

// poisoned returns copies of some records of every kind, with text in every string.
func poisoned(t testing.TB, records []bench.Record, text string, number int64) (all []bench.Record) {
	count := map[string]int{}
	for _, rec := range records {
		kind := bench.EventName(rec.Event)
		if count[kind]++; count[kind] > 12 && kind != "run_ended" {
			continue
		}
		rec = copied(t, rec)
		at := reflect.New(reflect.TypeOf(rec.Event)).Elem()
		at.Set(reflect.ValueOf(rec.Event))
		poison(at.Addr().Interface(), text, number)
		rec.Event = at.Interface().(bench.Event)
		if rec.Trial != nil {
			rec.Trial.Contender, rec.Trial.Variant = text, text
		}
		all = append(all, rec)
		if kind == "window_closed" && count[kind] == 5 {
			all = append(all, bench.Record{At: rec.At, Trial: rec.Trial, Event: bench.ChangedManually{Control: bench.Control{Kind: bench.ControlKind(text)}}},
				bench.Record{At: rec.At, Event: bench.Progress{Phase: bench.PhaseBuild, Text: text, Unit: text, Done: number, Total: 3}})
		}
	}
	return all
}

// copied returns a copy of rec that shares nothing with it.
func copied(t testing.TB, rec bench.Record) (out bench.Record) {
	t.Helper()
	testenv.OK(t, json.Unmarshal(testenv.Must(json.Marshal(rec))(t), &out))
	return out
}

// everything draws all tabs of a run in one size, during the run and after its end, and fails
// unless each view is within its size and holds only text. Odd widths are drawn in ASCII.
func everything(t *testing.T, records []bench.Record, w, h int) {
	t.Helper()
	look := ui.ThemeOptions{ASCII: w%2 == 1, NoColor: w%2 == 1}
	r := New(Options{Session: &session{watched: true}})
	theme := ui.NewTheme(look)
	r.SetSize(ui.SizeOf(w, h+1), theme)
	r.batch(batchMsg{records: records, ok: true})
	keys := []string{"1", "enter", "left", "v", "space", "esc", "2", "up", "enter", "esc", "3", "enter", "esc", "4", "v", "5", "[", "1"}
	for _, end := range []bool{false, true} {
		if end {
			for _, msg := range all(r.end(endedMsg{stderr: records[0].Event.(bench.RunStarted).Dir})) {
				r.Update(msg)
			}
		}
		for _, key := range keys {
			r.Update(tuitest.Key(key))
			lines := strings.Split(theme.ASCIIOnly(r.View()), "\n")
			for i, line := range lines {
				testenv.Check(t, ansi.StringWidth(line) <= w, "line %d is wider than %d: %q", i+1, w, line)
			}
			tuitest.Exact(t, ui.Exact(lines, w, h), tuitest.Size{Width: w, Height: h}, look.ASCII)
			testenv.Need(t, !t.Failed(), "%s in %dx%d after %q", r.Title(), w, h, key)
		}
	}
}

func TestAnySizeAndAnyText(t *testing.T) {
	texts := []string{"", "x", "\x1b]0;title\x07\x1b[2J\x1b[31mred\r\n\x9b31m\x00", "漢字かな交じり文🙂👨‍👩‍👧é́́́\u202e\u200b", "\xff\xfe\xc3",
		strings.Repeat("A wide \u0301line ", 9000)}
	numbers := []int64{0, math.MinInt64, math.MaxInt64}
	sizes := [][2]int{{80, 23}, {20, 5}, {201, 49}, {59, 14}, {61, 17}, {160, 31}, {40, 11}}
	for i, text := range texts {
		for n, name := range []string{"limits", "faults"} {
			records := poisoned(t, tuitest.Records(t, name), text, numbers[(i+n)%len(numbers)])
			size := sizes[(i+n)%len(sizes)]
			everything(t, records, size[0], size[1])
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[2J", int64(0), uint8(80), uint8(23))
	f.Add("漢字👨‍👩‍👧\u0301", int64(-5), uint8(33), uint8(9))
	count := map[string]int{}
	few := slices.DeleteFunc(tuitest.Records(f, "faults"), func(rec bench.Record) bool {
		kind := bench.EventName(rec.Event)
		count[kind]++
		return count[kind] > 4
	})
	f.Fuzz(func(t *testing.T, text string, number int64, w, h uint8) {
		everything(t, poisoned(t, few, text, number), 20+int(w)%200, 5+int(h)%65)
	})
}
