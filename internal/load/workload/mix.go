// Package workload says what a step sends: which requests and sessions in which mix, with which
// values, when each is scheduled, over how many connections, and which responses are checked.
package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// Mix draws what users do: requests or sessions by weight, with their values, all from one seed.
// Several goroutines may use it. The same seed gives the same requests in the same order, whichever
// goroutine sends them.
type Mix struct {
	mu         sync.Mutex
	rng        *rand.Rand
	unique     *rand.Rand // for values that differ in each step and trial
	requests   []*Request
	iterations []*iteration
	total      int // sum of the weights
	checker    *checker
	variables  map[string]*variable
	slots      int // number of slots a user needs
	unpackers  *sync.Pool
	secrets    func() map[string]bool // names of the saved values that no text may show
	users      *Users
	until      func(Response) error
	pooled     bool // each iteration is of another user
	base       *url.URL
	root       string // the base URL without its path
	cookies    *Jar   // what the setup got; nil: none
}

// iteration is what a user does in one go: a single request or a session.
type iteration struct {
	name     string
	session  int // number of the session in the mix, from 1; 0: a single request
	weight   int
	requests []*Request
	vars     []*variable   // variables drawn when it begins, into the slots after the saved values
	saved    []string      // names of saved values, in the first slots
	draws    bool          // users draw while they are at it: think times, elements of lists
	cookies  bool          // users keep cookies while they are at it
	pace     time.Duration // from the start of an iteration to that of the user's next one, at least
	setup    *setup        // nil: it has none, or it has not been made
}

// NewMix checks a spec, reports all mistakes at once, and makes its requests ready.
func NewMix(plan Plan) (*Mix, error) {
	var errs []error
	base, err := secret.ParseURL(plan.BaseURL)
	if err != nil || !secret.IsHTTP(base) {
		// Without the URL itself: it may hold a password, which cannot be cut from a malformed URL.
		errs = append(errs, errors.New("base URL: must be http://HOST:PORT or https://HOST:PORT"))
		base = &url.URL{Scheme: "http", Host: "placeholder"}
		plan.BaseURL = base.String()
	}
	errs = append(errs, plan.Step.Validate()...)
	if plan.Life == nil {
		plan.Life = &TrialState{}
	}
	// The second words of the seeds are arbitrary, but fixed and different.
	m := &Mix{
		rng: rand.New(rand.NewPCG(plan.Seed, 0x6c6f6362656e6368)), checker: newChecker(plan),
		variables: map[string]*variable{}, unpackers: &plan.Life.unpackers,
		secrets: sync.OnceValue(func() map[string]bool { return secret.Saved(plan.Requests) }),
		unique:  rand.New(rand.NewPCG(plan.Seed^0x756e69717565, plan.Life.mixSalt())),
		users:   plan.Users, until: plan.Until, pooled: plan.Step.Rate > 0,
		base: base, cookies: plan.Life.Cookies,
	}
	m.root = (&url.URL{Scheme: base.Scheme, User: base.User, Host: base.Host}).String()
	if len(plan.Requests) == 0 {
		errs = append(errs, errors.New("no requests"))
	}
	for _, u := range iterations(plan) {
		if only := plan.Step.Request; only == "" || only == u.name {
			errs = append(errs, m.add(u, plan)...)
		}
	}
	if only := plan.Step.Request; only != "" && len(m.iterations) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("no request or session has the name %q", only))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return m, nil
}

// planned is an iteration before its requests are made ready.
type planned struct {
	iteration
	specs, setup []bench.Request
}

// iterations returns the single requests, then the sessions.
func iterations(plan Plan) (all []planned) {
	for _, r := range plan.Requests {
		if r.Session == "" {
			one := iteration{name: r.Name, weight: r.Weight, pace: r.Pace}
			all = append(all, planned{iteration: one, specs: []bench.Request{r}})
		}
	}
	session := 0
	for _, s := range plan.Sessions {
		if only := plan.Step.Request; only == "" || only == s.Name {
			session++
		}
		one := planned{iteration: iteration{name: s.Name, session: session, weight: s.Weight, pace: s.Pace}}
		for _, r := range plan.Requests {
			switch {
			case r.Session != s.Name:
			case r.SetUp:
				one.setup = append(one.setup, r)
			default:
				one.specs = append(one.specs, r)
			}
		}
		all = append(all, one)
	}
	if len(all) == 1 || plan.Step.Request != "" {
		for i := range all {
			all[i].weight = cmp.Or(all[i].weight, 1)
		}
	}
	return all
}

