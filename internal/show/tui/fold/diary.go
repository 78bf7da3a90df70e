package fold

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// diary adds a sentence for each record that a user would want to read later.
func (s *State) diary(rec bench.Record) {
	level, text := s.sentence(rec)
	if text == "" {
		return
	}
	switch level {
	case Warning:
		s.Warnings++
	case Error:
		s.Errors++
	}
	s.Diary = tail(append(s.Diary, Line{At: rec.At, Trial: rec.Trial, Level: level, Text: text[:min(len(text), 4000)]}), maxLines, maxLines)
}

func (s *State) sentence(rec bench.Record) (Level, string) {
	switch e := rec.Event.(type) {
	case bench.RunStarted:
		began := "started"
		if len(e.Run.Resumed) > 0 {
			began = "resumed"
		}
		text := fmt.Sprintf("profile %s %s; results in %s", e.Run.Profile.Name, began, e.Dir)
		if why := e.Run.NotInterleaved(); why != "" {
			text += "; not interleaved: " + why
		}
		return Info, text
	case bench.TrialStarted:
		who, round := "a contender", 0
		if rec.Trial != nil {
			who, round = rec.Trial.Label(), rec.Trial.Round
		}
		return Info, fmt.Sprintf("%s, round %d, trial %d of %d", who, round, e.Number, e.Of)
	case bench.PhaseEnded:
		if e.Err != "" {
			return Error, fmt.Sprintf("%s failed: %s", e.Phase, e.Err)
		}
		noted := []bench.Phase{bench.PhaseNeeds, bench.PhaseSeed, bench.PhaseBuild, bench.PhaseRestore, bench.PhaseMigrate}
		if e.Note != "" && slices.Contains(noted, e.Phase) {
			return Info, fmt.Sprintf("%s: %s (%s)", e.Phase, e.Note, units.Duration(e.Took))
		}
	case bench.InstanceStarted:
		return Info, instanceSentence(e.Info)
	case bench.InstanceReady:
		if e.StartUp <= 0 {
			return Info, "responding"
		}
		if f := e.FirstResponse; f != nil {
			return Info, "ready " + units.Duration(e.StartUp) + " after start; " + f.String()
		}
		return Info, "ready " + units.Duration(e.StartUp) + " after start"
	case bench.CheckDone:
		if e.Check.Status == bench.CheckFailed {
			return Error, fmt.Sprintf("check failed: %s/%s: %s", e.Check.Group, e.Check.Name, e.Check.Detail)
		}
	case bench.StepEnded:
		return stepSentence(e.Result)
	case bench.Notice:
		return map[string]Level{"error": Error, "warning": Warning}[e.Level], e.Text
	case bench.IncidentOccurred:
		return Warning, e.Incident.String()
	case bench.ChangedManually:
		switch e.Control.Kind {
		case bench.ControlNote:
			return Mark, "note: " + e.Control.Text
		case bench.ControlRate:
			return Mark, "rate set to " + units.Number(e.Control.Rate) + " req/s"
		}
		return Mark, "requested: " + e.Control.Kind.Words()
	case bench.Paused:
		return Mark, "paused"
	case bench.Resumed:
		return Mark, "resumed after " + units.Duration(e.Took)
	case bench.InstanceStopped:
		return stopSentence(e.Stop)
	case bench.TrialEnded:
		if e.State == bench.TrialComplete {
			return Done, "trial complete"
		}
		text := fmt.Sprintf("trial %s: %s", e.State, e.Failure)
		if e.Lost != nil {
			text += "; " + e.Lost.String()
		}
		return Error, text
	case bench.RunEnded:
		if e.Err != "" {
			return Error, fmt.Sprintf("run %s: %s", e.State, e.Err)
		}
		return Info, "run " + s.Run.OutcomeText()
	}
	return Info, ""
}

func instanceSentence(i bench.InstanceInfo) string {
	if i.Runtime.Traits().AlreadyRunning {
		return "target at " + i.Address
	}
	text := "started " + cmp.Or(i.Runtime.Traits().Where, "as a "+string(i.Runtime))
	if i.Limits.CPUs > 0 {
		text += ", " + units.CPUs(i.Limits.CPUs)
	}
	if i.Limits.Memory > 0 {
		text += ", " + units.Bytes(i.Limits.Memory)
	}
	if confined := i.Confined.String(); confined != "" {
		text += ", " + confined
	}
	if !i.LimitsEnforced {
		text += "; LIMITS NOT ENFORCED"
	}
	return text
}

func stepSentence(r bench.StepResult) (Level, string) {
	text := fmt.Sprintf("step %d, %s: %s req/s, p99 %s", r.Index+1, r.Step.Name,
		units.Number(r.Load.Throughput()), units.Duration(r.Load.Latency.P99))
	if n := r.Load.FailedTotal(); n > 0 {
		text += fmt.Sprintf(", %s errors", units.Count(n))
	}
	if r.Aborted != "" {
		return Warning, text + "; stopped early: " + r.Aborted
	}
	return Info, text
}

func stopSentence(s bench.StopResult) (Level, string) {
	switch {
	case s.ExitedBeforeStop:
		return Error, "already exited: " + s.Exit.String()
	case s.Forced:
		return Info, "killed after " + units.Duration(s.Took) + ": stop forced"
	case s.Killed:
		return Warning, "killed after " + units.Duration(s.Took)
	case s.Graceful:
		return Info, "stopped gracefully in " + units.Duration(s.Took)
	}
	return Warning, "stopped after " + units.Duration(s.Took) + ", " + s.Exit.String()
}
