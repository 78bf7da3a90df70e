package screens

import (
	"errors"
	"slices"
	"sync"

	"locbench/internal/console"
	"locbench/internal/tui/ui"
	"locbench/internal/worker"
)

// opener leads the screens outside: it starts runs and watches folders, and remembers what it has
// started.
type opener struct {
	archive
	binary string // the locbench to start; "" is this one
	mu     sync.Mutex
	runs   []*worker.Session
}

func newOpener(env console.Env, named ...string) *opener {
	return &opener{archive: newArchive(env, named...)}
}

// Start begins a run as "locbench run args…" would, unless the one before is still there: two at a
// time would measure each other, and a key that is pressed twice is no wish for that.
func (o *opener) Start(args []string) (ui.Session, error) {
	s, err := o.run(args)
	if err != nil {
		return nil, err // not a nil *worker.Session in an interface
	}
	return s, nil
}

func (o *opener) run(args []string) (*worker.Session, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.ContainsFunc(o.runs, (*worker.Session).Running) {
		return nil, errors.New("a run of this dashboard is still in progress: wait for its end, or end it first")
	}
	s, err := worker.Start(o.binary, args)
	if err != nil {
		return nil, err
	}
	o.runs = append(o.runs, s)
	return s, nil
}

// Watch follows the run that is in progress in dir.
func (o *opener) Watch(dir string) (ui.Session, error) {
	s := worker.Watch(dir)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, s)
	return s, nil
}

// started are the sessions so far, the newest last.
func (o *opener) started() []*worker.Session {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs
}
