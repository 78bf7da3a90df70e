package fold

import (
	"cmp"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/plain"
)

// Apply adds one record to the state.
func (s *State) Apply(rec bench.Record) {
	s.Version++
	s.Seq = max(s.Seq, rec.Seq)
	if rec.At.After(s.Last) {
		s.Last = rec.At
	}
	s.Estimate.Apply(rec)
	if rec.Trial == nil {
		s.applyRun(rec)
		s.applyAny(rec)
	} else if trial := s.trialFor(rec); trial != nil {
		s.applyTrial(trial, rec)
		s.applyAny(rec)
	}
	s.diary(rec)
}

// diary adds what the text of the run says about a record.
func (s *State) diary(rec bench.Record) {
	trial := &Trial{}
	if rec.Trial != nil {
		trial = cmp.Or(s.trialFor(rec), trial)
	}
	for _, e := range s.narrator.Of(rec, &s.Run, &trial.Result, &s.Estimate) {
		switch e.Level {
		case plain.Warning:
			s.Warnings++
		case plain.Error:
			s.Errors++
		}
		s.Diary = tail(append(s.Diary, Line{At: rec.At, Trial: rec.Trial, Level: e.Level, Text: e.String()}), maxLines, maxLines)
	}
}

// trialFor returns the trial of rec. One that is not in the plan is added while there is room.
func (s *State) trialFor(rec bench.Record) *Trial {
	if s.Current != nil && s.Current.Result.Trial == *rec.Trial {
		return s.Current
	}
	trial := s.Trial(*rec.Trial)
	if trial == nil && len(s.Trials) < maxTrials {
		trial = &Trial{Result: bench.TrialResult{Trial: *rec.Trial, State: bench.TrialPending}}
		s.Trials = append(s.Trials, trial)
	}
	return trial
}

func (s *State) applyRun(rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		s.start(rec.At, e)
	case bench.Prepared:
		s.Run.Needs, s.Run.NeedParts, s.Run.Software = e.Needs, e.NeedParts, e.Software
	case bench.RunEnded:
		s.Ended = &e
		s.Run.State, s.Run.Ended = e.State, rec.At
		s.Paused, s.PauseRequested, s.StopRequested = time.Time{}, false, false
	}
}

// start opens the run, or a resumed part of it, which keeps the complete trials.
func (s *State) start(at time.Time, e bench.RunStarted) {
	before := s.Trials
	s.Warnings, s.Errors = 0, 0
	for i := range s.Diary {
		s.Diary[i].Earlier = true
	}
	s.Run, s.Dir, s.Started, s.Ended = e.Run, e.Dir, at, nil
	s.Run.Trials = slices.Clone(e.Run.Trials) // states change here, not in the record: it may be applied again
	s.Paused, s.PauseRequested, s.StopRequested = time.Time{}, false, false
	s.Trials, s.Current = nil, nil
	for i, entry := range first(e.Run.Trials, maxTrials) {
		trial := &Trial{Result: bench.TrialResult{Trial: entry.Trial, State: entry.State}}
		for _, b := range before {
			if b.Result.Trial == entry.Trial && entry.State == bench.TrialComplete && b.Result.State == bench.TrialComplete {
				trial = b
			}
		}
		trial.Number = i + 1
		s.Trials = append(s.Trials, trial)
	}
}

