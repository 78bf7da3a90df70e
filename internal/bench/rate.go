package bench

// Wave is a rate that swings as a sine does, starting at its mean and rising.
type Wave struct {
	Amplitude float64  `json:"amplitude"` // requests per second above and below the mean; less than it
	Period    Duration `json:"period_ns"`
}

// Open tells whether requests are due by the clock, whether or not earlier ones have been answered.
func (s Step) Open() bool { return s.Rate > 0 || s.PeakShare > 0 || s.Arrivals != nil }

// AtPeak is the step with its rate worked out where that is a share of the peak (successes per second); any other step stays
// as it is. A peak of 0 is one that is not known: then Rate stays 0, and no engine runs the step.
func (s Step) AtPeak(peak float64) Step {
	if s.PeakShare > 0 {
		s.Rate = s.PeakShare * peak
	}
	return s
}

// Peak is the highest throughput, in successes per second, of the measured closed-loop steps that were not cut short; 0 when
// there is none.
func Peak(steps []StepResult) float64 {
	peak := 0.
	for _, s := range steps {
		if s.Step.Connections > 0 && !s.Step.WarmUp && s.Aborted == "" {
			peak = max(peak, s.Load.Throughput())
		}
	}
	return peak
}
