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
	"strconv"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/text/secret"
	"locbench/internal/values"
)

// Spec is what the requests of a step are made of. See load.Plan for its fields.
type Spec struct {
	BaseURL   string
	Step      bench.Step
	Requests  []bench.Request
	Sessions  []bench.Session
	Variables []bench.Variable
	values.Data
	IDs        []int64
	Seed       uint64
	Trial      *TrialState
	Check      func(Response) error
	Checks     func(request string) bool
	Until      func(Response) error // see load.Plan
	CheckEvery int
	CheckQuota int // see load.Plan
	// share of one CPU that checks may take while the share 1/CheckEvery draws; 0: any
	CheckBudget float64
	Sampling    *Sampling        // nil: new for this step
	Users       *Users           // users whose setups have been made; nil: none
	Now         func() time.Time // nil: time.Now
}

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
func NewMix(plan Spec) (*Mix, error) {
	var errs []error
	base, err := secret.ParseURL(plan.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		// Without the URL itself: it may hold a password, which cannot be cut from a malformed URL.
		errs = append(errs, errors.New("base URL: must be http://HOST:PORT or https://HOST:PORT"))
		base = &url.URL{Scheme: "http", Host: "placeholder"}
		plan.BaseURL = base.String()
	}
	errs = append(errs, plan.Step.Validate()...)
	if plan.Trial == nil {
		plan.Trial = &TrialState{}
	}
	// The second words of the seeds are arbitrary, but fixed and different.
	m := &Mix{
		rng: rand.New(rand.NewPCG(plan.Seed, 0x6c6f6362656e6368)), checker: newChecker(plan),
		variables: map[string]*variable{}, unpackers: &plan.Trial.unpackers,
		secrets: sync.OnceValue(func() map[string]bool { return secret.Saved(plan.Requests) }),
		unique:  rand.New(rand.NewPCG(plan.Seed^0x756e69717565, plan.Trial.mixSalt())),
		users:   plan.Users, until: plan.Until, pooled: plan.Step.Rate > 0,
		base: base, cookies: plan.Trial.Cookies,
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
	if only := plan.Step.Request; only != "" && len(plan.Requests) > 0 && len(m.iterations) == 0 && len(errs) == 0 {
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
func iterations(plan Spec) (all []planned) {
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
func (m *Mix) add(p planned, plan Spec) (errs []error) {
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
	x := m.rng.IntN(m.total)
	for _, u := range m.iterations {
		if x -= u.weight; x < 0 {
			return u
		}
	}
	return m.iterations[len(m.iterations)-1]
}

// uses reports whether a slot is in the request.
func (r *Request) uses(slot int) bool {
	has := func(p part) bool { return p.kind != partText && p.slot == slot }
	return slices.ContainsFunc(r.head, has) || slices.ContainsFunc(r.body, has)
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

// User is one simulated user, within an iteration or between two. The zero value is ready to use.
// It belongs to a connection.
type User struct {
	iteration *iteration // nil: no iteration is begun
	at        int        // index of the next request
	sent      int        // number of requests of the iteration
	tries     int        // responses to the current request after which it is sent again
	again     bool       // the last request is sent again
	slots     []slot
	body      []byte
	seed      uint64 // of the think times and of elements drawn from lists
	pace      pace
	number    int    // of the users with setups, from 1; 0: not known yet
	jar       Jar    // unless the iteration keeps none
	url       []byte // path and query of the last request, if the iteration keeps cookies

	hops       int      // redirects in a row that were followed
	hop        *Request // the request after a redirect
	target     []byte   // its path and query
	redirected bool     // the last response was a redirect that is followed
	check      bool     // the response will be checked
	// Unread is the kind of the body that CheckResponse was to check last and did not look at.
	Unread bench.ErrorKind
	taken  *sampled // its quota has counted the response, which is not checked yet; nil: no
}

// Begun reports whether the user has begun an iteration that has not ended.
func (u *User) Begun() bool { return u.iteration != nil }

// Midway reports whether the user has sent a request of an iteration that has more. over says that
// no more iterations are begun: a request is not repeated then.
func (u *User) Midway(over bool) bool {
	return u.iteration != nil && u.sent > 0 && !(over && u.tries > 0 && u.hops == 0)
}

// Forget drops the user's iteration.
func (u *User) Forget() {
	u.giveBack()
	u.iteration, u.hops = nil, 0
}

// Begin draws the user's next iteration, if none is begun. It fails if no values are left.
func (m *Mix) Begin(u *User) error {
	if u.iteration != nil {
		return nil
	}
	return m.begin(u)
}

// Repeats returns how long the user, who has sent a request, waits before it is sent again; 0: it is
// not.
func (u *User) Repeats() time.Duration {
	if u.tries == 0 || u.hops > 0 {
		return 0
	}
	return u.iteration.requests[u.at].repeat.Every
}

// Think returns how long the user, who has begun an iteration, thinks before the next request.
func (u *User) Think() time.Duration {
	if u.hops > 0 {
		return 0
	}
	if every := u.Repeats(); every > 0 {
		return every
	}
	t := u.iteration.requests[u.at].think
	t.Min, t.Max = t.Min+u.paceWait(), t.Max+u.paceWait()
	if t.Max <= t.Min {
		return t.Min
	}
	return t.Min + time.Duration(u.random(0)%uint64(t.Max-t.Min+1))
}

// random returns the nth number that the user draws for the current request. SplitMix64 makes it:
// it does not depend on other users.
func (u *User) random(n int) uint64 {
	x := u.seed + uint64(u.at+1+n<<16)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Write appends the next request of a user, who has begun an iteration, to dst.
func (m *Mix) Write(u *User, dst []byte) (*Request, []byte) {
	r, from := u.iteration.requests[u.at], len(dst)
	if u.hops == 0 {
		u.check = r.checked && m.drawsCheck(u, r)
	} else {
		r = u.hop
		dst = append(append(append(append(dst, r.Method...), ' '), u.target...), " HTTP/1.1"...)
	}
	if len(r.body) > 0 {
		u.body = u.body[:0]
		for i := range r.body {
			u.body = r.body[i].append(u.body, u)
		}
	}
	for i := range r.head {
		switch p := &r.head[i]; p.kind {
		case partLength:
			dst = strconv.AppendInt(dst, int64(len(u.body)), 10)
		case partCookies:
			dst = m.appendCookies(dst, from, u, r, p.text)
		default:
			dst = p.append(dst, u)
		}
	}
	if u.iteration.cookies {
		u.url = append(u.url[:0], targetOf(dst[from:])...)
	}
	if len(r.body) > 0 {
		dst = append(dst, u.body...)
	}
	return r, dst
}

// Keeps reports whether the whole response to the last request is needed: head and body.
func (u *User) Keeps() bool {
	r := u.iteration.requests[u.at]
	return u.check || len(r.saves) > 0 || r.repeat != nil
}

// End ends the user's last request, whose exchange is x, and puts into x what it is in its iteration.
func (u *User) End(x *record.Exchange) {
	first := u.sent == 0
	x.Paced, x.Overran = first && u.pace.kept, first && u.pace.overran
	session, step, ended := u.Done(x.Kind != "" || x.Rejected)
	x.Session, x.First, x.Last = session, step == 0, ended
}

// KeepsLinks reports whether those headers of the response are needed that set cookies or say where
// to go next.
func (u *User) KeepsLinks() bool { return u.iteration.cookies }

// Done ends the last request. It returns the number of its session from 1 (0: a single request),
// the number of requests before it in the session, and whether the iteration ended with it.
func (u *User) Done(failed bool) (session, step int, ended bool) {
	session, step = u.iteration.session, u.sent
	u.sent++
	if u.redirected && !failed {
		u.redirected = false
		return session, step, false
	}
	u.giveBack()
	u.redirected, u.hops = false, 0
	if u.again {
		u.again = false
		u.tries++
		return session, step, false
	}
	u.tries = 0
	if u.at++; failed || u.at == len(u.iteration.requests) {
		u.iteration, ended = nil, true
	}
	return session, step, ended
}

// Masked returns the text of a failure without the secrets that the user's session has saved, and
// without cookies that are credentials.
func (m *Mix) Masked(u *User, text string) string {
	if u.iteration == nil {
		return text
	}
	var values []string
	for i, name := range u.iteration.saved {
		if m.secrets()[name] && len(u.slots[i].text) > 0 {
			values = append(values, string(u.slots[i].text))
		}
	}
	for i := range u.jar.cookies {
		c := &u.jar.cookies[i]
		if value := string(c.text[min(c.name+1, c.pair):c.pair]); secret.IsToken(value) {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return text
	}
	return secret.New(values...).Text(text)
}
