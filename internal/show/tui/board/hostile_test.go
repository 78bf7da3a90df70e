package board

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// poison puts text into every string that v holds, and number into every second number if it is not
// 0.
func poison(v reflect.Value, text string, number int64) {
	switch v.Kind() {
	case reflect.String:
		// States and kinds must stay valid, so every part is drawn.
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() {
			v.SetString(text)
		}
	case reflect.Int64, reflect.Int:
		if number != 0 && v.CanSet() {
			v.SetInt(number)
		}
	case reflect.Float64:
		if number != 0 && v.CanSet() {
			v.SetFloat(float64(number) * 1e300)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			poison(v.Field(i), text, number)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text, number)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text, number)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if k.Kind() == reflect.String {
				v.SetMapIndex(reflect.ValueOf(text).Convert(k.Type()), v.MapIndex(k))
			}
		}
	}
}

// poisoned returns records of every kind with text in every string.
func poisoned(t testing.TB, name, text string, number int64) *fold.State {
	t.Helper()
	return poisonedOf(tuitest.Records(t, name), text, number)
}

func poisonedOf(records []bench.Record, text string, number int64) *fold.State {
	s := &fold.State{}
	count := map[string]int{}
	for _, rec := range records {
		kind := bench.EventName(rec.Event)
		if count[kind]++; count[kind] > 12 && kind != "run_ended" {
			continue
		}
		at := reflect.New(reflect.TypeOf(rec.Event)).Elem()
		at.Set(reflect.ValueOf(rec.Event))
		poison(at, text, number)
		rec.Event = at.Interface().(bench.Event)
		if rec.Trial != nil {
			rec.Trial.Contender, rec.Trial.Variant = text, text
		}
		s.Apply(rec)
		if kind == "window_closed" && count[kind] == 5 {
			s.Apply(bench.Record{At: rec.At, Trial: rec.Trial, Event: bench.ChangedManually{Control: bench.Control{Kind: bench.ControlNote, Text: text}}})
			s.Apply(bench.Record{At: rec.At, Event: bench.Progress{Phase: bench.PhaseBuild, Text: text, Unit: text, Done: number, Total: 3}})
		}
	}
	return s
}

// everything draws all pages of s in one size and fails unless each is exact.
func everything(t *testing.T, s *fold.State, w, h int) {
	t.Helper()
	now := s.Last.Add(time.Second)
	for _, l := range []*ui.Look{ui.NewLook(ui.LookOptions{}), ui.NewLook(ui.LookOptions{ASCII: true, NoColor: true})} {
		b := New()
		for _, key := range []string{"1", "o", "enter", "left", "home", "x", "down", "esc", "2", "up", "z", "pgdown", "3", "4", "f", "5", "right", "/", "m", "enter", "6", "[", "1", "2", "5"} {
			b.Update(tuitest.Key(key), s)
			lines := b.View(ui.Frame{Width: w, Height: h, Look: l, Now: now, Tick: 3}, s, "status")
			tuitest.Exact(t, lines, tuitest.Size{Width: w, Height: h}, l.ASCII)
			testenv.Need(t, !t.Failed(), "page %d in %dx%d after %q", b.tab+1, w, h, key)
		}
	}
}

func TestAnySizeAndAnyText(t *testing.T) {
	texts := []string{"", "x", "\x1b]0;title\x07\x1b[2J\x1b[31mred\r\n\x9b31m\x00", "漢字かな交じり文🙂👨‍👩‍👧é́́́\u202e\u200b", "\xff\xfe\xc3", strings.Repeat("A wide \u0301line ", 9000)}
	numbers := []int64{0, math.MinInt64, math.MaxInt64}
	sizes := [][2]int{{80, 23}, {20, 5}, {200, 49}, {1, 1}, {59, 14}, {61, 17}, {150, 31}, {76, 30}}
	for i, text := range texts {
		for n, name := range []string{"limits", "faults"} {
			s := poisoned(t, name, text, numbers[(i+n)%len(numbers)])
			for k := range 2 {
				size := sizes[(i+n+4*k)%len(sizes)]
				everything(t, s, size[0], size[1])
			}
		}
	}
}

func TestEveryMomentInEverySize(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		s := &fold.State{}
		l := ui.NewLook(ui.LookOptions{NoColor: true})
		b := New()
		for i, rec := range shared(t, name) {
			s.Apply(rec)
			w, h := 20+i*7%190, 5+i*11%50
			b.Update(tuitest.Key(string("123456ozx[]0f"[i%13])), s)
			tuitest.Exact(t, b.View(ui.Frame{Width: w, Height: h, Look: l, Now: rec.At, Tick: i}, s, ""), tuitest.Size{Width: w, Height: h}, false)
			testenv.Need(t, !t.Failed(), "%s: after record %d in %dx%d", name, i, w, h)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[2J", int64(0), uint8(80), uint8(23))
	f.Add("漢字👨‍👩‍👧\u0301", int64(-5), uint8(33), uint8(9))
	// A few records of each kind, as JSON: each run poisons its own copy.
	count := map[string]int{}
	var few [][]byte
	for _, rec := range shared(f, "faults") {
		kind := bench.EventName(rec.Event)
		if count[kind]++; count[kind] > 4 {
			continue
		}
		line := testenv.Must(json.Marshal(rec))(f)
		few = append(few, line)
	}
	f.Fuzz(func(t *testing.T, text string, number int64, w, h uint8) {
		records := make([]bench.Record, len(few))
		for i, line := range few {
			testenv.OK(t, json.Unmarshal(line, &records[i]))
		}
		everything(t, poisonedOf(records, text, number), 1+int(w)%220, 1+int(h)%70)
	})
}
