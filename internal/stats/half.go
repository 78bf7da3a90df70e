package stats

import "math"

// HalfPeak is the step at half of the peak, at which latency is reported: the open-loop one of that
// share where the profile has it (share is exactly 0.5 then), else the closed-loop step up to the
// peak, of the same requests, whose throughput is nearest to the half. share is what its median
// throughput is of the peak's; step is an index into Steps. ok is false where no peak was measured.
func (c Contender) HalfPeak() (step int, share float64, ok bool) {
	for i, s := range c.Steps {
		if s.Step.PeakShare == 0.5 && !s.Step.WarmUp && s.Rounds > 0 {
			return i, 0.5, true
		}
	}
	peak, known := c.PeakStep()
	if !known || !(peak.Throughput.Median > 0) {
		return 0, 0, false
	}
	nearest := math.Inf(1)
	for i, s := range c.Steps {
		if s.Index > peak.Index || s.Step.WarmUp || s.Step.Open() || s.Step.Request != peak.Step.Request || !(s.Throughput.Median > 0) {
			continue
		}
		part := s.Throughput.Median / peak.Throughput.Median
		if off := math.Abs(math.Log(2 * part)); off < nearest {
			step, share, ok, nearest = i, part, true, off
		}
	}
	return step, share, ok
}
