package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/results"
	"locbench/internal/run/capacity"
	"locbench/internal/run/profile"
	"locbench/internal/text/safe"
)

// restAfter a probe that was too much its queue does not reach into the next one.
const restAfter = time.Second

// capacitySearch is one search for a capacity. The runner, whose steps it chooses, calls it from one goroutine.
type capacitySearch struct {
	options   *Options
	config    capacity.Config
	objective profile.Conditions
	log       *recorder
	point     int // in the log
	run       *bench.Run
	publish   func(*bench.Trial, bench.Event)

	search *capacity.Search // nil until the warm-up has ended
	err    error            // why the search ended before it should

	mu      sync.Mutex // guards what another goroutine shows
	running capacity.Probe
	left    int
}

// Begin takes note of the run.
func (h *capacitySearch) Begin(run *bench.Run, publish func(*bench.Trial, bench.Event)) {
	h.run, h.publish = run, publish
}

// Next judges the probe that has ended, and chooses the one that follows.
func (h *capacitySearch) Next(ctx context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool) {
	if len(done) == 0 {
		return h.run.Profile.Steps[0], true
	}
	last := done[len(done)-1]
	switch {
	case last.Aborted != "": // skipped: it has reported nothing, and is run again
		if h.search == nil {
			return h.run.Profile.Steps[0], true
		}
	case h.search == nil:
		if h.config.Start == 0 {
			h.config.Start = max(last.Load.Throughput()/2, h.config.Min)
		}
		h.search, h.err = capacity.New(h.config)
	default:
		h.err = h.end(ctx, trial, last)
	}
	if h.err != nil {
		return bench.Step{}, false
	}
	probe, more := h.search.Next()
	h.mu.Lock()
	h.running, h.left = probe, h.search.Left()
	h.mu.Unlock()
	return h.options.step(probe), more
}

// end judges a finished probe, keeps it and publishes it.
func (h *capacitySearch) end(ctx context.Context, trial bench.Trial, res bench.StepResult) error {
	probe, _ := h.search.Next()
	verdict, why := capacity.Assess(h.objective, res, h.run.Profile.Limits.CPUs)
	h.search.Record(verdict)
	outcome := verdict.Outcome(probe, res, why)
	point := &h.log.record.Points[h.point]
	point.Outcomes, point.Result = append(point.Outcomes, outcome), h.search.Result()
	h.publish(&trial, bench.Notice{Level: "info", Text: probeRow(outcome)})
	if err := h.log.write(); err != nil {
		return fmt.Errorf("results cannot be kept: %w", err)
	}
	if _, more := h.search.Next(); more && !verdict.Sustained {
		select {
		case <-ctx.Done():
		case <-time.After(cmp.Or(h.options.rest, restAfter)):
		}
	}
	return nil
}

// progress returns what runs, and about how long the search still takes.
func (h *capacitySearch) progress() (probe capacity.Probe, left time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running, time.Duration(h.left) * (h.options.Probe + restAfter/2)
}

func probeRow(o capacity.Outcome) string {
	verdict := "sustained"
	if !o.Sustained {
		verdict = "no: " + capacity.Reason(o.Why)
	}
	return fmt.Sprintf(probeColumns, fmt.Sprint(o.Number), o.Phase, units.Rate(o.Rate), units.Duration(o.P50),
		units.Duration(o.P99), units.Ratio(o.Errors), known(o.CPU > 0, fmt.Sprintf("%.2f", o.CPU)), verdict)
}

// known returns the text of a figure, where it is known.
func known(is bool, text string) string {
	if is {
		return text
	}
	return units.Missing
}

const probeColumns = "%5s  %-7s  %9s  %8s  %8s  %7s  %5s  %s"

// recorder keeps capacity.json.
type recorder struct {
	dir    string
	record capacity.Record
}

// add appends a point and returns its index.
func (l *recorder) add(p capacity.Point) int {
	p.Result.State = capacity.Searching
	l.record.Points = append(l.record.Points, p)
	return len(l.record.Points) - 1
}

func (l *recorder) write() error {
	return results.WriteJSON(filepath.Join(l.dir, capacity.File), l.record)
}

// Read reads the record in dir.
func Read(dir string) (capacity.Record, error) {
	var r capacity.Record
	path := filepath.Join(dir, capacity.File)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	f, err := safe.OpenIn(root, capacity.File)
	if err != nil {
		return r, err
	}
	defer f.Close()
	data, err := safe.ReadAll(f, path, 64<<20)
	if err != nil {
		return r, err
	}
	if err = json.Unmarshal(data, &r); err == nil {
		err = r.Valid()
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Folders returns the results folders of a record in dir, in its order.
func Folders(dir string, r capacity.Record) []string {
	var all []string
	for _, p := range r.Points {
		if sub := filepath.Join(dir, p.Dir); !slices.Contains(all, sub) {
			all = append(all, sub)
		}
	}
	return all
}
