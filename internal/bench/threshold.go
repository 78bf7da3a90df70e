package bench

// Threshold is what a profile wants of the measured steps. Warm-ups are not judged.
type Threshold struct {
	Condition string `json:"condition"` // conditions as package slo reads them: "p99<50ms,errors<0.1%"
	// number of the first step that is judged, from 1 and with the warm-ups counted; 0: the first
	FromStep int   `json:"from_step,omitempty"`
	Stop     Scope `json:"stop,omitempty"` // what ends after a step that misses it; "": nothing
}

// Scope is what a missed threshold ends.
type Scope string

const (
	ScopeTrial Scope = "trial"
	ScopeRun   Scope = "run"
)

// AppliesTo reports whether a step is judged by the threshold; index counts from 0.
func (t Threshold) AppliesTo(index int, step Step) bool { return !step.WarmUp && index+1 >= t.FromStep }

// ThresholdResult is what became of one condition of a threshold in one step.
type ThresholdResult struct {
	Condition string `json:"condition"` // one comparison: "p99<50ms"
	// the figure: ns, a share from 0 to 1, or successes per second; absent: not known, since nothing succeeded
	Value   *float64 `json:"value,omitempty"`
	Passed  bool     `json:"passed"`            //
	Text    string   `json:"text"`              // the same in words: "p99 is 71.2ms, not <50ms"
	Stopped Scope    `json:"stopped,omitempty"` // what it has ended
}

// Missed returns the thresholds that the step has not kept.
func (s StepResult) Missed() (missed []ThresholdResult) {
	for _, j := range s.Thresholds {
		if !j.Passed {
			missed = append(missed, j)
		}
	}
	return missed
}
