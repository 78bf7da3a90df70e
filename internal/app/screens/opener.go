package screens

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/worker"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/profiles"
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

// browserWait is how long the opening program may take to report a failure.
const browserWait = 2 * time.Second

// browser is a program that opens a file in the user's default application.
type browser struct {
	path string
	args []string // before the file
}

// browserOn finds the opening program of a system; ok is false without a display or without the
// program.
func browserOn(system string, getenv func(string) string, look func(string) (string, error)) (b browser, ok bool) {
	remote := getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != ""
	name := "xdg-open"
	switch system {
	case "darwin":
		name = "open"
	case "windows":
		// Not "start": that is a command of the shell, which would interpret the file's name.
		name, b.args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		remote = getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == ""
	}
	if remote {
		return browser{}, false
	}
	path, err := look(name)
	if err != nil {
		return browser{}, false
	}
	b.path = path
	return b, true
}

// open starts the program, without a shell and without this terminal. A program that still runs
// after browserWait is the browser itself: it outlives this process.
func (b browser) open(file string) error {
	file, err := filepath.Abs(file) // begins with a slash or a drive, so it is never read as an option
	if err != nil {
		return err
	}
	cmd := exec.Command(b.path, append(append([]string(nil), b.args...), file)...)
	worker.OwnSession(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	// This goroutine ends with the browser, or with this process. It needs no clean-up, so nothing
	// waits for it.
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			return fmt.Errorf("%s: exit code %d", filepath.Base(b.path), ended.ExitCode())
		}
		return err
	case <-time.After(browserWait):
		return nil
	}
}

// Site reads profiles and contenders for the setup screen.
type Site struct {
	Services []string // folders with more contenders
}

// maxFound is the most profiles that the setup screen lists from the working folder.
const maxFound = 50

// Profiles returns the bundled profiles, those in the working folder, and the one named also. Other
// YAML files are skipped, unless also names one.
func (s Site) Profiles(also string) []setup.Profile {
	var out []setup.Profile
	seen := map[string]bool{}
	add := func(name string, must bool) {
		if seen[name] {
			return
		}
		p, err := profile.Load(name, profiles.FS)
		if err == nil || must {
			seen[name] = true
			out = append(out, setup.Profile{Name: name, Profile: p, Err: err})
		}
	}
	list, _ := profile.List(profiles.FS)
	for _, p := range list {
		add(p.Name, true)
	}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); len(out) < maxFound && e.Type().IsRegular() && (ext == ".yaml" || ext == ".yml") {
			add(e.Name(), false)
		}
	}
	add(also, true)
	return out
}

// Contenders returns those of the given folders of services, or else of the profile's.
func (s Site) Contenders(services string) ([]bench.Service, error) {
	folders := s.Services
	if len(folders) == 0 && services != "" {
		folders = []string{services}
	}
	return app.Discover(folders)
}
