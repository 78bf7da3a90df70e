package workload

import (
	"maps"
	"sync"
)

// Saved is what the requests of a session have saved.
type Saved struct {
	Values  map[string]string
	JSON    map[string]string // those of them that requests use as JSON, in that form
	Links   map[string]string // those of them to which requests are sent: path and query
	Cookies *Jar              // nil: none
}

// Saved returns what the user's session has saved so far.
func (u *User) Saved() Saved {
	all := Saved{Values: map[string]string{}, JSON: map[string]string{}, Links: map[string]string{}}
	for i, name := range u.iteration.saved {
		keep := func(to map[string]string, text []byte) {
			if text != nil {
				to[name] = string(text)
			}
		}
		s := &u.slots[i]
		keep(all.Values, s.text)
		keep(all.JSON, s.json)
		keep(all.Links, s.link)
	}
	if len(u.jar.cookies) > 0 {
		all.Cookies = &Jar{}
		all.Cookies.copy(&u.jar)
	}
	return all
}

// TrialState is what the steps of one trial share. The zero value is ready to use. The steps run
// one after the other, or interleaved.
type TrialState struct {
	Salt  uint64 // makes values of uuid and string differ from those of other trials
	Saved        // by the setup
	steps uint64
	mixes uint64
	taken map[string]*int64

	unpackers sync.Pool // of *unpack.Unpacker
}

// Step returns the seed of the trial's next step. Steps draw different values, as repeated requests
// may be answered from a cache. The first step's seed is the run's.
func (l *TrialState) Step(seed uint64) uint64 {
	seed += l.steps * 0xd1342543de82ef95
	l.steps++
	return seed
}

func (l *TrialState) mixSalt() uint64 {
	l.mixes++
	return l.Salt + l.mixes
}

func (l *TrialState) saved(name string) (string, bool) {
	value, ok := l.Values[name]
	return value, ok
}

// counter returns how many values of a variable were taken.
func (l *TrialState) counter(variable string) *int64 {
	if l.taken == nil {
		l.taken = map[string]*int64{}
	}
	if l.taken[variable] == nil {
		l.taken[variable] = new(int64)
	}
	return l.taken[variable]
}

// Keep adds what a session has saved to what the setup has.
func (l *TrialState) Keep(more Saved) {
	if l.Values == nil {
		l.Values, l.JSON, l.Links = map[string]string{}, map[string]string{}, map[string]string{}
	}
	maps.Copy(l.Values, more.Values)
	maps.Copy(l.JSON, more.JSON)
	maps.Copy(l.Links, more.Links)
	l.Cookies = more.Cookies
}
