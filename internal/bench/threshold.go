package bench

// Threshold is a pass/fail condition of a profile on the measured steps.
type Threshold struct {
	Condition string `json:"condition" yaml:"condition" strict:"required,min=1,max=500" example:"p99<50ms"` // one or more comparisons: "p99<50ms,errors<0.1%"
	// number of the first step that is checked, from 1, warm-ups included; 0: the first step
	FromStep int   `json:"from_step,omitempty" yaml:"from_step" strict:"min=1,max=1000"`
	Stop     Scope `json:"stop,omitempty" yaml:"stop" strict:"oneof=trial|true|run|false"` // what ends after a step that fails it; "": nothing
}

// Scope is what a failed threshold ends.
type Scope string

// The scopes.
const (
	ScopeTrial Scope = "trial"
	ScopeRun   Scope = "run"
)

// AppliesTo reports whether the threshold applies to a step; index counts from 0.
func (t Threshold) AppliesTo(index int, step Step) bool { return !step.WarmUp && index+1 >= t.FromStep }

// ThresholdResult is the result of one condition of a threshold in one step.
type ThresholdResult struct {
	Condition string `json:"condition"` // one comparison: "p99<50ms"
	// value in ns, as a share from 0 to 1, or in successes per second; absent without successes
	Value   *float64 `json:"value,omitempty"`
	Passed  bool     `json:"passed"`
	Text    string   `json:"text"`              // the result as text: "p99 is 71.2ms, not <50ms"
	Stopped Scope    `json:"stopped,omitempty"` // what ended because of it
}

// Missed returns the conditions that the step did not pass.
func (s StepResult) Missed() (missed []ThresholdResult) {
	for _, r := range s.Thresholds {
		if !r.Passed {
			missed = append(missed, r)
		}
	}
	return missed
}
