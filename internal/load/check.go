package load

import (
	"errors"
	"math/rand/v2"

	"locbench/internal/bench"
)

const (
	usualCheck = 100     // one in so many answers
	maxChecked = 1 << 20 // bytes of a body; longer ones are not checked
)

// ErrNotKnown is what Plan.Check returns for an answer that it cannot judge: it is a success, and not among those checked.
var ErrNotKnown = errors.New("the right answer is not known")

// checker draws the answers whose bodies are checked.
type checker struct {
	check func(Answer) error
	every uint64
	lot   *rand.Rand // apart from the one that draws requests: checking must not change what is asked
}

func newChecker(plan Plan, shard int) *checker {
	if plan.Check == nil {
		return nil
	}
	every := plan.CheckEvery
	if every <= 0 {
		every = usualCheck
	}
	return &checker{check: plan.Check, every: uint64(every), lot: rand.New(rand.NewPCG(plan.Seed, 0x636865636b+uint64(shard)))}
}

// wants tells whether the next answer is to be checked.
func (c *checker) wants() bool { return c != nil && c.lot.Uint64N(c.every) == 0 }

// drawn is what a request was filled in with.
type drawn struct {
	id       int64
	language string
	check    bool // the answer's body is to be kept and checked
}

// verdict is what a body is worth: "" for the known answer, with the text of an example otherwise.
func (m *mix) verdict(r *request, d drawn, body []byte) (checked bool, kind bench.ErrorKind, example string) {
	switch err := m.checker.check(Answer{Request: r.name, ID: d.id, Language: d.language, Body: body}); {
	case err == nil:
		return true, "", ""
	case errors.Is(err, ErrNotKnown):
		return false, "", ""
	default:
		return true, bench.ErrWrong, bound(err.Error())
	}
}
