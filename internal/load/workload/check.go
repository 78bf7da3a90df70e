package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/textproto"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
)

const defaultCheckEvery = 100 // one in 100 responses

// MaxChecked is the size in bytes up to which bodies of responses are checked.
const MaxChecked = 1 << 20

// Response is what a check gets.
type Response struct {
	Request  string // name of the request
	ID       int64  // value of {id} if drawn from the data set
	Language string // value of {language} if drawn from the data set
	Status   int
	Head     []byte // header lines with their ends
	Body     []byte
	Cut      bool // the body is longer
	// Value returns the value that a variable of the expectation had in the request; nil if it has none.
	Value func(name string) string
}

// Header returns the parsed header lines.
func (a Response) Header() http.Header {
	head := append(bytes.Clone(a.Head), "\r\n"...)
	header, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(head))).ReadMIMEHeader()
	return http.Header(header)
}

// ErrNotKnown is what a check returns if it does not know the expected response: that counts as a
// success, and not as checked.
var ErrNotKnown = errors.New("the expected response is not known")

// checker draws which responses are checked.
type checker struct {
	check func(Response) error
	every uint64
	rng   *rand.Rand // separate: checking must not change which requests are drawn

	// The quota of each kind of request grows linearly over the length of the step.

	quota   float64 // responses of each kind that are checked in any case; 0: only the share
	length  time.Duration
	bound   int64 // requests of the step if their number is bounded; 0: it is not
	now     func() time.Time
	began   time.Time // when the first request was written
	written int64
}

func newChecker(plan Spec) *checker {
	if plan.Check == nil {
		return nil
	}
	every := cmp.Or(max(plan.CheckEvery, 0), defaultCheckEvery)
	c := &checker{
		check: plan.Check, every: uint64(every), rng: rand.New(rand.NewPCG(plan.Seed, 0x636865636b)),
		quota: float64(max(plan.CheckQuota, 0)), length: plan.Step.Duration, bound: plan.Step.MaxRequests, now: plan.Now,
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// drawsCheck reports whether the response to a request that is about to be sent is checked: by the
// quota of its kind, or by the share.
func (m *Mix) drawsCheck(r *Request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.checker
	drawn := c.rng.Uint64N(c.every) == 0
	if c.quota > 0 && float64(r.drawn) <= c.quota*c.progress() {
		drawn = true
	}
	if drawn {
		r.drawn++
	}
	return drawn
}

// progress counts one more request, and returns how much of the step is over: from 0, above 1 if it
// is longer than planned. It goes by requests if their number is bounded, else by time.
func (c *checker) progress() float64 {
	c.written++
	if c.bound > 0 {
		return float64(c.written) / float64(c.bound)
	}
	if c.length <= 0 {
		return 1
	}
	now := c.now()
	if c.began.IsZero() {
		c.began = now
	}
	return float64(now.Sub(c.began)) / float64(c.length)
}

// CheckResponse checks the response to the user's last request, whose status is expected, and saves
// values from it. kind is "" if it is good; otherwise example says why not.
func (m *Mix) CheckResponse(u *User, r *Request, a Response) (checked bool, kind bench.ErrorKind, example string) {
	if u.check && !a.Cut {
		if r.id >= 0 {
			a.ID = u.slots[r.id].number
		}
		if r.word >= 0 {
			v := u.iteration.vars[r.word-len(u.iteration.saved)]
			a.Language = v.items[u.slots[r.word].number]
		}
		a.Request, a.Value = r.Name, r.valuesOf(u)
		switch err := m.checker.check(a); {
		case err == nil:
			checked = true
		case !errors.Is(err, ErrNotKnown):
			return true, bench.ErrWrong, wire.Example(err.Error())
		}
	}
	for i := range r.saves {
		if err := r.saves[i].take(a, &u.slots[r.saves[i].slot]); err != nil {
			text := fmt.Sprintf("%s: nothing to save as %q, since %v", u.iteration.where(r), r.saves[i].spec.Name, err)
			return checked, bench.ErrSave, wire.Example(text)
		}
	}
	return checked, "", ""
}
