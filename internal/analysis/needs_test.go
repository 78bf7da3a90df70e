package analysis

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A need's CPU time has a verdict where it is that of one contender: contenders run one after the
// other, or each has its own copy; never that of an external need.
func TestContender_Attributed(t *testing.T) {
	only := []bench.Selection{{Contender: "a"}}
	for name, c := range map[string]struct {
		need       bench.NeedSpec
		a, b       []func(*bench.TrialResult)
		attributed bool
		has        [2]bool
		shared     string
	}{
		"one after the other":            {need: bench.NeedSpec{Name: "db", From: bench.NeedContainer}, attributed: true, has: [2]bool{true, true}},
		"shared by interleaved ones":     {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, both, both, false, [2]bool{true, true}, "shared by interleaved contenders"},
		"the second is interleaved":      {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, nil, both, true, [2]bool{true, true}, "shared by interleaved contenders"},
		"one round is interleaved":       {bench.NeedSpec{Name: "db", From: bench.NeedContainer}, second, nil, false, [2]bool{true, true}, "shared by interleaved contenders"},
		"a copy of each interleaved one": {bench.NeedSpec{Name: "db", From: bench.NeedContainer, Own: true}, both, both, true, [2]bool{true, true}, ""},
		"external":                       {bench.NeedSpec{Name: "db", From: bench.NeedExternal}, nil, nil, false, [2]bool{true, true}, "external"},
		"external, interleaved":          {bench.NeedSpec{Name: "db", From: bench.NeedExternal}, both, both, false, [2]bool{true, true}, "external"},
		"external, called a copy":        {bench.NeedSpec{Name: "db", From: bench.NeedExternal, Own: true}, both, both, false, [2]bool{true, true}, "external"},
		"of the first alone":             {need: bench.NeedSpec{Name: "db", From: bench.NeedExternal, For: only}, has: [2]bool{true, false}, shared: "external"},
		"a copy of the first alone":      {bench.NeedSpec{Name: "db", From: bench.NeedContainer, Own: true, For: only}, both, both, true, [2]bool{true, false}, "shared by interleaved contenders"},
		"another need":                   {need: bench.NeedSpec{Name: "mail", From: bench.NeedExternal}, attributed: true},
	} {
		t.Run(name, func(t *testing.T) {
			all := append(rounds("a", 2, 1, c.a...), rounds("b", 2, 1, c.b...)...)
			for i := range all {
				for k := range all[i].Steps {
					s := &all[i].Steps[k]
					s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(1, 0), Source: "x"}}}
					s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(11, 0), Source: "x", CPU: time.Second}}}
				}
			}
			r := Of(bench.Run{ID: "r", Profile: bench.Profile{Needs: []bench.NeedSpec{{Name: "other", From: bench.NeedExternal, Own: true}, c.need}}}, all)
			a, b := r.Contenders[0], r.Contenders[1]
			testenv.Equal(t, a.Attributed("db"), c.attributed, "attributed")
			testenv.Equal(t, [2]bool{a.Has("db"), b.Has("db")}, c.has, "has")
			testenv.Equal(t, Couple{A: a, B: b}.Shared("db"), c.shared, "shared")
			testenv.Equal(t, Couple{A: a, B: b}.Shared(""), "", "without a need")
			tested := r.Tested()
			testenv.Equal(t, tested[len(tested)-1].NeedName() == "db", a.Attributed("db") || b.Attributed("db"), "tested")
		})
	}
}

var (
	both   = []func(*bench.TrialResult){interleaved}
	second = []func(*bench.TrialResult){in(2, interleaved)}
)
