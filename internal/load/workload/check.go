package workload

import (
	"cmp"
	"errors"
	"math/rand/v2"

	"locbench/internal/bench"
	"locbench/internal/load/wire"
)

const usualCheck = 100 // one in so many answers

// MaxChecked bounds the body of an answer that is checked, in bytes; longer ones are not.
const MaxChecked = 1 << 20

// Answer is what a check is given.
type Answer struct {
	Request  string // its name
	ID       int64  // that the path asked for; the last one where there are several
	Language string
	Body     []byte
}

// ErrNotKnown is what a check returns for an answer that it cannot judge: it is a success, and not
// among those checked.
var ErrNotKnown = errors.New("the right answer is not known")

// checker draws the answers whose bodies are checked.
type checker struct {
	check func(Answer) error
	every uint64
	lot   *rand.Rand // its own: checking must not change which requests are drawn
}

func newChecker(plan Spec, shard int) *checker {
	if plan.Check == nil {
		return nil
	}
	every := cmp.Or(max(plan.CheckEvery, 0), usualCheck)
	lot := rand.New(rand.NewPCG(plan.Seed, 0x636865636b+uint64(shard)))
	return &checker{check: plan.Check, every: uint64(every), lot: lot}
}

func (c *checker) wants() bool { return c != nil && c.lot.Uint64N(c.every) == 0 }

// Drawn is what a request was filled in with.
type Drawn struct {
	Check    bool // the answer's body is to be kept and checked
	id       int64
	language string
}

// Verdict is what a body is worth: "" for the known answer, with the text of an example otherwise.
func (m *Mix) Verdict(r *Request, d Drawn, body []byte) (checked bool, kind bench.ErrorKind, example string) {
	switch err := m.checker.check(Answer{Request: r.name, ID: d.id, Language: d.language, Body: body}); {
	case err == nil:
		return true, "", ""
	case errors.Is(err, ErrNotKnown):
		return false, "", ""
	default:
		return true, bench.ErrWrong, wire.Example(err.Error())
	}
}
