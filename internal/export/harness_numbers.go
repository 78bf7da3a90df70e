package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// numbers reads the numbers of one entry; the first mistake stays.
type numbers struct {
	stat harnessStat
	at   int
	err  error
}

// of is a number of the entry; ok is false where it is null or not there.
func (n *numbers) of(k int, most float64) (x float64, ok bool) {
	raw := n.stat[k]
	if n.err != nil || raw == nil || bytes.Equal(raw, null) {
		return 0, false
	}
	if err := json.Unmarshal(raw, &x); err != nil || x < 0 || x > most {
		n.err = fmt.Errorf("%s: %s is not between 0 and %g", statName(n.at, harnessKeys()[k]), safe.Line(string(raw), 40), most)
		return 0, false
	}
	return x, true
}

func (n *numbers) count(k int) int64 {
	x, _ := n.of(k, 1e15)
	if n.err == nil && x != math.Trunc(x) {
		n.err = fmt.Errorf("%s: %v is no whole number", statName(n.at, harnessKeys()[k]), x)
	}
	return int64(x)
}

func (n *numbers) usage() *bench.Usage {
	cpu, ok := n.of(1, 1e9)
	if !ok {
		return nil
	}
	u := &bench.Usage{Source: "docker stats", CPU: time.Duration(math.Round(cpu * 1e9))}
	used, hasUsed := n.of(3, 1e9)
	peak, hasPeak := n.of(4, 1e9)
	if hasUsed && hasPeak {
		u.Memory = &bench.Memory{Used: int64(math.Round(used * (1 << 20))), Peak: int64(math.Round(peak * (1 << 20))), PeakSource: "max_usage"}
	}
	return u
}

func (n *numbers) step(index int, before, after *bench.Usage) bench.StepResult {
	s := bench.StepResult{Index: index, Before: before, After: after}
	s.Step.Connections = int(min(n.count(9), 1e9))
	s.Step.Name = conns(s.Step.Connections)
	l := &s.Load
	l.Succeeded = n.count(6)
	errors := n.count(8)
	if errors > 0 {
		l.Failed = map[bench.ErrorKind]int64{bench.ErrOther: errors}
	}
	l.Sent = l.Succeeded + errors
	l.Scheduled = l.Sent
	rate, _ := n.of(13, 1e12)
	l.Elapsed = elapsedOf(l.Succeeded, rate)
	s.Step.Duration = l.Elapsed.Round(time.Second)
	quantile := func(k int) time.Duration {
		ms, _ := n.of(k, 1e9)
		return time.Duration(math.Round(ms * 1e6))
	}
	if l.Succeeded > 0 {
		l.Latency = bench.Latencies{Count: l.Succeeded, P50: quantile(10), P90: quantile(11), P99: quantile(12)}
	}
	return s
}
