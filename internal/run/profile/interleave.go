package profile

import (
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	interleaveAuto = "auto"
	interleaveOff  = "off"
	interleaveHint = "write auto, off, or an interval from 50ms to 1m, such as 1s"

	minSlice = 50 * time.Millisecond
	maxSlice = time.Minute

	// Slice is the least length of a slice unless the profile has one: five periods of the CPU quota.
	Slice = 500 * time.Millisecond
	// InterleavedRounds is the number of rounds for verdicts on all headline measures by pairs.
	InterleavedRounds = stats.MinPaired
	// PlainRounds is that number for contenders that are not interleaved.
	PlainRounds = stats.MinInterval
	// mostUnlimited is how many contenders without a memory limit may start at the same time.
	mostUnlimited = 4
	// reserve is memory that interleaved contenders leave to client and needs, in bytes.
	reserve = 1 << 30
)

// interleave is the length of a slice, 0 for none, or bench.InterleaveAuto.
type interleave time.Duration

func readInterleave(text string) (time.Duration, error) {
	switch text {
	case interleaveAuto:
		return bench.InterleaveAuto, nil
	case interleaveOff, "none", "0", "0s":
		return 0, nil
	}
	d, err := strictyaml.ParseDuration(text)
	if err != nil || d < minSlice || d > maxSlice {
		return 0, errors.New(interleaveHint)
	}
	return d, nil
}

func writeInterleave(d time.Duration) string {
	switch d {
	case bench.InterleaveAuto:
		return interleaveAuto
	case 0:
		return interleaveOff
	}
	return units.Exact(d)
}

// UnmarshalStrict reads auto, off or a duration.
func (i *interleave) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	d, err := readInterleave(text)
	if err != nil {
		v.Wrong(err.Error())
		return
	}
	*i = interleave(d)
}

// MarshalYAML writes what UnmarshalStrict reads.
func (i interleave) MarshalYAML() (any, error) { return writeInterleave(time.Duration(i)), nil }

// DescribeStrict returns the schema of what UnmarshalStrict reads.
func (interleave) DescribeStrict(s *strictyaml.Schemas) strictyaml.Schema {
	return strictyaml.Either(strictyaml.Enum(interleaveAuto, interleaveOff, "none", "0"), s.Of(duration(0)))
}

func interleaveValue() value {
	return value{
		get: func(p *bench.Profile) string { return writeInterleave(p.Interleave) },
		set: func(c *change, text string) error {
			d, err := readInterleave(text)
			if err != nil {
				return c.refuse(text, err.Error())
			}
			c.p.Interleave = d
			return nil
		},
		wrong: func(p *bench.Profile, _ bool) string {
			if d := p.Interleave; d != 0 && d != bench.InterleaveAuto && (d < minSlice || d > maxSlice) {
				return interleaveHint
			}
			return ""
		},
	}
}

// Settle chooses what p leaves to the plan of a run: whether its contenders are interleaved, and
// the number of rounds. available is the memory that they may use, in bytes; 0: unknown. Why is nil
// if they are interleaved.
func Settle(p bench.Profile, available int64) (settled bench.Profile, why *bench.Plain) {
	restarting := len(p.Contenders) > 1 && kinds.Restarting(p.Needs) != "" // the reason, whatever was chosen
	switch {
	case p.Interleave == 0 && !restarting:
		why = plain(bench.PlainChosen, "the profile or the command says so")
	case p.Interleave <= 0:
		if why = whyPlain(p, available); why == nil {
			p.Interleave = Slice
		} else {
			p.Interleave = 0
		}
	}
	switch {
	case p.Rounds > 0:
	case len(p.Contenders) < 2:
		p.Rounds = 1
	case why == nil:
		p.Rounds = InterleavedRounds
	default:
		p.Rounds = PlainRounds
	}
	return p, why
}

// whyPlain returns why p is not interleaved by default; nil if it is.
func whyPlain(p bench.Profile, available int64) *bench.Plain {
	n := len(p.Contenders)
	if n < 2 {
		return plain(bench.PlainAlone, "there is one contender")
	}
	if name := kinds.Restarting(p.Needs); name != "" {
		return plain(bench.PlainNeeds, "%s starts again for each trial", name)
	}
	for i, s := range p.Steps {
		if err := s.CheckInterleave(); err != nil {
			return plain(bench.PlainSteps, "step %d (%s): %v", i+1, s.Name, err)
		}
		if name := p.Repeated(); name != "" && s.Open() {
			return plain(bench.PlainSteps, "step %d (%s): %q is repeated, which slices of an open loop would interrupt", i+1, s.Name, name)
		}
	}
	need, unlimited := memoryOf(p)
	switch {
	case p.FirstRequests != nil:
		return plain(bench.PlainFirstRequests, "first_requests times a contender that runs alone")
	case p.Rounds > 0 && p.Rounds < InterleavedRounds:
		return plain(bench.PlainRounds, "%s, and pairs of rounds have verdicts from %d on", units.Plural(p.Rounds, "round"),
			InterleavedRounds)
	case p.Runtime.Traits().AlreadyRunning: // all are in memory anyway
	case unlimited > mostUnlimited:
		return plain(bench.PlainContenders, "%d contenders have no memory limit, and at most %d such run at the same time",
			unlimited, mostUnlimited)
	case need > 0 && available > 0 && need > available-reserve:
		return plain(bench.PlainMemory, "%d contenders may use %s, this machine has %s free, and client and needs take %s",
			n, units.Bytes(need), units.Bytes(available), units.Bytes(reserve))
	}
	return nil
}

// memoryOf returns the sum of the memory limits of all contenders, in bytes, and how many have
// none.
func memoryOf(p bench.Profile) (sum int64, unlimited int) {
	for _, sel := range p.Contenders {
		limit := p.LimitsOf(sel).Memory
		if limit == 0 {
			unlimited++
		}
		sum += limit
	}
	return sum, unlimited
}

func plain(reason bench.PlainReason, format string, args ...any) *bench.Plain {
	return &bench.Plain{Reason: reason, Text: fmt.Sprintf(format, args...)}
}
