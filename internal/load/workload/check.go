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

	"locbench/internal/bench"
	"locbench/internal/load/wire"
)

const defaultCheckEvery = 100 // one in so many answers

// MaxChecked bounds the body of a response that is checked, in bytes; longer ones are not.
const MaxChecked = 1 << 20

// Response is what a check is given.
type Response struct {
	Request  string // its name
	ID       int64  // of {id} where that is one of the data set
	Language string // likewise
	Status   int
	Head     []byte // header lines with their ends
	Body     []byte
	Cut      bool // there is more of the body
}

// Header returns the header lines.
func (a Response) Header() http.Header {
	head := append(bytes.Clone(a.Head), "\r\n"...)
	header, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(head))).ReadMIMEHeader()
	return http.Header(header)
}

// ErrNotKnown is what a check returns for a response that it cannot judge: it is a success, and not
// among those checked.
var ErrNotKnown = errors.New("the right response is not known")

// checker draws the responses that are checked.
type checker struct {
	check func(Response) error
	every uint64
	rng   *rand.Rand // its own: checking must not change which requests are drawn
}

func newChecker(plan Spec) *checker {
	if plan.Check == nil {
		return nil
	}
	every := cmp.Or(max(plan.CheckEvery, 0), defaultCheckEvery)
	return &checker{check: plan.Check, every: uint64(every), rng: rand.New(rand.NewPCG(plan.Seed, 0x636865636b))}
}

func (m *Mix) drawsCheck() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checker.rng.Uint64N(m.checker.every) == 0
}

// Judge looks at the response to the request that a user has made, whose status is a wanted one, and takes
// values out of it. kind is "" for a good one, with the text of an example otherwise.
func (m *Mix) CheckResponse(u *User, r *Request, a Response) (checked bool, kind bench.ErrorKind, example string) {
	if u.check && !a.Cut {
		if r.id >= 0 {
			a.ID = u.slots[r.id].number
		}
		if r.word >= 0 {
			v := u.iteration.vars[r.word-len(u.iteration.saved)]
			a.Language = v.items[u.slots[r.word].number]
		}
		a.Request = r.Name
		switch err := m.checker.check(a); {
		case err == nil:
			checked = true
		case !errors.Is(err, ErrNotKnown):
			return true, bench.ErrWrong, wire.Example(err.Error())
		}
	}
	for i := range r.saves {
		if err := r.saves[i].take(a, &u.slots[r.saves[i].slot]); err != nil {
			text := fmt.Sprintf("%s: nothing to save as %q, since %v", u.iteration.where(r), r.saves[i].of.Name, err)
			return checked, bench.ErrSave, wire.Example(text)
		}
	}
	return checked, "", ""
}
