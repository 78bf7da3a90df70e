package workload

import "maps"

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
