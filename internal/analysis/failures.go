package analysis

import (
	"cmp"
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Failure is one kind of error of one kind of request, over all steps and rounds of a contender.
type Failure struct {
	Request string // name of the kind of request
	Session string // session of the request; "": a single request
	Kind    bench.ErrorKind
	Count   int64
	Share   float64 // of all requests of the kind, 0 to 1; unexpected bodies: of the compared ones
	// unexpected bodies only: bodies compared, of requests of this kind
	Compared int64
	First    string // status and text of the first error with a text
}

// Failures returns the errors of a contender, the highest share first, without those of steps in
// which a need ended.
func (c Contender) Failures() []Failure {
	type key struct {
		request string
		kind    bench.ErrorKind
	}
	sent, compared, of := map[string]int64{}, map[string]int64{}, map[key]*Failure{}
	for _, trial := range c.Results {
		for _, s := range trial.Steps {
			if s.Ending == bench.EndedByNeed {
				continue
			}
			for _, r := range c.requests(s) {
				sent[r.Name] += r.Succeeded + r.Rejected.Total()
				compared[r.Name] += r.Checked
				for kind, n := range r.Failed {
					f := of[key{r.Name, kind}]
					if f == nil {
						f = &Failure{Request: r.Name, Session: c.request(r.Name).Session, Kind: kind}
						of[key{r.Name, kind}] = f
					}
					sent[r.Name] += n
					f.Count += n
					f.First = cmp.Or(f.First, r.Examples[kind])
				}
			}
		}
	}
	var all []Failure
	for k, f := range of {
		if f.Count > 0 {
			f.Share = float64(f.Count) / float64(sent[k.request])
			if n := compared[k.request]; k.kind == bench.ErrWrong && n >= f.Count {
				f.Share, f.Compared = float64(f.Count)/float64(n), n
			}
			all = append(all, *f)
		}
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Request, b.Request),
			cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// requests returns the load of a step by kind of request; one of all requests if it is not known.
func (c Contender) requests(s bench.StepResult) []bench.RequestLoad {
	if len(s.Load.Requests) == 0 {
		return []bench.RequestLoad{{Name: c.sole(s.Step), Outcomes: s.Load.Whole()}}
	}
	return s.Load.Requests
}

// request returns a request of the profile; without one its zero value.
func (c Contender) request(name string) (found bench.Request) {
	p, _ := c.profile()
	if i := slices.IndexFunc(p.Requests, func(r bench.Request) bool { return r.Name == name }); i >= 0 {
		found = p.Requests[i]
	}
	return found
}

// sole returns the name of the only kind of request in a step.
func (c Contender) sole(step bench.Step) string {
	p, _ := c.profile()
	all := slices.DeleteFunc(slices.Clone(p.Requests), func(r bench.Request) bool { return r.SetUp })
	if step.Request == "" && len(all) == 1 {
		return all[0].Name
	}
	return step.Request
}

// Sessions returns the results of each kind of session, over all steps and rounds.
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
				all[i].Rejected += one.Rejected
				for request, n := range one.Failed {
					all[i].Failed[request] += n
				}
			}
		}
	}
	return all
}
