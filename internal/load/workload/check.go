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
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/text/unpack"
)

const defaultCheckEvery = 100 // one in 100 responses

// MaxChecked is the size in bytes up to which bodies of responses are checked, packed or unpacked.
const MaxChecked = 1 << 20

var errLong = unpack.TooLong(MaxChecked)

// Response is what a check gets.
type Response struct {
	Request  string // name of the request
	ID       int64  // value of {id} if drawn from the data set
	Language string // value of {language} if drawn from the data set
	Status   int
	Head     []byte // header lines with their ends
	Body     []byte // in a check: unpacked
	Cut      bool   // the body is longer
	// Unread is why a check does not get the body; nil if it does. Body is then its beginning, or
	// nil.
	Unread error
	// Value returns the value that a variable of the expectation had in the request; nil if it has
	// none.
	Value func(name string) string

	sent   sent   // where the request was sent
	random uint64 // draws elements that are saved
	jar    *Jar   // after redirects: what they set, too; nil: there were none
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

// Sampling is how many responses of a step were drawn to be checked so far. The slices of an
// interleaved step share one.
type Sampling struct {
	Length time.Duration // length of the whole step
	Before time.Duration // length of the slices before this one
	kinds  []sampled     // by the index of the request
	judged atomic.Int64  // nanoseconds spent in checks
}

// sampled is the state of one kind of request.
type sampled struct {
	taken atomic.Int64 // responses that were checked or are on their way to that
	tried float64      // responses that were drawn, by what they cost: taken may stay low for a whole step
	place float64      // from 0 to 1: where in its part of the quota the next draw is
	since int64        // requests since the last draw
	skip  int64        // of the next requests, those that the quota passes over without reading the clock
}

// triesOfQuota bounds how many responses are kept whole for each one of the quota: rejected ones,
// unexpected statuses and bodies that are not looked at do not use it up, but each costs memory and
// time. A body that is not looked at counts as triesOfUnread of them.
const (
	triesOfQuota  = 100
	triesOfUnread = 10
)

// checker draws which responses are checked.
type checker struct {
	check  func(Response) error
	every  uint64
	budget float64    // share of one CPU that checks may take while the share draws; 0: any
	rng    *rand.Rand // separate: checking must not change which requests are drawn

	// The quota of each kind of request grows linearly over the step.

	quota float64 // responses of each kind that are checked in any case; 0: only the share
	bound int64   // iterations of the step if their number is bounded; 0: it is not
	begun int64   // iterations so far
	now   func() time.Time
	began time.Time // when the first request was written
	*Sampling
}

func newChecker(plan Plan) *checker {
	if plan.Check == nil {
		return nil
	}
	every := cmp.Or(max(plan.CheckEvery, 0), defaultCheckEvery)
	c := &checker{
		check: plan.Check, every: uint64(every), rng: rand.New(rand.NewPCG(plan.Seed, 0x636865636b)),
		quota: float64(max(plan.CheckQuota, 0)), budget: plan.CheckBudget, bound: plan.Step.MaxRequests,
		now: plan.Now, Sampling: plan.Sampling,
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.Sampling == nil {
		c.Sampling = &Sampling{Length: plan.Step.Duration}
	}
	if len(c.kinds) != len(plan.Requests) {
		c.kinds = make([]sampled, len(plan.Requests))
	}
	return c
}

// drawsCheck reports whether the response to a request that u is about to send is checked: by the
// quota of its kind, or by the share.
func (m *Mix) drawsCheck(u *User, r *Request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, k := m.checker, &m.checker.kinds[r.Index]
	drawn := c.rng.Uint64N(c.every) == 0 && c.affords()
	if k.since++; c.quota > 0 && !drawn {
		drawn = c.lacks(k)
	}
	if drawn {
		k.taken.Add(1)
		k.tried++
		k.place, k.since, k.skip = c.rng.Float64(), 0, 0
		u.taken = k
	}
	return drawn
}

// lacks reports whether fewer responses of a kind were drawn than its quota is by now. Each draw is
// at a random place of its part of the step: a contender may be wrong at regular intervals. The
// clock is not read for each request: after n of them without a draw, n/4 pass.
func (c *checker) lacks(k *sampled) bool {
	if k.skip > 0 {
		k.skip--
		return false
	}
	quota := c.quota * c.progress()
	if float64(k.taken.Load())+k.place-1 < quota && k.tried <= triesOfQuota*quota {
		return true
	}
	k.skip = k.since / 4
	return false
}

// affords reports whether the share may draw: while checks take at most the budget.
func (c *checker) affords() bool {
	return c.budget <= 0 || float64(c.judged.Load()) <= c.budget*float64(c.elapsed())
}

// elapsed returns the time since the step's first request; of a slice, with the slices before it.
func (c *checker) elapsed() time.Duration {
	now := c.now()
	if c.began.IsZero() {
		c.began = now
	}
	return c.Before + now.Sub(c.began)
}

// progress returns how much of the step is over, by time or by iterations: from 0, above 1 if it is
// longer than planned.
func (c *checker) progress() (part float64) {
	if c.bound > 0 {
		part = float64(c.begun) / float64(c.bound)
	}
	return max(part, float64(c.elapsed())/float64(c.Length))
}

// judge checks a response, which it unpacks with p.
func (c *checker) judge(a *Response, p *unpacker) error {
	if c.budget <= 0 {
		p.unpack(a)
		return c.check(*a)
	}
	began := c.now()
	defer func() { c.judged.Add(int64(c.now().Sub(began))) }()
	p.unpack(a)
	return c.check(*a)
}

// giveBack returns a response that was drawn, but not checked, to the quota.
func (u *User) giveBack() {
	if u.taken != nil {
		u.taken.taken.Add(-1)
		u.taken = nil
	}
}

// CheckResponse checks the response to the user's last request, whose status is expected, and saves
// values from it. kind is "" if it is good; otherwise example says why not. u.Unread is why the
// body was not looked at, which example then says; "" if it was, or was not to be.
func (m *Mix) CheckResponse(u *User, r *Request, a Response) (checked bool, kind bench.ErrorKind, example string) {
	p := unpacker{pool: m.unpackers}
	defer p.release()
	if u.Unread = ""; u.check {
		if r.id >= 0 {
			a.ID = u.slots[r.id].number
		}
		if r.word >= 0 {
			v := u.iteration.vars[r.word-len(u.iteration.saved)]
			a.Language = v.items[u.slots[r.word].number]
		}
		a.Request, a.Value = r.Name, r.valuesOf(u)
		switch err := m.checker.judge(&a, &p); {
		case err == nil:
			checked, u.taken = true, nil
		case a.Unread != nil && errors.Is(err, a.Unread):
			u.Unread, example = m.unread(u, a.Unread)
		case !errors.Is(err, ErrNotKnown):
			u.taken = nil
			return true, bench.ErrWrong, wire.Example(err.Error())
		}
	}
	if u.iteration.cookies {
		u.jar.keep(a.Head, u.url, r.to)
	}
	if kind, text := m.repeat(u, r, &a, &p); u.again || kind != "" {
		return checked, kind, text
	}
	if a.sent = (sent{u.url, r.to}); u.hops > 0 {
		a.jar = &u.jar
	}
	for i := range r.saves {
		a.random = u.random(i + 1)
		if err := p.save(&r.saves[i], &a, &u.slots[r.saves[i].slot]); err != nil {
			if link, ok := errors.AsType[linkError](err); ok {
				const how = "%s: %v; no request is sent to it as %q"
				text := fmt.Sprintf(how, u.iteration.where(r), link, r.saves[i].spec.Name)
				return checked, bench.ErrLink, wire.Example(text)
			}
			text := fmt.Sprintf("%s: nothing to save as %q, since %v", u.iteration.where(r), r.saves[i].spec.Name, err)
			return checked, bench.ErrSave, wire.Example(text)
		}
	}
	return checked, "", example
}
