package record

import "github.com/locbench/locbench/internal/bench"

// StatusCount counts the complete responses with one status.
type StatusCount struct {
	Status   int
	Count    int64
	Rejected int64 // of Count: expected, but not throughput
}

// StatusTally counts complete responses by status. A contender sends few different ones: searching
// them costs less than a map, and counting allocates only for a new one.
type StatusTally []StatusCount

// count counts a response.
func (t *StatusTally) count(status int, rejected bool) {
	one := t.of(status)
	one.Count++
	if rejected {
		one.Rejected++
	}
}

// of returns the count of a status, which it adds if it is new.
func (t *StatusTally) of(status int) *StatusCount {
	for i := range *t {
		if one := &(*t)[i]; one.Status == status {
			return one
		}
	}
	*t = append(*t, StatusCount{Status: status})
	return &(*t)[len(*t)-1]
}

// Add adds the tally of another thread or slice.
func (t *StatusTally) Add(o StatusTally) {
	for _, one := range o {
		sum := t.of(one.Status)
		sum.Count += one.Count
		sum.Rejected += one.Rejected
	}
}

// results returns all responses and the rejected ones by status; nil without any.
func (t StatusTally) results() (all, rejected bench.Statuses) {
	for _, one := range t {
		all.Add(bench.Statuses{one.Status: one.Count})
		if one.Rejected > 0 {
			rejected.Add(bench.Statuses{one.Status: one.Rejected})
		}
	}
	return all, rejected
}
