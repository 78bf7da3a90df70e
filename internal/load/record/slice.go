package record

import "time"

// Slice makes a closed loop count whole iterations, each with all of its time, in place of what
// ends within an interval of all connections. By Wald's equation the mean over the iterations that
// begin before a moment is that of all iterations, however long the slice is; without those in
// flight at its end, or with a part of them, it would not be.
type Slice struct {
	Until  time.Duration // no iteration begins after it, unless its connection has none that counts
	End    time.Duration // the counters are read then, or when nothing is in flight if that is before
	Spread time.Duration // the connections start over this time
	// Patience bounds the lead-in, in which the queue of the contender fills. It lasts until each
	// connection has had an iteration; those that begin in it count if they take longer than this.
	Patience time.Duration
	// Period is that of a CPU quota; 0: none is known. The lead-in lasts until one begins, if another one fits
	// after it: in the rest of a period the quota may be used up, so there would be too few iterations.
	Period time.Duration
}

// CountIterations makes the step a slice. Call it before Begin.
func (r *Recorder) CountIterations(s Slice) {
	r.slice, r.whole, r.bounded, r.Whole, r.ByIteration = &s, true, true, true, true
}

// Iterating is the place of a connection in a slice. The zero value is that before its first
// request.
type Iterating struct {
	from    int64 // when its last iteration ended; before, when its first one began
	first   bool  // its first iteration has ended
	led     bool  // the lead-in was over then
	counted bool  // an iteration has counted
}

// MayIterate reports whether a connection may begin an iteration at now.
func (t *Timeline) MayIterate(i *Iterating, now int64) bool {
	if t.slice == nil {
		return true
	}
	if i.from == 0 {
		i.from = max(now, 1)
	}
	return !i.counted || now < int64(t.slice.Until)
}

// SliceOver reports whether the end of a slice has come.
func (t *Timeline) SliceOver(now int64) bool {
	return t.slice != nil && now >= int64(t.slice.Until)
}

// Owes reports whether a connection has to begin another iteration, whatever the time is.
func (t *Timeline) Owes(i *Iterating) bool { return t.slice != nil && !i.counted && !t.Stopped() }

// Iterate puts into x, an exchange of a connection, whether it is of the lead-in, and counts the
// iteration if x is its last exchange.
func (t *Timeline) Iterate(c *Counters, i *Iterating, x *Exchange) {
	if t.slice == nil {
		return
	}
	x.Lead = !i.led && x.Read-i.from <= int64(t.slice.Patience)
	if !i.counted && !i.led && x.Last && !i.first {
		i.first = true
		t.ledIn(x.Read)
	}
	if x.Kind == "" && !x.Rejected && x.Read < int64(t.slice.End) {
		c.Within++
	}
	if !x.Last {
		return
	}
	if !x.Lead {
		c.Iterations++
		c.ConnectionTime += time.Duration(x.Read - i.from)
		i.counted = true
	}
	led := t.led.Load()
	i.led, i.from = i.led || led > 0 && x.Read >= led || x.Read >= int64(t.slice.Patience), x.Read
}

// ledIn notes that a connection has had its first iteration, at now.
func (t *Timeline) ledIn(now int64) {
	if t.unled.Add(-1) > 0 {
		return
	}
	over := int64(1)
	if period := int64(t.slice.Period); period > 0 {
		if next := (now + period - 1) / period * period; next+period <= int64(t.slice.End) {
			over = next
		}
	}
	t.led.CompareAndSwap(0, over)
}

// Iteration returns the mean time of an iteration; 0 if none has counted.
func (w Work) Iteration() time.Duration {
	if w.Iterations == 0 {
		return 0
	}
	return w.ConnectionTime / time.Duration(w.Iterations)
}
