package launch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"locbench/internal/cpuset"
	"locbench/internal/docker"
	"locbench/internal/regular"
	"locbench/internal/safe"
)

// Neighbour is the run of a locbench, as others on the same machine or engine see it.
type Neighbour struct {
	Owner   string    `json:"owner"`
	Run     string    `json:"run"`
	Started time.Time `json:"started,omitzero"`
	CPUs    string    `json:"cpus,omitempty"` // all that its parts keep to; "": it may use any

	unsure bool // whether it lives is not known here
}

// String names the run.
func (n Neighbour) String() string {
	i, _ := parseOwner(n.Owner)
	text := fmt.Sprintf("run %s, process %d", n.Run, i.pid)
	if i.host != self().host {
		text += " on " + i.host
	}
	if n.CPUs != "" {
		text += ", on CPUs " + n.CPUs
	}
	if n.unsure {
		text += ", which cannot be seen from here and may have ended"
	}
	return safe.Line(text, 300)
}

// RunsVariable names the environment variable for another folder than the usual one in which runs
// make themselves known. It has to be the same for all that are to know of each other.
const RunsVariable = "LOCBENCH_RUNS_DIR"

// runsFolder is the same for all users of a machine, on Windows for all programs of one.
func runsFolder() string {
	if dir := os.Getenv(RunsVariable); dir != "" {
		return dir
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(os.TempDir(), "locbench-runs")
	}
	return "/tmp/locbench-runs" // and not TMPDIR, which differs between sessions
}

// openRuns opens the folder. Anybody may write there, so it may be anything but a link to
// elsewhere.
func openRuns() (*os.Root, error) {
	dir := runsFolder()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err1 := root.Stat(".")
	there, err2 := os.Lstat(dir)
	if err := errors.Join(err1, err2); err != nil || !os.SameFile(opened, there) {
		root.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is a link", dir))
	}
	return root, nil
}

// Announce makes a run known to the others on this machine, until withdraw is called or this
// process has ended.
func Announce(run string, started time.Time, cpus string) (withdraw func(), err error) {
	data, err := json.Marshal(Neighbour{Owner: owner(), Run: run, Started: started, CPUs: cpus})
	if err != nil {
		return nil, err
	}
	if err = os.Mkdir(runsFolder(), 0o755); err == nil {
		err = os.Chmod(runsFolder(), 0o777|os.ModeSticky) // other users write there too, as in /tmp
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	root, err := openRuns()
	if err != nil {
		return nil, err
	}
	id := newInstanceID()
	name := fmt.Sprintf("%d-%s.json", self().pid, id[len(id)-12:])
	withdraw = func() {
		root.Remove(name)
		root.Close()
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(data)
		// With a umask that keeps others out they would not know of it.
		err = errors.Join(err, f.Chmod(0o644), f.Close())
	}
	if err != nil {
		withdraw()
		return nil, err
	}
	return withdraw, nil
}

// Bounds of what others may have written.
const (
	maxNeighbours     = 1000
	maxNeighbourBytes = 4 << 10
	neighbourPatience = time.Hour // for a record that cannot be read: it is being written
)

var (
	neighbourFile = regexp.MustCompile(`^[0-9]{1,10}-[0-9a-f]{12}\.json$`)
	runForm       = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
)

// Neighbours are the runs of other locbenches on this machine, in the order of their start. Records
// of those that have ended are removed.
func Neighbours() (all []Neighbour, err error) {
	err = eachRecord(func(root *os.Root, name string, n Neighbour, over bool) {
		switch {
		case over:
			root.Remove(name) // fails where it is another user's
		case n.Owner != "" && n.Owner != owner():
			all = append(all, n)
		}
	})
	slices.SortFunc(all, func(a, b Neighbour) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Owner, b.Owner)) })
	return all, err
}

// eachRecord hands on the records of runs on this machine. One is over when its locbench has ended;
// one that cannot be read names no owner, and is over when it is too old to be still being written.
func eachRecord(do func(root *os.Root, name string, n Neighbour, over bool)) error {
	root, err := openRuns()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxNeighbours)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, e := range entries {
		if !neighbourFile.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		n, ok := readNeighbour(root, e.Name())
		if !ok {
			info, err := e.Info()
			do(root, e.Name(), Neighbour{}, err == nil && time.Since(info.ModTime()) > neighbourPatience)
			continue
		}
		i, _ := parseOwner(n.Owner)
		state, _ := judge(i, self(), true, present)
		n.unsure = state == unknown
		// The folder is this machine's: what has run before its start has ended.
		do(root, e.Name(), n, state == dead || i.boot != self().boot)
	}
	return nil
}

// cleanRecords removes the records of runs that have ended; run "": of all. That of one which lives is
// nothing left.
func cleanRecords(run string, keep func(what, owner string) bool) (c Cleaned, err error) {
	err = eachRecord(func(root *os.Root, name string, n Neighbour, over bool) {
		what := "record " + filepath.Join(runsFolder(), name)
		if n.Run != "" {
			what += " " + ofRun(n.Run)
		}
		if run != "" && n.Run != run || !over && (!n.unsure || keep(what, n.Owner)) {
			return
		}
		if e := root.Remove(name); e != nil {
			c.Kept = append(c.Kept, what+": its run has ended, but "+safe.Line(e.Error(), 200))
		} else {
			c.Removed = append(c.Removed, what)
		}
	})
	return c, err
}

func readNeighbour(root *os.Root, name string) (n Neighbour, ok bool) {
	f, err := regular.OpenIn(root, name)
	if err != nil {
		return n, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxNeighbourBytes))
	if err != nil || json.Unmarshal(data, &n) != nil || !runForm.MatchString(n.Run) {
		return n, false
	}
	if _, ok := cpuset.Parse(n.CPUs); !ok {
		n.CPUs = ""
	}
	_, ok = parseOwner(n.Owner)
	return n, ok
}

// neighbourTimeout bounds the question to an engine.
const neighbourTimeout = 5 * time.Second

// NeighboursOn are the other runs that have containers running on an engine: of this machine, or of
// any other one that uses it.
func NeighboursOn(ctx context.Context, engine *docker.Engine, run string) (all []Neighbour, err error) {
	ctx, cancel := context.WithTimeout(ctx, neighbourTimeout)
	defer cancel()
	left, err := engine.List(ctx, "")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{owner(): true}
	for _, l := range left {
		i, ok := parseOwner(l.Owner)
		if l.Kind != "container" || l.State != "running" || l.Run == run || seen[l.Owner] || !ok {
			continue
		}
		seen[l.Owner] = true
		if state, _ := judge(i, self(), engine.Near(), present); state != dead {
			all = append(all, Neighbour{Owner: l.Owner, Run: strings.ToValidUTF8(l.Run, "?"), unsure: state == unknown})
		}
	}
	return all, nil
}
