package screens

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// defaultRoot is the folder in which runs create their results folders.
const defaultRoot = "results"

// opener finds results folders below its roots, starts and watches runs, and keeps their sessions.
// Its methods block.
type opener struct {
	env    console.Env
	roots  []string
	binary string // the locbench to start; "" for this one
	mu     sync.Mutex
	runs   []*worker.Session
}

// newOpener returns an opener for the named folders and the default one.
func newOpener(env console.Env, named ...string) *opener {
	return &opener{env: env, roots: append(slices.Clone(named), defaultRoot)}
}

// Roots returns the searched folders as text.
func (o *opener) Roots() string { return strings.Join(o.roots, ", ") }

// List returns the results folders; left is the number of those beyond the limit of the list.
func (o *opener) List() (entries []results.Entry, left int) { return results.List(o.roots...) }

// Load reads the plan and the results of the trials.
func (o *opener) Load(dir string) (bench.Run, []bench.TrialResult, error) { return results.Read(dir) }

// Floor returns the noise floor that 'locbench calibrate' saved next to the folders.
func (o *opener) Floor(before, after bench.Run, dirs ...string) *compare.Floor {
	return app.FindFloor(before, after, dirs...)
}

// Report writes the report of the results in dir, opens it in a browser if it can, and returns a
// sentence with its path.
func (o *opener) Report(dir string) (string, error) {
	run, trials, err := results.Read(dir)
	if err != nil && len(trials) == 0 {
		return "", err
	}
	files, reportErr := app.WriteReports(dir, "", analysis.Of(run, trials))
	if reportErr != nil {
		return "", reportErr
	}
	page := files[len(files)-1]
	text := "report " + page
	if err != nil {
		text += " (some results were unreadable: " + safe.Line(err.Error(), 300) + ")"
	}
	browser, ok := browserOn(runtime.GOOS, o.env.Getenv, exec.LookPath)
	if !ok {
		return text, nil
	}
	if err := browser.open(page); err != nil {
		return text + fmt.Sprintf("; could not open it: %v", err), nil
	}
	return text + ", opened in browser", nil
}

// Start begins a run as "locbench run args…" would, unless one of this dashboard is in progress:
// two would disturb each other, and a key may be pressed twice by mistake.
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
		return nil, errors.New("a run of this dashboard is in progress: wait for it or stop it")
	}
	s, err := worker.Start(o.binary, args)
	if err != nil {
		return nil, err
	}
	o.runs = append(o.runs, s)
	return s, nil
}

// Watch follows the run in dir, in progress or finished.
func (o *opener) Watch(dir string) (ui.Session, error) {
	s := worker.Watch(dir)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, s)
	return s, nil
}

// started returns all sessions so far, the newest last.
func (o *opener) started() []*worker.Session {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs
}
