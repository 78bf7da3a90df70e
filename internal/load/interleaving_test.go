package load

import "time"

// interleaving is that of a step among others that are not there: next is called in their place.
type interleaving struct {
	length   time.Duration
	period   time.Duration // of the quota, from began on; 0: there is none
	began    time.Time
	slowest  time.Duration // of the other contenders
	fitting  bool          // iterations fit into slices, however long they are
	next     func()
	why      string
	restarts int
}

func (t *interleaving) Length() time.Duration { return t.length }

func (t *interleaving) Align(at time.Time) (time.Time, time.Duration) {
	if t.period == 0 {
		return at, 0
	}
	return t.began.Add((at.Sub(t.began) + t.period - 1) / t.period * t.period), t.period
}

func (t *interleaving) Fit(iteration time.Duration) time.Duration {
	if t.slowest = max(t.slowest, iteration); t.fitting {
		return 0
	}
	return t.slowest
}

func (t *interleaving) Alternate(why string) {
	if !t.fitting {
		t.why = why
	}
}

func (t *interleaving) Alternating() bool { return t.why != "" }
func (t *interleaving) Agree() bool       { return t.Alternating() }
func (t *interleaving) Restart()          { t.restarts++ }

func (t *interleaving) Next() {
	if t.next != nil {
		t.next()
	}
}
