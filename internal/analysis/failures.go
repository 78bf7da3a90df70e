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

// Failures returns the errors of a contender, the highest share first.
func (c Contender) Failures() []Failure {
	type key struct {
		request string
		kind    bench.ErrorKind
	}
	sent, of := map[string]int64{}, map[key]*Failure{}
	compared := map[string]int64{}
	add := func(request string, others, checked int64, failed map[bench.ErrorKind]int64, examples map[bench.ErrorKind]string) {
		sent[request] += others
		compared[request] += checked
		for kind, n := range failed {
			f := of[key{request, kind}]
			if f == nil {
				f = &Failure{Request: request, Session: c.session(request), Kind: kind}
				of[key{request, kind}] = f
			}
			sent[request] += n
			f.Count += n
			f.First = cmp.Or(f.First, examples[kind])
		}
	}
	for _, trial := range c.Results {
		for _, s := range trial.Steps {
			if len(s.Load.Requests) == 0 {
				add(c.sole(s.Step), s.Load.AllSucceeded()+s.Load.Rejected.Total(), s.Load.Checked, s.Load.Failed, s.Load.Examples)
			}
			for _, r := range s.Load.Requests {
				examples := r.Examples
				if len(examples) == 0 { // results of schema 1 have examples per step only
					examples = s.Load.Examples
				}
				add(r.Name, r.Succeeded+r.Rejected.Total(), r.Checked, r.Failed, examples)
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

// session returns the session of a request; "" for a single request.
func (c Contender) session(request string) string {
	for _, r := range c.run.Profile.Requests {
		if r.Name == request {
			return r.Session
		}
	}
	return ""
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

// sole returns the name of the only kind of request in a step.
func (c Contender) sole(step bench.Step) string {
	all := slices.DeleteFunc(slices.Clone(c.run.Profile.Requests), func(r bench.Request) bool { return r.SetUp })
	if step.Request == "" && len(all) == 1 {
		return all[0].Name
	}
	return step.Request
}
