package load

import "time"

// turns are a step's among others that are not there: next is called in their place.
type turns struct {
	length   time.Duration
	period   time.Duration // of the quota, from began on; 0: there is none
	began    time.Time
	slowest  time.Duration // of the other contenders
	next     func()
	why      string
	restarts int
}

func (t *turns) Length() time.Duration { return t.length }

func (t *turns) Align(at time.Time) time.Time {
	if t.period == 0 {
		return at
	}
	return t.began.Add((at.Sub(t.began) + t.period - 1) / t.period * t.period)
}

func (t *turns) Fit(iteration time.Duration) time.Duration {
	t.slowest = max(t.slowest, iteration)
	return t.slowest
}

func (t *turns) Alternate(why string) { t.why = why }
func (t *turns) Alternating() bool    { return t.why != "" }
func (t *turns) Agree() bool          { return t.Alternating() }
func (t *turns) Restart()             { t.restarts++ }

func (t *turns) Next() {
	if t.next != nil {
		t.next()
	}
}
