package app

import (
	"slices"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/launch"
	"locbench/internal/verdict"
)

// lookEvery is how often a run looks for others on its machine: some files are read.
const lookEvery = time.Second

// neighbours are the runs of other locbenches on this machine, which disturb what is measured: each
// is reported once, and every step that one was there has a warning. The zero value knows of none.
type neighbours struct {
	withdraw func()              // nil: this run is not known to the others
	stop     func()              // nil: nobody looks for them
	found    func(bench.Finding) // one that was not there before

	mu   sync.Mutex
	seen map[string]*neighbour // by owner
}

type neighbour struct {
	text string
	last time.Time
}

// meet makes this run known and returns what there is to say of the others that are there already.
// What a run keeps to is decided by plan, which is given those others.
func (n *neighbours) meet(run bench.Run, plan func([]launch.Neighbour) bench.Isolation) (i bench.Isolation, warnings bench.Findings) {
	others, err := launch.Neighbours()
	i = plan(others)
	if err == nil {
		n.withdraw, err = launch.Announce(run.ID, time.Now(), kept(i))
	}
	if err != nil {
		warnings = append(warnings, bench.Finding{Text: "this run is not known to others on this machine, nor they to it: " + err.Error()})
	}
	if again, err := launch.Neighbours(); err == nil {
		others = again // with one that has come between
	}
	return i, append(warnings, n.note(others)...)
}

// kept is all that a run keeps to; "": it may use any CPU.
func kept(i bench.Isolation) string {
	if !i.Separate {
		return ""
	}
	var all []int
	for _, list := range []string{i.Contender, i.Client, i.Store} {
		cpus, _ := cpuset.Parse(list)
		all = append(all, cpus...)
	}
	return cpuset.List(all)
}

// note notes that others are there now and returns what there is to say of those that were not.
func (n *neighbours) note(others []launch.Neighbour) (fresh bench.Findings) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]*neighbour{}
	}
	for _, o := range others {
		known := n.seen[o.Owner]
		if known == nil {
			known = &neighbour{text: o.String()}
			n.seen[o.Owner] = known
			text := "another locbench is at work on the same machine, and each disturbs the other's figures: " + known.text
			fresh = append(fresh, bench.Finding{Kind: bench.FoundNeighbour, Text: text})
		}
		known.last = time.Now()
	}
	return fresh
}

func (n *neighbours) look(more ...launch.Neighbour) {
	others, _ := launch.Neighbours()
	for _, f := range n.note(append(others, more...)) {
		n.found(f)
	}
}

// watch looks for others until close is called.
func (n *neighbours) watch(found func(bench.Finding)) {
	stop := make(chan struct{})
	var looking sync.WaitGroup
	n.found, n.stop = found, func() {
		close(stop)
		looking.Wait()
	}
	looking.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				n.look()
			}
		}
	})
}

// since are those that have been there since a moment.
func (n *neighbours) since(began time.Time) (texts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.seen {
		if !o.last.Before(began) {
			texts = append(texts, o.text)
		}
	}
	slices.Sort(texts)
	return texts
}

func (n *neighbours) close() {
	for _, end := range []func(){n.stop, n.withdraw} {
		if end != nil {
			end()
		}
	}
	n.stop, n.withdraw = nil, nil
}

// disturbed says which other runs were there during a step.
func (s *site) disturbed(res bench.StepResult) bench.Findings {
	if s.neighbours.found == nil {
		return nil
	}
	s.neighbours.look()
	if others := s.neighbours.since(res.Load.Started); len(others) > 0 {
		return bench.Findings{verdict.Neighbours(others)}
	}
	return nil
}
