package workload

import (
	"encoding/json"
	"errors"
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

// trialState is a TrialState as JSON, for a load that runs in another process. Values may be any bytes.
type trialState struct {
	Salt    uint64            `json:"salt"`
	Steps   uint64            `json:"steps"`
	Mixes   uint64            `json:"mixes"`
	Taken   map[string]*int64 `json:"taken,omitempty"`
	Values  map[string][]byte `json:"values,omitempty"`
	JSON    map[string][]byte `json:"json,omitempty"`
	Links   map[string][]byte `json:"links,omitempty"`
	Cookies []keptCookie      `json:"cookies,omitempty"`
}

type keptCookie struct {
	Text     []byte `json:"text"`
	Name     int    `json:"name"`
	Pair     int    `json:"pair"`
	Path     int    `json:"path"`
	Order    int    `json:"order"`
	Expires  int64  `json:"expires,omitempty"`
	HostOnly bool   `json:"host_only,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (l *TrialState) MarshalJSON() ([]byte, error) {
	t := trialState{
		Salt: l.Salt, Steps: l.steps, Mixes: l.mixes, Taken: l.taken,
		Values: converted[[]byte](l.Values), JSON: converted[[]byte](l.JSON), Links: converted[[]byte](l.Links),
	}
	if l.Cookies != nil {
		for _, c := range l.Cookies.cookies {
			t.Cookies = append(t.Cookies, keptCookie{c.text, c.name, c.pair, c.path, c.order, c.expires, c.hostOnly, c.secure})
		}
	}
	return json.Marshal(t)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *TrialState) UnmarshalJSON(text []byte) error {
	var t trialState
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	l.Salt, l.steps, l.mixes, l.taken = t.Salt, t.Steps, t.Mixes, t.Taken
	l.Values, l.JSON, l.Links = converted[string](t.Values), converted[string](t.JSON), converted[string](t.Links)
	if l.Cookies = nil; len(t.Cookies) > 0 {
		l.Cookies = &Jar{}
	}
	for _, c := range t.Cookies {
		if c.Name < 0 || c.Name >= c.Pair || c.Pair > c.Path || c.Path > len(c.Text) {
			return errors.New("a cookie without its parts")
		}
		*l.Cookies.add() = cookie{c.Text, c.Name, c.Pair, c.Path, c.Expires, c.Order, c.HostOnly, c.Secure}
		l.Cookies.size, l.Cookies.made = l.Cookies.size+len(c.Text), max(l.Cookies.made, c.Order)
	}
	return nil
}

func converted[To, From string | []byte](from map[string]From) map[string]To {
	if from == nil {
		return nil
	}
	to := map[string]To{}
	for name, value := range from {
		to[name] = To(value)
	}
	return to
}

// Continue takes over how far a step in another process has come.
func (l *TrialState) Continue(o *TrialState) { l.steps, l.mixes, l.taken = o.steps, o.mixes, o.taken }