func (s *State) applyTrial(trial *Trial, rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.TrialStarted:
		*trial = Trial{Result: bench.TrialResult{Trial: *rec.Trial}, Number: e.Number}
		s.Current = trial
	case bench.StepStarted:
		trial.stepStarted(rec.At, e)
	case bench.WindowClosed:
		trial.window(e.Index, e.Window, false)
	case bench.WindowGrew:
		trial.window(e.Index, e.Window, true)
	case bench.UsageRead:
		trial.usage(e)
	case bench.StepEnded:
		trial.dropOpen()
		if len(trial.Result.Steps) >= maxSteps {
			return
		}
		trial.stepEnded(rec.At, e.Result)
	case bench.LogLines:
		trial.Log = tail(append(trial.Log, e.Lines...), maxLog, maxLog)
		trial.Dropped += max(0, e.Dropped)
	case bench.ChangedManually:
		trial.flag(trial.Seconds(rec.At), e.Control.Kind.Words())
	case bench.Paused:
		trial.flag(trial.Seconds(rec.At), "paused")
	case bench.TrialEnded:
		if e.Cause != nil && len(trial.Load) > 0 { // where its load ended
			trial.flag(trial.Span(), "✗ "+e.Cause.Text)
		}
		for i := range s.Run.Trials {
			if entry := &s.Run.Trials[i]; entry.Trial == *rec.Trial {
				entry.State, entry.Excluded, entry.Bodies = e.State, e.Excluded, trial.Result.Bodies()
			}
		}
	}
	trial.Result.Apply(rec.At, rec.Event)
	r := &trial.Result
	if r.State == bench.TrialRunning && s.Current != nil && s.Current.Result.State != bench.TrialRunning {
		s.Current = trial // another interleaved trial is still running
	}
	r.Checks, r.Marks = first(r.Checks, maxNotes), first(r.Marks, maxNotes)
	r.Warnings, r.ManualChanges = first(r.Warnings, maxNotes), first(r.ManualChanges, maxNotes)
}

// first returns at most n elements of a list from outside.
func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// applyAny applies records that exist with and without a trial.
func (s *State) applyAny(rec bench.Record) {
	switch e := rec.Event.(type) {
	case bench.Paused:
		s.Paused, s.PauseRequested = rec.At, false
	case bench.Resumed:
		s.Paused, s.PauseRequested = time.Time{}, false
	case bench.ChangedManually:
		switch e.Control.Kind {
		case bench.ControlPause:
			s.PauseRequested = true
		case bench.ControlResume:
			s.PauseRequested = false
		case bench.ControlStop:
			s.StopRequested, s.PauseRequested = true, false // the runner cancels a pause that has not begun
		}
	case bench.PhaseStarted:
		s.Phase = Phase{Name: e.Phase, Trial: rec.Trial, Since: rec.At, Note: e.Note}
	case bench.PhaseEnded:
		if s.Phase.Name == e.Phase {
			s.Phase.Ended, s.Phase.Err = true, e.Err
		}
	case bench.Progress:
		if s.Phase.Name != e.Phase {
			s.Phase = Phase{Name: e.Phase, Trial: rec.Trial, Since: rec.At}
		}
		s.Phase.Progress = &e
	}
}

func (trial *Trial) stepStarted(at time.Time, e bench.StepStarted) {
	if trial.Origin.IsZero() {
		trial.Origin = at
	}
	if len(trial.Steps) >= maxSteps {
		return
	}
	trial.Steps = append(trial.Steps, &Step{Index: e.Index, Step: e.Step, From: trial.Seconds(at)})
	trial.lastUsage, trial.lastNeeds = nil, nil
}

// running returns the step that a window or a reading belongs to; nil if it is not the last one.
func (trial *Trial) running(index int) *Step {
	if n := len(trial.Steps); n > 0 && trial.Steps[n-1].Index == index {
		return trial.Steps[n-1]
	}
	return nil
}

