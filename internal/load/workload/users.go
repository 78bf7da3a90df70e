package workload

import (
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Users are the users of a step whose sessions have a setup, with what that has left for each: the
// values that it saved, and those of its variables that are drawn. Each iteration of a user begins
// with them. The slices of an interleaved step share them.
//
// In a closed loop and with arrivals an iteration is of the user of its connection. With a rate it
// is of the next user of the pool.
type Users struct {
	count    int
	begun    int // users, or with a rate iterations, so far
	sessions map[string]*setup
}

// setup is what the setup of one session has left.
type setup struct {
	saved  []string
	vars   []*variable // of the mix of the setup
	left   [][]slot    // by user: saved values, then variables
	jars   []*Jar      // by user
	copies [][2]int    // slots in left, and of a user within the iteration
	keeps  []*variable // of the iteration: not drawn again
}

// maxPool is how many users a step with a rate has without max_connections.
const maxPool = 256

// NewUsers returns the users of a step over a number of connections.
func NewUsers(step bench.Step, connections int) *Users {
	u := &Users{count: connections, sessions: map[string]*setup{}}
	switch {
	case step.Arrivals != nil:
		u.count = step.Arrivals.Users
	case step.Rate > 0 && step.MaxConnections == 0:
		u.count = min(u.count, maxPool)
	}
	if n := step.MaxRequests; n > 0 {
		u.count = int(min(int64(u.count), n))
	}
	return u
}

// Count returns the number of users.
func (all *Users) Count() int { return all.count }

// Begin draws what the setup of a session needs, for each user in order. m has only that setup.
func (all *Users) Begin(m *Mix) ([]User, error) {
	users := make([]User, all.count)
	for i := range users {
		if err := m.Begin(&users[i]); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// Keep keeps what the setup of a session has left for the users that Begin returned.
func (all *Users) Keep(m *Mix, users []User) {
	made := m.iterations[0]
	s := &setup{saved: made.saved, vars: made.vars}
	for i := range users {
		s.left, s.jars = append(s.left, users[i].slots), append(s.jars, &users[i].jar)
	}
	all.sessions[made.name] = s
}

// of returns the setup of an iteration, whose variables are known; nil if there is none.
func (all *Users) of(it *iteration) *setup {
	if all == nil || it.session == 0 || all.sessions[it.name] == nil {
		return nil
	}
	s := *all.sessions[it.name]
	for i, name := range s.saved {
		s.copies = append(s.copies, [2]int{i, it.slot(name)})
	}
	for i, v := range it.vars {
		made := slices.IndexFunc(s.vars, func(o *variable) bool { return o.key == v.key && v.stays() })
		if made >= 0 {
			s.keeps = append(s.keeps, v)
			s.copies = append(s.copies, [2]int{len(s.saved) + made, len(it.saved) + i})
		}
	}
	return &s
}

// stays reports whether a variable that the setup uses keeps its value for the user: it is drawn
// from a range, a list or a file.
func (v *variable) stays() bool {
	return v.kind == partNumber && v.make == "" || v.kind == partItem || v.kind == partCell
}

// number gives a user its number, with a rate for each iteration.
func (all *Users) number(u *User, pooled bool) {
	if all != nil && (u.number == 0 || pooled) {
		u.number = all.begun%all.count + 1
		all.begun++
	}
}

// has reports whether an iteration takes the value of a variable from the setup.
func (s *setup) has(v *variable) bool { return s != nil && slices.Contains(s.keeps, v) }

// give lets the user begin an iteration with what the setup has left.
func (s *setup) give(u *User) {
	if s == nil {
		return
	}
	left := s.left[u.number-1]
	for _, c := range s.copies {
		from, to := &left[c[0]], &u.slots[c[1]]
		to.number, to.text, to.json = from.number, append(to.text[:0], from.text...), append(to.json[:0], from.json...)
		to.link = append(to.link[:0], from.link...)
	}
	if u.iteration.cookies {
		u.jar.copy(s.jars[u.number-1])
	}
}

// Leave makes the next iteration that of another user.
func (u *User) Leave() { u.number, u.pace = 0, pace{} }
