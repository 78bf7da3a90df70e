package fold

import (
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// Apply takes in one record.
func (s *State) Apply(rec bench.Record) {
	s.Version++
	s.Seq = max(s.Seq, rec.Seq)
	if rec.At.After(s.Last) {
		s.Last = rec.At
	}
	s.Estimate.Apply(rec)
	if rec.Leg == nil {
		s.applyRun(rec)
	} else if leg := s.legFor(rec); leg != nil {
		s.applyLeg(leg, rec)
	}
	s.diary(rec)
}

// legFor is the leg that rec is about. One that the plan does not name is taken in, as long as
// there is room.
func (s *State) legFor(rec bench.Record) *Leg {
	if s.Current != nil && s.Current.Result.Leg == *rec.Leg {
		return s.Current
	}
	leg := s.Leg(*rec.Leg)
	if leg == nil {
		if len(s.Legs) >= maxLegs {
			return nil
		}
		leg = &Leg{Result: bench.LegResult{Leg: *rec.Leg, State: bench.LegPending}}
		s.Legs = append(s.Legs, leg)
	}
	return leg
}

func (s *State) applyRun(rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		s.start(rec.At, e)
	case bench.Prepared:
		s.Prepared = &e
		s.Run.Store, s.Run.Software = e.Store, e.Software
	case bench.Paused:
		s.Paused, s.PauseWanted = rec.At, false
	case bench.Resumed:
		s.Paused, s.PauseWanted = time.Time{}, false
	case bench.Intervened:
		s.intervened(e.Control)
	case bench.RunEnded:
		s.Ended = &e
		s.Run.State, s.Run.Ended = e.State, rec.At
		s.Paused, s.PauseWanted, s.StopWanted = time.Time{}, false, false
	}
	s.phase(rec)
}

// start opens the run, or a resumed part of it: legs that were complete before keep what is known
// of them.
func (s *State) start(at time.Time, e bench.RunStarted) {
	before := s.Legs
	s.Run, s.Dir, s.Started, s.Ended = e.Run, e.Dir, at, nil
	s.Run.Legs = slices.Clone(e.Run.Legs) // their states change here, and must not in the record, which may be folded again
	s.Paused, s.PauseWanted, s.StopWanted = time.Time{}, false, false
	s.Legs, s.Current = nil, nil
	for i, entry := range e.Run.Legs {
		if i >= maxLegs {
			break
		}
		leg := &Leg{Result: bench.LegResult{Leg: entry.Leg, State: entry.State}, Number: i + 1}
		for _, b := range before {
			if b.Result.Leg == entry.Leg && entry.State == bench.LegComplete && b.Result.State == bench.LegComplete {
				leg = b
				leg.Number = i + 1
			}
		}
		s.Legs = append(s.Legs, leg)
	}
}

func (s *State) applyLeg(leg *Leg, rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.LegStarted:
		*leg = Leg{Result: bench.LegResult{Leg: *rec.Leg}, Number: e.Number}
		s.Current = leg
	case bench.InstanceReady:
		leg.ReadyAt = rec.At
	case bench.StepStarted:
		leg.stepStarted(rec.At, e)
	case bench.WindowClosed:
		leg.window(e)
	case bench.UsageRead:
		leg.usage(e.Usage)
	case bench.StepEnded:
		if len(leg.Result.Steps) >= maxSteps {
			return
		}
		leg.stepEnded(rec.At, e.Result)
	case bench.LogLines:
		leg.Log = append(leg.Log, e.Lines...)
		leg.Log = tail(leg.Log, maxLog)
		leg.Dropped += max(0, e.Dropped)
	case bench.Intervened:
		s.intervened(e.Control)
		text := string(e.Control.Kind)
		switch e.Control.Kind {
		case bench.ControlNote:
			text = e.Control.Text
		case bench.ControlRate:
			text = "rate " + units.Rate(e.Control.Rate)
			if step := s.Step(); step != nil && step.Running() && s.Current == leg {
				step.Rate = e.Control.Rate
			}
		}
		leg.flag(rec.At, text)
	case bench.Paused:
		s.Paused, s.PauseWanted = rec.At, false
		leg.flag(rec.At, "paused")
	case bench.Resumed:
		s.Paused, s.PauseWanted = time.Time{}, false
	case bench.LegEnded:
		for i := range s.Run.Legs {
			if s.Run.Legs[i].Leg == *rec.Leg {
				s.Run.Legs[i].State = e.State
			}
		}
	}
	leg.Result.Apply(rec.At, rec.Event)
	r := &leg.Result
	if r.State == bench.LegRunning && s.Current != nil && s.Current.Result.State != bench.LegRunning {
		s.Current = leg // of those that take turns it has not ended yet
	}
	r.Checks, r.Marks = first(r.Checks), first(r.Marks)
	r.Warnings, r.Interventions = first(r.Warnings), first(r.Interventions)
	s.phase(rec)
}

