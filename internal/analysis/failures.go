package analysis

import (
	"cmp"
	"slices"

	"locbench/internal/bench"
)

// Failure is one kind of failure of one kind of request, over all steps and rounds of a contender.
type Failure struct {
	Request string // its name
	Session string // that it is a part of; "": none
	Kind    bench.ErrorKind
	Count   int64
	Share   float64 // of all such requests, 0 to 1
	First   string  // status and text of the first one that has a text
}

// Failures returns what failed of a contender, the highest share first.
func (c Contender) Failures() []Failure {
	type key struct {
		request string
		kind    bench.ErrorKind
	}
	asked, of := map[string]int64{}, map[key]*Failure{}
	add := func(request string, succeeded int64, failed map[bench.ErrorKind]int64, examples map[bench.ErrorKind]string) {
		asked[request] += succeeded
		for kind, n := range failed {
			f := of[key{request, kind}]
			if f == nil {
				f = &Failure{Request: request, Session: c.session(request), Kind: kind}
				of[key{request, kind}] = f
			}
			asked[request] += n
			f.Count += n
			f.First = cmp.Or(f.First, examples[kind])
		}
	}
	for _, trial := range c.Results {
		for _, s := range trial.Steps {
			if len(s.Load.Requests) == 0 {
				add(c.sole(s.Step), s.Load.AllSucceeded(), s.Load.Failed, s.Load.Examples)
			}
			for _, r := range s.Load.Requests {
				examples := r.Examples
				if len(examples) == 0 { // a result of an earlier version has those of the step alone
					examples = s.Load.Examples
				}
				add(r.Name, r.Succeeded, r.Failed, examples)
			}
		}
	}
	var all []Failure
	for k, f := range of {
		if f.Count > 0 {
			f.Share = float64(f.Count) / float64(asked[k.request])
			all = append(all, *f)
		}
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Request, b.Request),
			cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// session returns that of a request; "" where it stands alone.
func (c Contender) session(request string) string {
	for _, r := range c.run.Profile.Requests {
		if r.Name == request {
			return r.Session
		}
	}
	return ""
}

// Sessions returns what became of those that the contender was asked in, over all steps and rounds.
func (c Contender) Sessions() (all []bench.SessionLoad) {
	for _, trial := range c.Results {
		for _, s := range trial.Steps {
			for _, one := range s.Load.Sessions {
				i := slices.IndexFunc(all, func(x bench.SessionLoad) bool { return x.Name == one.Name })
				if i < 0 {
					i, all = len(all), append(all, bench.SessionLoad{Name: one.Name, Failed: map[string]int64{}})
				}
				all[i].Begun += one.Begun
				all[i].Completed += one.Completed
				for request, n := range one.Failed {
					all[i].Failed[request] += n
				}
			}
		}
	}
	return all
}

// sole returns the name of the one request that a step asks.
func (c Contender) sole(step bench.Step) string {
	if all := c.run.Profile.Requests; step.Request == "" && len(all) == 1 {
		return all[0].Name
	}
	return step.Request
}