// add makes an iteration ready.
func (m *Mix) add(p planned, plan Plan) (errs []error) {
	u := &p.iteration
	if u.weight < 1 {
		errs = append(errs, fmt.Errorf("%s: weight %d: must be at least 1", u.where(nil), u.weight))
	}
	for _, r := range slices.Concat(p.setup, p.specs) {
		for _, s := range r.Save {
			if !slices.Contains(u.saved, s.Name) {
				u.saved = append(u.saved, s.Name)
			}
		}
		u.cookies = u.cookies || r.Session != "" || r.Follow > 0
		u.draws = u.draws || r.Think.Max > 0 || slices.ContainsFunc(r.Save, bench.Save.Draws)
	}
	for _, r := range p.specs {
		made, err := m.newRequest(r, u, plan)
		if err != nil {
			errs = append(errs, fmt.Errorf("request %q: %w", r.Name, err))
			continue
		}
		m.requests = append(m.requests, made)
		u.requests = append(u.requests, made)
	}
	u.setup = plan.Users.of(u)
	m.iterations = append(m.iterations, u)
	m.total += u.weight
	m.slots = max(m.slots, len(u.vars)+len(u.saved), 1)
	return errs
}

// where returns the name of the iteration and one of its requests, for messages.
func (u *iteration) where(r *Request) string {
	switch {
	case u.session == 0:
		return fmt.Sprintf("request %q", u.name)
	case r == nil:
		return fmt.Sprintf("session %q", u.name)
	}
	return fmt.Sprintf("session %q, step %q", u.name, r.Name)
}

func (u *iteration) saves(name string) bool { return slices.Contains(u.saved, name) }

// slot returns the slot of a saved value. Saved values come first, as the number of drawn ones is
// not known yet.
func (u *iteration) slot(name string) int { return slices.Index(u.saved, name) }

// drawn returns the slot of a variable, and adds the variable if it is new.
func (u *iteration) drawn(v *variable) int {
	i := slices.Index(u.vars, v)
	if i < 0 {
		i = len(u.vars)
		u.vars = append(u.vars, v)
	}
	return len(u.saved) + i
}

// Names returns the names of the requests.
func (m *Mix) Names() (names []string) {
	for _, r := range m.requests {
		names = append(names, r.Name)
	}
	return names
}

// Sessions returns the names of the sessions.
func (m *Mix) Sessions() (names []string) {
	for _, u := range m.iterations {
		if u.session > 0 {
			names = append(names, u.name)
		}
	}
	return names
}

// begin draws a user's next iteration with all its values.
func (m *Mix) begin(u *User) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u.iteration, u.at, u.sent, u.tries, u.again = m.draw(), 0, 0, 0, false
	if m.checker != nil {
		m.checker.begun++
	}
	if u.slots == nil {
		u.slots = make([]slot, m.slots)
	}
	m.users.number(u, m.pooled)
	if u.iteration.cookies {
		u.jar.copy(m.cookies)
	}
	for i, v := range u.iteration.vars {
		if u.iteration.setup.has(v) {
			continue
		}
		if err := v.take(m, &u.slots[len(u.iteration.saved)+i]); err != nil {
			if e, ok := errors.AsType[*ExhaustedError](err); ok {
				e.Where = u.iteration.where(nil)
				for _, r := range u.iteration.requests {
					if r.uses(len(u.iteration.saved) + i) {
						e.Where = u.iteration.where(r)
						break
					}
				}
			}
			u.iteration = nil
			return err
		}
	}
	u.iteration.setup.give(u)
	u.keepPace(m.pooled)
	if u.iteration.draws {
		u.seed = m.rng.Uint64()
	}
	return nil
}

func (m *Mix) draw() *iteration {
	if len(m.iterations) == 1 {
		return m.iterations[0]
	}
	i := 0
	for x := m.rng.IntN(m.total); x >= m.iterations[i].weight; i++ {
		x -= m.iterations[i].weight
	}
	return m.iterations[i]
}

// uses reports whether a slot is in the request.
func (r *Request) uses(slot int) bool {
	has := func(p part) bool { return p.kind != partText && p.slot == slot }
	return slices.ContainsFunc(r.head, has) || slices.ContainsFunc(r.body, has)
}
