package bench

import "time"

// Apply folds one event of this leg into its result. The runner, the results writer and every
// screen use it, so that they cannot disagree. Events of other legs must not be given to it.
func (l *LegResult) Apply(at time.Time, e Event) {
	switch e := e.(type) {
	case LegStarted:
		l.Schema, l.State = SchemaVersion, LegRunning
		l.Service, l.Artifact, l.Started = e.Service, e.Artifact, at
	case InstanceStarted:
		l.Instance = new(e.Info)
	case InstanceReady:
		if e.StartUp > 0 {
			l.StartUp = new(e.StartUp)
		}
	case RequestsTimed:
		l.Phases = new(e.Phases)
	case MarkRead:
		l.Marks = append(l.Marks, e.Mark)
	case CheckDone:
		l.Checks = append(l.Checks, e.Check)
	case StepEnded:
		l.Steps = append(l.Steps, e.Result)
	case InstanceStopped:
		l.Stop = new(e.Stop)
	case Notice:
		if e.Level != "info" {
			l.Warnings = append(l.Warnings, e.Finding())
		}
	case Befell:
		l.Incidents = append(l.Incidents, e.Incident)
	case Intervened:
		l.Interventions = append(l.Interventions, Intervention{At: at, Step: e.Step, Control: e.Control})
	case LegEnded:
		l.State, l.Failure, l.Exit, l.LastLog, l.Lost, l.Ended = e.State, e.Failure, e.Exit, e.LastLog, e.Lost, at
	}
}
