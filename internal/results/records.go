package results

import (
	"slices"
	"time"

	"locbench/internal/bench"
)

// Records are events such as a run with these results publishes: for folders without an event log. What
// the results do not hold (phases, log lines as they came) is not in them.
func Records(run bench.Run, legs []bench.LegResult, dir string) []bench.Record {
	t := &recorder{at: run.Started}
	opened := run
	opened.State, opened.Ended = bench.RunRunning, time.Time{}
	opened.Legs = slices.Clone(run.Legs)
	order := map[bench.Leg]int{}
	for i, entry := range opened.Legs {
		order[entry.Leg] = i
	}
	for _, leg := range legs {
		if i, ok := order[leg.Leg]; ok {
			opened.Legs[i].State = bench.LegPending
		}
	}
	t.add(run.Started, nil, bench.RunStarted{Run: opened, Dir: dir})
	for _, w := range run.Warnings {
		t.add(run.Started, nil, bench.Warn(w))
	}
	legs = slices.Clone(legs)
	slices.SortStableFunc(legs, func(a, b bench.LegResult) int { return a.Started.Compare(b.Started) })
	asked := slices.Clone(run.Interventions)
	for i := range asked {
		asked[i].Step = nil
	}
	for _, leg := range legs {
		asked = t.interventions(asked, leg.Started, nil)
		t.leg(leg, order[leg.Leg]+1, len(run.Legs))
	}
	t.interventions(asked, endOfTime, nil)
	if run.State != bench.RunRunning {
		t.add(run.Ended, nil, bench.RunEnded{State: run.State})
	}
	for i := range t.records {
		t.records[i].Seq = int64(i + 1)
	}
	return t.records
}

// recorder collects records; their time never goes back.
type recorder struct {
	records []bench.Record
	at      time.Time
}

func (t *recorder) add(at time.Time, leg *bench.Leg, e bench.Event) {
	if at.After(t.at) {
		t.at = at
	}
	t.records = append(t.records, bench.Record{At: t.at, Leg: leg, Event: e})
}

// endOfTime is after everything that JSON can say.
var endOfTime = time.Date(10001, 1, 1, 0, 0, 0, 0, time.UTC)

// interventions adds those of asked until a moment, and returns the others.
func (t *recorder) interventions(asked []bench.Intervention, until time.Time, leg *bench.Leg) []bench.Intervention {
	for len(asked) > 0 && !asked[0].At.After(until) {
		t.add(asked[0].At, leg, bench.Intervened{Control: asked[0].Control, Step: asked[0].Step})
		asked = asked[1:]
	}
	return asked
}

func (t *recorder) leg(r bench.LegResult, number, of int) {
	name := r.Leg
	leg := &name
	t.add(r.Started, leg, bench.LegStarted{Number: number, Of: of, Service: r.Service, Artifact: r.Artifact})
	if r.Instance != nil {
		t.add(r.Instance.StartedAt, leg, bench.InstanceStarted{Info: *r.Instance})
	}
	if r.StartUp != nil {
		at := t.at
		if r.Instance != nil {
			at = r.Instance.StartedAt.Add(*r.StartUp)
		}
		t.add(at, leg, bench.InstanceReady{StartUp: *r.StartUp, FirstAnswer: r.FirstAnswer})
	}
	for _, m := range r.Marks {
		t.add(m.Usage.At, leg, bench.MarkRead{Mark: m})
	}
	for _, c := range r.Checks {
		t.add(t.at, leg, bench.CheckDone{Check: c})
	}
	t.steps(leg, r)
	for _, in := range r.Incidents {
		t.add(in.At, leg, bench.IncidentOccurred{Incident: in})
	}
	for _, w := range r.Warnings {
		t.add(t.at, leg, bench.Warn(w))
	}
	if r.Stop != nil {
		t.add(t.at.Add(max(0, min(r.Stop.Took, time.Hour))), leg, bench.InstanceStopped{Stop: *r.Stop})
	}
	if len(r.LastLog) > 0 {
		t.add(t.at, leg, bench.LogLines{Lines: r.LastLog})
	}
	if r.State != bench.LegRunning {
		t.add(r.Ended, leg, bench.LegEnded{State: r.State, Failure: r.Failure, Exit: r.Exit, LastLog: r.LastLog,
			Lost: r.Lost})
	}
}

// steps adds the steps with their windows, samples, and what somebody asked for meanwhile, by
// time.
func (t *recorder) steps(leg *bench.Leg, r bench.LegResult) {
	asked := r.Interventions
	for _, step := range r.Steps {
		start := step.Load.Started
		asked = t.interventions(asked, start, leg)
		t.add(start, leg, bench.StepStarted{Index: step.Index, Of: len(r.Steps), Step: step.Step})
		var inside []bench.Record
		add := func(at time.Time, e bench.Event) { inside = append(inside, bench.Record{At: at, Event: e}) }
		for _, u := range step.Samples {
			add(u.At, bench.UsageRead{Usage: u})
		}
		for _, u := range []*bench.Usage{step.Before, step.After} {
			if u != nil {
				add(u.At, bench.UsageRead{Usage: *u})
			}
		}
		for _, w := range step.Load.Windows {
			add(start.Add(w.Start+w.Length), bench.WindowClosed{Index: step.Index, Window: w})
		}
		slices.SortStableFunc(inside, func(a, b bench.Record) int { return a.At.Compare(b.At) })
		for _, rec := range inside {
			asked = t.interventions(asked, rec.At, leg)
			t.add(rec.At, leg, rec.Event)
		}
		t.add(start.Add(max(step.Load.Elapsed, step.Load.Wall)), leg, bench.StepEnded{Result: step})
	}
	t.interventions(asked, endOfTime, leg)
}
