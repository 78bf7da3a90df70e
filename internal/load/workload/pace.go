package workload

import "time"

// pace is when a user may begin iterations.
type pace struct {
	next    time.Time     // the beginning of the next iteration, at the earliest; zero: any time
	wait    time.Duration // from drawing the iteration to its beginning
	kept    bool          // the iteration before it has a pace
	overran bool          // and took longer than that
}

// keepPace decides when the iteration that the user has drawn begins: not before the pace of the
// one before is over. If that took longer, it begins at once, and the next one counts from there:
// no iteration makes up for a late one. rate says that a rate decides when iterations begin.
func (u *User) keepPace(rate bool) {
	p := &u.pace
	kept := !p.next.IsZero()
	if !kept && u.iteration.pace == 0 || rate {
		*p = pace{}
		return
	}
	now := time.Now()
	left := p.next.Sub(now)
	*p = pace{kept: kept, overran: kept && left < 0}
	if kept {
		p.wait = max(left, 0)
	}
	if u.iteration.pace > 0 {
		p.next = now.Add(p.wait + u.iteration.pace)
	}
}

// paceWait returns how long the user waits before the first request of an iteration.
func (u *User) paceWait() time.Duration {
	if u.sent > 0 {
		return 0
	}
	return u.pace.wait
}
