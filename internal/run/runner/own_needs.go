package runner

import (
	"context"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// soon returns the trials of the round that start after an interleaved one, and launch their
// contenders.
func (r *runner) soon(s *slot) (trials []bench.Trial) {
	if s == nil {
		return nil
	}
	s.rotation.mu.Lock()
	defer s.rotation.mu.Unlock()
	for _, other := range s.rotation.slots[s.number+1:] {
		sel := selection(other.trial)
		if r.broken[sel] == nil && (r.neverReady[sel]+r.unmigrated[sel] == 0 || r.cfg.RetryNotReady) {
			trials = append(trials, other.trial)
		}
	}
	return trials
}

func (l *trialRun) readHost(ctx context.Context) *bench.HostReading {
	return l.cfg.Observer.ReadHost(ctx, *l.trial)
}

func (l *trialRun) readOwn() map[string]*bench.NeedUsage { return l.cfg.Observer.ReadOwn(*l.trial) }

// waitedOf adds the CPU time that needs of the contender itself have used since a reading, while
// other contenders were loaded.
func (r *readings) waitedOf(before map[string]*bench.NeedUsage) {
	if len(before) == 0 {
		return
	}
	for name, to := range r.own() {
		if from := before[name]; from != nil && from.Source == to.Source && to.CPU > from.CPU {
			if r.record.WaitedNeeds == nil {
				r.record.WaitedNeeds = map[string]time.Duration{}
			}
			r.record.WaitedNeeds[name] += to.CPU - from.CPU
		}
	}
}
