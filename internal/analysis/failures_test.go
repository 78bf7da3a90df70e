package analysis

import (
	"reflect"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// loaded returns the contender of a run whose only trial has these loads, one for each step.
func loaded(p bench.Profile, loads ...bench.Load) Contender {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a"}, State: bench.TrialComplete}
	for i, l := range loads {
		trial.Steps = append(trial.Steps, bench.StepResult{Index: i, Load: l})
	}
	return Of(bench.Run{Profile: p}, []bench.TrialResult{trial}).Contenders[0]
}

func TestContender_Failures(t *testing.T) {
	type errors = map[bench.ErrorKind]int64
	one := bench.Profile{Requests: []bench.Request{{Name: "prepare", SetUp: true}, {Name: "get"}}}
	two := bench.Profile{Requests: []bench.Request{{Name: "get"}, {Name: "buy", Session: "shop"}}}
	first := map[bench.ErrorKind]string{bench.ErrTimeout: "after 1 s", bench.ErrReset: "broken pipe"}
	for _, c := range []struct {
		name  string
		p     bench.Profile
		loads []bench.Load
		want  []Failure
	}{
		{"none", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Failed: errors{bench.ErrTimeout: 0}}}}, nil},
		{"of the only request, over all steps", one, []bench.Load{
			{Outcomes: bench.Outcomes{Succeeded: 5, Failed: errors{bench.ErrTimeout: 1}}},
			{Outcomes: bench.Outcomes{Succeeded: 3, Rejected: bench.Statuses{429: 4}, Failed: errors{bench.ErrTimeout: 2, bench.ErrReset: 2}, Examples: first}, Counts: bench.Counts{Lead: 2, Drain: 1}},
		}, []Failure{
			{Request: "get", Kind: bench.ErrTimeout, Count: 3, Share: .15, First: "after 1 s"},
			{Request: "get", Kind: bench.ErrReset, Count: 2, Share: .1, First: "broken pipe"},
		}},
		{"of several requests", two, []bench.Load{{Outcomes: bench.Outcomes{Failed: errors{bench.ErrTimeout: 9}}, Requests: []bench.RequestLoad{
			{Name: "get", Outcomes: bench.Outcomes{Succeeded: 4, Failed: errors{bench.ErrTimeout: 1}, Examples: first}},
			{Name: "buy", Outcomes: bench.Outcomes{Succeeded: 6, Rejected: bench.Statuses{409: 3}, Failed: errors{bench.ErrTimeout: 1}, Examples: map[bench.ErrorKind]string{bench.ErrTimeout: "its own"}}},
		}}}, []Failure{
			{Request: "get", Kind: bench.ErrTimeout, Count: 1, Share: .2, First: "after 1 s"},
			{Request: "buy", Session: "shop", Kind: bench.ErrTimeout, Count: 1, Share: .1, First: "its own"},
		}},
		{"of the mix", two, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 1, Failed: errors{bench.ErrTimeout: 1}}}}, []Failure{{Kind: bench.ErrTimeout, Count: 1, Share: .5}}},
		{"of compared bodies", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 90, Checked: 15, Failed: errors{bench.ErrWrong: 10}}}, {Outcomes: bench.Outcomes{Checked: 5}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: .5, Compared: 20}}},
		{"each compared body", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 10, Failed: errors{bench.ErrWrong: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: 1, Compared: 10}}},
		{"of bodies not known to be compared", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 9, Failed: errors{bench.ErrWrong: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: .5}}},
		{"other errors next to compared bodies", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 20, Failed: errors{bench.ErrReset: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrReset, Count: 10, Share: .5}}},
	} {
		testenv.Equal(t, loaded(c.p, c.loads...).Failures(), c.want, c.name)
	}
	lost := bench.TrialResult{Trial: bench.Trial{Contender: "a"}, State: bench.TrialFailed, Steps: []bench.StepResult{
		{Ending: bench.EndedByNeed, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1, Failed: errors{bench.ErrReset: 9}}}},
	}}
	got := Of(bench.Run{Profile: one}, []bench.TrialResult{lost}).Contenders[0].Failures()
	testenv.Check(t, len(got) == 0, "errors after the end of a need: %+v", got)
	step := bench.Step{Request: "buy"}
	testenv.Equal(t, loaded(one).sole(step)+loaded(two).sole(step), "buybuy")
}

func TestContender_Sessions(t *testing.T) {
	type failed = map[string]int64
	got := loaded(bench.Profile{},
		bench.Load{Sessions: []bench.SessionLoad{{Name: "shop", Begun: 9, Completed: 5, Rejected: 1, Failed: failed{"buy": 2}}}},
		bench.Load{Sessions: []bench.SessionLoad{{Name: "read", Begun: 1}, {Name: "shop", Begun: 4, Completed: 1, Rejected: 1, Failed: failed{"buy": 1, "pay": 1}}}},
	).Sessions()
	want := []bench.SessionLoad{
		{Name: "shop", Begun: 13, Completed: 6, Rejected: 2, Failed: failed{"buy": 3, "pay": 1}},
		{Name: "read", Begun: 1, Failed: failed{}},
	}
	testenv.Check(t, reflect.DeepEqual(got, want), "%+v, want\n%+v", got, want)
}
