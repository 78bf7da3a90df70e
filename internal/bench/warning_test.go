package bench

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestWarningsAsJSON(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		want Warning
		out  string
	}{
		{"typed", `{"kind":"late","text":"5 late","values":{"late":5}}`, Warning{WarnLate, "5 late", map[string]float64{"late": 5}}, ""},
		{"typed, without values", `{"kind":"clock_set","text":"x"}`, Warning{Kind: WarnClockSet, Text: "x"}, ""},
		{"of a later version", `{"kind":"something new","text":"x"}`, Warning{Kind: "something new", Text: "x"}, ""},
		{"a text", `"something"`, Warning{Text: "something"}, ""},
		{"an object without a kind", `{"text":"x"}`, Warning{Text: "x"}, `"x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Warning
			if err := json.Unmarshal([]byte(c.in), &got); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("%+v, %v, want %+v", got, err, c.want)
			}
			out, err := json.Marshal(got)
			if want := c.out; err != nil || want == "" && string(out) != c.in || want != "" && string(out) != want {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	for _, wrong := range []string{`5`, `["x"]`, `{"kind":5}`, `{"text":["x"]}`} {
		if err := json.Unmarshal([]byte(wrong), &Warning{}); err == nil {
			t.Errorf("%s was read as a warning", wrong)
		}
	}
}

func TestWarningsAreAddedOnce(t *testing.T) {
	var all Warnings
	for _, f := range (Warnings{{Text: "a"}, {Text: "a"}, {Kind: WarnLate, Text: "a"}, {Text: "a", Values: map[string]float64{"x": 1}}, {Text: "b"}, {Text: "a"}}) {
		all.Add(f)
	}
	if len(all) != 4 {
		t.Errorf("%+v", all)
	}
}

func TestTitles(t *testing.T) {
	for _, c := range []struct {
		f    Warning
		want string
	}{
		{Warning{Kind: WarnClientBound, Text: "client-bound: 2 of 8"}, "client-bound"},
		{Warning{Kind: WarningKind(IncidentPaused), Text: "paused from outside, 3 s after its start"}, "contender was paused"},
		{Warning{Text: "something: 2 of 8"}, "something: 2 of 8"},
		{Warning{Kind: "of a later version", Text: "something"}, "something"},
	} {
		if got := c.f.Title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestANoticeKeepsItsWarning(t *testing.T) {
	f := Warning{WarnHung, "it hung", map[string]float64{"grace_ns": 5}}
	var trial TrialResult
	for _, n := range []Notice{WarningNotice(f), {Level: "warning", Text: "x"}, {Level: "info", Text: "not a warning"}} {
		trial.Apply(trial.Started, n)
	}
	if want := (Warnings{f, {Text: "x"}}); !reflect.DeepEqual(trial.Warnings, want) {
		t.Errorf("%+v, want %+v", trial.Warnings, want)
	}
	if !trial.Warnings.Has(WarnLate, WarnHung) || trial.Warnings.Has(WarnLate) || trial.Warnings.Join("|") != "it hung|x" {
		t.Errorf("%q", trial.Warnings.Join("|"))
	}
}

// Warnings that were read from any file are the same after writing and reading them again.
func FuzzWarnings(f *testing.F) {
	for _, seed := range []string{`["client-bound: 2 of 8",{"kind":"late","text":"x","values":{"late":1e300}}]`, `[null]`, `[{}]`, `["… of … requests that were scheduled were dropped"]`,
		`[{"kind":"client_bound"}]`, `["\ud800 of the readings in between failed"]`, `[{"values":{"a":0}}]`, `null`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Warnings
		if json.Unmarshal(data, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if len(first) != len(second) {
			t.Fatalf("%+v, then %+v", first, second)
		}
		for i, one := range first {
			if two := second[i]; one.Kind != two.Kind || one.Text != two.Text || len(one.Values) != len(two.Values) {
				t.Errorf("%+v, then %+v", one, two)
			}
		}
	})
}
