package bench

// Threshold is what a profile wants of the measured steps. Warm-ups are not judged.
type Threshold struct {
	Objective string   `json:"objective"`           // conditions as package slo reads them: "p99<50ms,errors<0.1%"
	Window    Duration `json:"window_ns,omitempty"` // judged on every so many consecutive one-second windows while the step runs; 0: on the whole step
	FromStep  int      `json:"from_step,omitempty"` // number of the first step that is judged, from 1 and with the warm-ups counted; 0: the first
	Contender string   `json:"contender,omitempty"` // as Selection writes it; "": every one
	Stop      Scope    `json:"stop,omitempty"`      // what ends when it is missed; "": nothing
}

// Scope is what a missed threshold ends.
type Scope string

const (
	ScopeStep Scope = "step" // the running one, which a window alone can do
	ScopeLeg  Scope = "leg"
	ScopeRun  Scope = "run"
)

// Concerns tells whether a step of a leg is judged by the threshold; index counts from 0.
func (t Threshold) Concerns(leg Leg, index int, step Step) bool {
	return !step.WarmUp && index+1 >= t.FromStep && (t.Contender == "" || t.Contender == Selection{leg.Contender, leg.Variant}.String())
}

// Judgement is what became of one condition of a threshold in one step.
type Judgement struct {
	Condition string   `json:"condition"`           // one comparison: "p99<50ms"
	Window    Duration `json:"window_ns,omitempty"` // 0: of the whole step
	Value     *float64 `json:"value,omitempty"`     // the figure, with windows the worst: ns, a share from 0 to 1, or successes per second; absent: not known, since nothing succeeded
	Passed    bool     `json:"passed"`              //
	Text      string   `json:"text"`                // the same in words: "p99 is 71.2ms, not <50ms"
	At        Duration `json:"at_ns,omitempty"`     // with windows, when it was missed for the first time: since the start of the step
	Stopped   Scope    `json:"stopped,omitempty"`   // what it has ended
}

// Missed are the thresholds that the step has not kept.
func (s StepResult) Missed() (missed []Judgement) {
	for _, j := range s.Thresholds {
		if !j.Passed {
			missed = append(missed, j)
		}
	}
	return missed
}
