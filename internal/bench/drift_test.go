package bench

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestDrift(t *testing.T) {
	trend := func(change float64) string { return Trend{Change: change}.String() }
	// from a start of b to an end of e, as multiples of the mean
	from := func(b, e float64) string { return trend(2 * (e - b) / (e + b)) }
	both := func(throughput, cpu float64) Drift {
		return Drift{Throughput: &Trend{Change: throughput}, CPU: &Trend{Change: cpu}}
	}
	drifting := func(d *Drift) StepResult {
		return StepResult{Drift: d, Load: Load{Warnings: Warnings{{Text: "load"}}}, Warnings: Warnings{{Text: "step"}}}
	}
	up, down, machine := both(.12, -.031), both(-1, .12), both(-.1, .1)
	machine.Machine = true
	check(t,
		fact{"up", trend(.031), "rose by 3.1%"}, fact{"up more", trend(.12), "rose by 13%"}, fact{"no change", trend(0), "rose by 0.0%"},
		fact{"fivefold", from(1, 5), "rose by 400%"}, fact{"nearly tenfold", from(1, 9.9), "rose by 890%"},
		fact{"a little more than tenfold", from(1, 10.1), "rose over 10×"}, fact{"from below 0", trend(2.5), "rose over 10×"},
		fact{"down", trend(-.031), "fell by 3.1%"}, fact{"down more", trend(-.12), "fell by 11%"}, fact{"to a fifth", from(5, 1), "fell by 80%"},
		fact{"nearly to a tenth", from(9.9, 1), "fell by 90%"}, fact{"below a tenth", from(10.1, 1), "fell over 90%"},
		fact{"faster", up, "still warming up: throughput rose by 13% and CPU time per request fell by 3.1% over the step"},
		fact{"slower", down, "unstable: throughput fell by 67% and CPU time per request rose by 13% over the step"},
		fact{"CPU alone", Drift{CPU: &Trend{Change: -.12}}, "still warming up: CPU time per request fell by 11% over the step"},
		fact{"compiled", Drift{Compiled: .314}, "still warming up: compilers took 31% of its CPU time in the second half of the step"},
		fact{"the machine", Drift{Throughput: &Trend{Change: -.1}, Machine: true},
			"the machine changed: throughput fell by 9.5% over the step, as with the contenders next to it"},
		fact{"the machine is not its own", (&Drift{Machine: true}).Own(), false}, fact{"none is not its own", (*Drift)(nil).Own(), false},
		fact{"a drift is its own", up.Own(), true},
		fact{"throughput alone", Drift{Throughput: &Trend{Change: .12}}.Name(), StillWarmingUp},
		fact{"neither", both(0, 0).Name(), Unstable}, fact{"only less throughput", Drift{Throughput: &Trend{Change: -.1}}.Name(), Unstable},
		fact{"warnings", drifting(nil).AllWarnings(), "[load step]"},
		fact{"first", drifting(&up).AllWarnings()[0], Warning{Kind: WarnWarmingUp, Text: up.String()}},
		fact{"the machine's", drifting(&machine).AllWarnings()[0].Kind, WarnMachineChanged},
		fact{"also first", drifting(&down).AllWarnings()[0], Warning{Kind: WarnDrifting, Text: down.String()}},
	)
}

func TestWarning_JSON(t *testing.T) {
	late := map[string]float64{"late": 5}
	for name, test := range map[string]struct {
		in   string
		want Warning
		out  string // "": as it came in
	}{
		"typed":                    {`{"kind":"late","text":"5 late","values":{"late":5}}`, Warning{WarnLate, "5 late", late}, ""},
		"values without a kind":    {`{"text":"5 late","values":{"late":5}}`, Warning{Text: "5 late", Values: late}, ""},
		"typed, without values":    {`{"kind":"clock_set","text":"x"}`, Warning{Kind: WarnClockSet, Text: "x"}, ""},
		"of a later version":       {`{"kind":"something new","text":"x"}`, Warning{Kind: "something new", Text: "x"}, ""},
		"a text":                   {`"something"`, Warning{Text: "something"}, ""},
		"an object without a kind": {`{"text":"x"}`, Warning{Text: "x"}, `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := Warning{Text: "before"}
			if err := json.Unmarshal([]byte(test.in), &got); err != nil || !reflect.DeepEqual(got, test.want) {
				t.Fatalf("%+v, %v, want %+v", got, err, test.want)
			}
			out, err := json.Marshal(got)
			if want := test.out; err != nil || want == "" && string(out) != test.in || want != "" && string(out) != want {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
	for _, wrong := range []string{`5`, `["x"]`, `{"kind":5}`, `{"text":["x"]}`, ``} {
		testenv.Check(t, new(Warning).UnmarshalJSON([]byte(wrong)) != nil, "%s was read as a warning", wrong)
	}
}

func TestWarnings(t *testing.T) {
	hung, values := Warning{WarnHung, "it hung", map[string]float64{"grace_ns": 5}}, map[string]float64{"x": 1}
	var added Warnings
	for _, w := range (Warnings{{Text: "a"}, {Text: "a"}, {Kind: WarnLate, Text: "a"}, {Text: "a", Values: values}, {Text: "b"}}) {
		added.Add(w)
	}
	once := slices.Clone(added)
	title := func(kind WarningKind) string { return Warning{Kind: kind, Text: "text: 2 of 8"}.Title() }
	check(t,
		fact{"added once", once, "[a a a b]"}, fact{"again", added.Add(Warning{Text: "b"}), false}, fact{"new", added.Add(hung), true},
		fact{"has", added.Has(WarnSteal, WarnHung), true}, fact{"has not", added.Has(WarnSteal), false},
		fact{"joined", added[2:].Join("|"), "a|b|it hung"}, fact{"a notice of a warning", WarningNotice(hung).Warning(), hung},
		fact{"its level", WarningNotice(hung).Level, "warning"}, fact{"title", title(WarnClientBound), "client-bound"},
		fact{"of an incident", title(WarningKind(IncidentPaused)), "contender was paused"}, fact{"without one", title(""), "text: 2 of 8"},
		fact{"of a later version", title("x"), "text: 2 of 8"},
	)
}
