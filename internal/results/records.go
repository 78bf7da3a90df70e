package results

import (
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Records returns the events of a run without an event log, as far as its results hold them.
func Records(run bench.Run, trials []bench.TrialResult, dir string) []bench.Record {
	t := &recorder{at: run.Started}
	opened := run
	opened.State, opened.Ended = bench.RunRunning, time.Time{}
	opened.Trials = slices.Clone(run.Trials)
	order := map[bench.Trial]int{}
	for i, entry := range opened.Trials {
		order[entry.Trial] = i
	}
	for _, trial := range trials {
		if i, ok := order[trial.Trial]; ok {
			opened.Trials[i].State = bench.TrialPending
		}
	}
	t.add(run.Started, nil, bench.RunStarted{Run: opened, Dir: dir})
	for _, w := range run.Warnings {
		t.add(run.Started, nil, bench.WarningNotice(w))
	}
	trials = slices.Clone(trials)
	slices.SortStableFunc(trials, func(a, b bench.TrialResult) int { return a.Started.Compare(b.Started) })
	changes := slices.Clone(run.ManualChanges)
	for i := range changes {
		changes[i].Step = nil
	}
	for _, trial := range trials {
		changes = t.changesUntil(changes, trial.Started, nil)
		t.trial(trial, order[trial.Trial]+1, len(run.Trials))
	}
	t.changesUntil(changes, endOfTime, nil)
	if run.State != bench.RunRunning {
		t.add(run.Ended, nil, bench.RunEnded{State: run.State})
	}
	for i := range t.records {
		t.records[i].Seq = int64(i + 1)
	}
	return t.records
}

// recorder collects records, whose times never go back.
type recorder struct {
	records []bench.Record
	at      time.Time
}

func (t *recorder) add(at time.Time, trial *bench.Trial, e bench.Event) {
	if at.After(t.at) {
		t.at = at
	}
	t.records = append(t.records, bench.Record{At: t.at, Trial: trial, Event: e})
}

// endOfTime is after every time that JSON can hold.
var endOfTime = time.Date(10001, 1, 1, 0, 0, 0, 0, time.UTC)

// changesUntil adds the manual changes until a time, and returns the others.
func (t *recorder) changesUntil(all []bench.ManualChange, until time.Time, trial *bench.Trial) []bench.ManualChange {
	for len(all) > 0 && !all[0].At.After(until) {
		t.add(all[0].At, trial, bench.ChangedManually{Control: all[0].Control, Step: all[0].Step})
		all = all[1:]
	}
	return all
}

func (t *recorder) trial(r bench.TrialResult, number, of int) {
	name := r.Trial
	trial := &name
	t.add(r.Started, trial, bench.TrialStarted{Number: number, Of: of, Service: r.Service, Artifact: r.Artifact})
	if r.Instance != nil {
		t.add(r.Instance.StartedAt, trial, bench.InstanceStarted{Info: *r.Instance})
	}
	if r.StartUp != nil {
		at := t.at
		if r.Instance != nil {
			at = r.Instance.StartedAt.Add(*r.StartUp)
		}
		t.add(at, trial, bench.InstanceReady{StartUp: *r.StartUp, FirstResponse: r.FirstResponse})
	}
	for _, m := range r.Marks {
		t.add(m.Usage.At, trial, bench.MarkRead{Mark: m})
	}
	for _, c := range r.Checks {
		t.add(t.at, trial, bench.CheckDone{Check: c})
	}
	t.steps(trial, r)
	for _, in := range r.Incidents {
		t.add(in.At, trial, bench.IncidentOccurred{Incident: in})
	}
	for _, w := range r.Warnings {
		t.add(t.at, trial, bench.WarningNotice(w))
	}
	if r.Stop != nil {
		t.add(t.at.Add(max(0, min(r.Stop.Took, time.Hour))), trial, bench.InstanceStopped{Stop: *r.Stop})
	}
	if len(r.LastLog) > 0 {
		t.add(t.at, trial, bench.LogLines{Lines: r.LastLog})
	}
	if r.State != bench.TrialRunning {
		t.add(r.Ended, trial, bench.TrialEnded{State: r.State, Failure: r.Failure, Exit: r.Exit, LastLog: r.LastLog,
			Lost: r.Lost})
	}
}

// steps adds the steps with their windows, samples and manual changes, sorted by time.
func (t *recorder) steps(trial *bench.Trial, r bench.TrialResult) {
	changes := r.ManualChanges
	for _, step := range r.Steps {
		start := step.Load.Started
		changes = t.changesUntil(changes, start, trial)
		t.add(start, trial, bench.StepStarted{Index: step.Index, Of: len(r.Steps), Step: step.Step})
		var inside []bench.Record
		add := func(at time.Time, e bench.Event) { inside = append(inside, bench.Record{At: at, Event: e}) }
		for _, u := range step.Samples {
			add(u.At, bench.UsageRead{Usage: u})
		}
		for i, u := range []*bench.Usage{step.Before, step.After} {
			if u == nil {
				continue
			}
			read := bench.UsageRead{Usage: *u}
			if host := []*bench.HostReading{step.HostBefore, step.HostAfter}[i]; host != nil {
				read.Needs = host.Needs
			}
			add(u.At, read)
		}
		for _, w := range step.Load.Windows {
			add(start.Add(w.Start+w.Length), bench.WindowClosed{Index: step.Index, Window: w})
		}
		slices.SortStableFunc(inside, func(a, b bench.Record) int { return a.At.Compare(b.At) })
		for _, rec := range inside {
			changes = t.changesUntil(changes, rec.At, trial)
			t.add(rec.At, trial, rec.Event)
		}
		t.add(start.Add(max(step.Load.Elapsed, step.Load.Wall)), trial, bench.StepEnded{Result: step})
	}
	t.changesUntil(changes, endOfTime, trial)
}