// first is the beginning of a list from outside, as much of it as is kept.
func first[T any](list []T) []T { return list[:min(len(list), maxNotes)] }

func (s *State) intervened(c bench.Control) {
	switch c.Kind {
	case bench.ControlPause:
		s.PauseWanted = true
	case bench.ControlResume:
		s.PauseWanted = false
	case bench.ControlStop:
		s.StopWanted, s.PauseWanted = true, false // the runner takes a pause back that was only asked for
	}
}

func (s *State) phase(rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.PhaseStarted:
		s.Phase = Phase{Name: e.Phase, Leg: rec.Leg, Since: rec.At, Note: e.Note}
	case bench.PhaseEnded:
		if s.Phase.Name == e.Phase {
			s.Phase.Ended, s.Phase.Err = true, e.Err
		}
	case bench.Progress:
		if s.Phase.Name != e.Phase {
			s.Phase = Phase{Name: e.Phase, Leg: rec.Leg, Since: rec.At}
		}
		s.Phase.Progress = &e
	}
}

func (l *Leg) stepStarted(at time.Time, e bench.StepStarted) {
	if l.Origin.IsZero() {
		l.Origin = at
	}
	if len(l.Steps) >= maxSteps {
		return
	}
	l.Steps = append(l.Steps, &Step{Index: e.Index, Step: e.Step, From: l.Seconds(at)})
	l.lastUsage = nil
}

// running is the step that windows and samples belong to; nil if none is open.
func (l *Leg) running(index int) *Step {
	if n := len(l.Steps); n > 0 && l.Steps[n-1].Index == index {
		return l.Steps[n-1]
	}
	return nil
}

func (l *Leg) window(e bench.WindowClosed) {
	step := l.running(e.Index)
	w := e.Window
	if step == nil || w.Start < 0 || w.Length <= 0 || w.Start > 48*time.Hour || w.Length > 48*time.Hour {
		return
	}
	step.Windows++
	step.Ran = max(step.Ran, w.Start+w.Length)
	p := LoadPoint{
		T: step.From + (w.Start + w.Length/2).Seconds(), Throughput: w.Throughput(), Due: max(0, w.Rate), Drain: w.Drain, Kinds: w.Failed,
		P50: w.P50.Seconds(), P90: w.P90.Seconds(), P99: w.P99.Seconds(), Max: w.Max.Seconds(), Bytes: float64(max(0, w.Bytes)) / w.Length.Seconds(),
	}
	for _, n := range w.Failed {
		p.Errors += float64(n) / w.Length.Seconds()
	}
	l.Load = halve(append(l.Load, p))
}

func (l *Leg) usage(u bench.Usage) {
	if l.Origin.IsZero() {
		return
	}
	p := UsagePoint{T: l.Seconds(u.At), Throttled: -1}
	p.From = p.T
	if !finite(p.T) || p.T < -60 || p.T > 48*3600 {
		return
	}
	if last := l.lastUsage; last != nil {
		if dt := u.At.Sub(last.At); dt > 0 && u.CPU >= last.CPU {
			p.From = l.Seconds(last.At)
			p.CPUs, p.Known = float64(u.CPU-last.CPU)/float64(dt), true
		}
		if a, b := u.Throttling, last.Throttling; a != nil && b != nil && a.Periods > b.Periods && a.Throttled >= b.Throttled {
			p.Throttled = min(1, float64(a.Throttled-b.Throttled)/float64(a.Periods-b.Periods))
		}
	}
	if u.Memory != nil {
		p.Used, p.Peak = float64(max(0, u.Memory.Used)), float64(max(0, u.Memory.Peak))
	}
	l.Usage = halve(append(l.Usage, p))
	l.lastUsage = &u
}

func (l *Leg) stepEnded(at time.Time, r bench.StepResult) {
	step := l.running(r.Index)
	if step == nil || step.Result != nil {
		l.stepStarted(at, bench.StepStarted{Index: r.Index, Step: r.Step})
		if step = l.running(r.Index); step == nil {
			return
		}
	}
	step.Result, step.To = &r, max(step.From, l.Seconds(at))
}

func (l *Leg) flag(at time.Time, text string) {
	if len(l.Flags) < maxFlags {
		l.Flags = append(l.Flags, Flag{T: l.Seconds(at), Text: text})
	}
}

func halve[T any](points []T) []T {
	if len(points) > maxPoints {
		return append([]T(nil), points[maxPoints/2:]...)
	}
	return points
}

func tail[T any](xs []T, n int) []T {
	if len(xs) > n {
		return append([]T(nil), xs[len(xs)-n:]...)
	}
	return xs
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
