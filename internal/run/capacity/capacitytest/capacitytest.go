// Package capacitytest makes records of searches for tests, by searching services of a known
// capacity.
package capacitytest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/capacity"
)

// Service is a service under one CPU limit.
type Service struct {
	CPUs   float64
	Holds  float64                  // the highest rate with a p99 below 50 ms; 0: none
	Client float64                  // the highest rate that the client can send; 0: any
	Stop   int                      // probes after which the search is interrupted; 0: never
	Memory int64                    // its use up to Holds, above which it doubles; 0: not known
	Needs  map[string]time.Duration // CPU time per request
}

// Record returns the record of a search with a limit for each service.
func Record(services ...Service) capacity.Record {
	r := capacity.Record{
		Schema: capacity.Schema, Contender: bench.Selection{Contender: "go-nethttp"}, SLO: "p99<50ms,errors<0.1%", Resolution: .03,
		Need: 2, Of: 3, Length: 10 * time.Second, Started: benchtest.Start(), Price: .0275,
		Command: []string{"locbench", "capacity", "go-nethttp", "--slo", "p99<50ms,errors<0.1%", "-o", "out"},
	}
	for _, s := range services {
		p := capacity.Point{Limits: bench.Limits{CPUs: s.CPUs, Memory: 512 << 20}, Dir: "."}
		if len(services) > 1 {
			p.Label, p.Dir = units.CPUs(s.CPUs), "cpus-"+strconv.FormatFloat(s.CPUs, 'g', -1, 64)
		}
		s.search(&p, r)
		r.Points = append(r.Points, p)
	}
	return r
}

func (s Service) search(p *capacity.Point, r capacity.Record) {
	search, err := capacity.New(capacity.Config{Start: max(100, s.Holds/3), Min: 50, Max: 1e6, Resolution: r.Resolution, Need: r.Need,
		Of: r.Of, Probes: 60})
	if err != nil {
		panic(err) // the parameters are constant
	}
	for probe, more := search.Next(); more; probe, more = search.Next() {
		if s.Stop > 0 && len(p.Outcomes) == s.Stop {
			p.Failure = "interrupted"
			break
		}
		outcome := s.probe(probe)
		search.Record(capacity.Verdict{Sustained: outcome.Sustained, Client: outcome.Client})
		p.Outcomes = append(p.Outcomes, outcome)
	}
	p.Result = search.Result()
}

// probe returns the outcome of a probe: p99 rises with the load, and from the capacity on fast.
func (s Service) probe(p capacity.Probe) capacity.Outcome {
	load := p.Rate / max(s.Holds, 1)
	o := capacity.Outcome{Probe: p, Step: p.Number, Achieved: p.Rate, P99: time.Duration((6 + 40*load*load*load) * 1e6),
		CPUEach: 600 * time.Microsecond, Memory: s.Memory, Needs: s.Needs}
	switch {
	case s.Client > 0 && p.Rate > s.Client:
		o.Client, o.Achieved, o.P99, o.Late = true, s.Client, 60*time.Millisecond, int64(p.Rate)
	case p.Rate > s.Holds:
		o.P99 = time.Duration(min(60+500*(load-1), 212) * 1e6)
		o.Achieved, o.Memory = min(p.Rate, s.Holds*1.02), 2*s.Memory
	}
	o.P50, o.CPU = o.P99/8, min(s.CPUs, o.Achieved*o.CPUEach.Seconds())
	if o.Sustained = o.P99 < 50*time.Millisecond; !o.Sustained {
		o.Why = []string{fmt.Sprintf("p99 is %s, not <50ms", o.P99.Round(100*time.Microsecond))}
	}
	if o.Client {
		o.Why = append(o.Why, "client-bound: the client was late")
	}
	return o
}

// Several are services under four limits; with the first one no rate meets the SLO.
func Several() []Service {
	return []Service{{CPUs: .25}, {CPUs: .5, Holds: 690}, {CPUs: 1, Holds: 1450}, {CPUs: 2, Holds: 4000, Client: 2920}}
}