// window adds a second of load; open: a part of one, which the next call replaces.
func (trial *Trial) window(index int, w bench.Window, open bool) {
	step := trial.running(index)
	if step == nil || w.Start < 0 || w.Length <= 0 || w.Start > 48*time.Hour || w.Length > 48*time.Hour {
		return
	}
	trial.dropOpen()
	if !open {
		step.Windows++
	}
	step.Ran = max(step.Ran, w.Start+w.Length)
	p := LoadPoint{
		T: step.From + (w.Start + w.Length/2).Seconds(), Throughput: w.Throughput(), Rate: max(0, w.Rate),
		P50: w.P50.Seconds(), P90: w.P90.Seconds(), P99: w.P99.Seconds(), Max: w.Max.Seconds(),
		Bytes: float64(max(0, w.Bytes)) / w.Length.Seconds(), Kinds: w.Failed,
		Length: w.Length.Seconds(), Open: open,
	}
	if !open && len(w.Failed) > 0 && trial.Errors == nil {
		trial.Errors = map[bench.ErrorKind]int64{}
	}
	for kind, n := range w.Failed {
		p.Errors += float64(max(0, n)) / p.Length
		if _, known := trial.Errors[kind]; !open && n > 0 && (known || len(trial.Errors) < maxKinds) {
			trial.Errors[kind] += n
		}
	}
	trial.Load = tail(append(trial.Load, p), maxPoints, maxPoints-maxPoints/2+1)
}

// Growing reports whether the newest second of load is not over.
func (trial *Trial) Growing() bool {
	n := len(trial.Load)
	return n > 0 && trial.Load[n-1].Open
}

// dropOpen removes the point of a second that is not over.
func (trial *Trial) dropOpen() {
	if trial.Growing() {
		trial.Load = trial.Load[:len(trial.Load)-1]
	}
}

func (trial *Trial) usage(read bench.UsageRead) {
	u := read.Usage
	t := trial.Seconds(u.At)
	if trial.Origin.IsZero() || !(t >= -60 && t <= 48*3600) {
		return
	}
	p := UsagePoint{T: t, From: t, Throttled: -1}
	if last := trial.lastUsage; last != nil {
		if dt := u.At.Sub(last.At); dt > 0 && u.CPU >= last.CPU {
			p.From = trial.Seconds(last.At)
			p.CPUs, p.Known = float64(u.CPU-last.CPU)/float64(dt), true
		}
		if a, b := u.Throttling, last.Throttling; a != nil && b != nil && a.Periods > b.Periods &&
			a.Throttled >= b.Throttled {
			p.Throttled = min(1, float64(a.Throttled-b.Throttled)/float64(a.Periods-b.Periods))
		}
	}
	if u.Memory != nil {
		p.Used, p.Peak = float64(max(0, u.Memory.Used)), float64(max(0, u.Memory.Peak))
	}
	trial.ofNeeds(&p, read.Needs)
	trial.Usage = tail(append(trial.Usage, p), maxPoints, maxPoints-maxPoints/2+1)
	trial.lastUsage = &u
}

// ofNeeds adds what the needs used since their last reading.
func (trial *Trial) ofNeeds(p *UsagePoint, now map[string]*bench.NeedUsage) {
	for name, u := range now {
		last, known := trial.lastNeeds[name]
		if u == nil || !known && len(trial.lastNeeds) >= maxNeeds {
			continue
		}
		if dt := u.At.Sub(last.At); known && dt > 0 && u.CPU >= last.CPU && u.Source == last.Source && u.Source != bench.EmbeddedSource {
			if p.Needs == nil {
				p.Needs = map[string]float64{}
			}
			p.Needs[name] = float64(u.CPU-last.CPU) / float64(dt)
		}
		if trial.lastNeeds == nil {
			trial.lastNeeds = map[string]bench.NeedUsage{}
		}
		trial.lastNeeds[name] = *u
	}
}

func (trial *Trial) stepEnded(at time.Time, r bench.StepResult) {
	if step := trial.running(r.Index); step == nil || step.Result != nil {
		trial.stepStarted(at, bench.StepStarted{Index: r.Index, Step: r.Step})
	}
	if step := trial.running(r.Index); step != nil {
		step.Result, step.To = &r, max(step.From, trial.Seconds(at))
	}
}

func (trial *Trial) flag(at float64, text string) {
	if len(trial.Flags) < maxFlags {
		trial.Flags = append(trial.Flags, Flag{T: at, Text: text})
	}
}

// tail returns the list, or its last n elements if it has more than most.
func tail[T any](list []T, most, n int) []T {
	if len(list) > most {
		return slices.Clone(list[len(list)-n:])
	}
	return list
}
