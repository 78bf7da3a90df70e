//go:build acceptance && engine && unix

package main

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestYourService follows docs/your-service.md, step by step, with a shorter load.
func TestYourService(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	sources, err := filepath.Abs(root)
	testenv.OK(t, err)
	dir := t.TempDir()
	t.Setenv("PASSWORD", ordersPassword) // each block runs in its own shell
	typed := strings.NewReplacer("$ ", "", "~/locbench", sources,
		"locbench run ", "locbench run --headless --rounds 2 --duration 1s --connections '1 warm-up,4' ")
	for _, step := range strings.Split(readPage(t, yourService), "\n## ") {
		t.Run(strings.SplitN(step, "\n", 2)[0], func(t *testing.T) {
			step, _, _ := strings.Cut(step, "\n### ") // a subsection is of another folder
			for _, block := range fences(step) {
				switch block.word {
				case "yaml":
					file := filepath.Join(dir, fileOf(step, block))
					writeFile(t, file, block.text)
				case "console":
					typeInto(t, dir, typed.Replace(block.text))
				}
			}
		})
	}
	run, trials := readClean(t, filepath.Join(dir, "results", "mine"))
	if run.State != bench.RunComplete || len(trials) != 4 || len(run.Excluded()) != 0 || run.Store.Kind != bench.StoreNone || run.Data.Cities != 0 {
		t.Fatalf("%s, %d trials, %v, store %q, %d cities", run.State, len(trials), run.Excluded(), run.Store.Kind, run.Data.Cities)
	}
	for _, trial := range trials {
		if trial.StartUp == nil || trial.Instance.Limits.Memory != 256<<20 || trial.Instance.Runtime != bench.RuntimeDocker {
			t.Errorf("%s: start-up %v, %+v", trial.Trial, trial.StartUp, trial.Instance)
		}
	}
}

// orderJournal is what a service of testdata/orders writes when it ends.
type orderJournal struct {
	Requests        map[string]int // by route and status
	Hundreds, Units []int          // items by id, in classes
	Words           map[string]int
	Orders          int
	SeenOnce        int `json:"seen_once"`
}

// TestOrders loads both services of docs/your-service.md with its profile, in containers and as
// processes, and compares the results with the services' own journals.
func TestOrders(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			dir := ordersFolder(t)
			profile := strings.NewReplacer("limits:", "rounds: 1\nlimits:", "steps: [16 warm-up for 3s, 4, 16, 64]",
				"steps: [{connections: 1, max_requests: 1000}, {connections: 7, max_requests: 30000}, {connections: 64, max_requests: 30000}]\ntimeout: 1m").
				Replace(pageFile(t, yourService, "bench.yaml"))
			writeFile(t, filepath.Join(dir, "bench.yaml"), profile)
			c := startIn(t, dir, []string{"PASSWORD=" + ordersPassword}, "run", "--headless", "--profile", "bench.yaml", "--services", "svc",
				"--runtime", runtime, "--seed", "30", "--duration", "2m", "--out", "out")
			c.succeeds(8 * time.Minute)
			_, trials := readClean(t, filepath.Join(dir, "out"))
			if len(trials) != 2 {
				t.Fatalf("%d trials", len(trials))
			}
			for _, trial := range trials {
				t.Run(trial.Trial.Contender, func(t *testing.T) {
					var journal orderJournal
					journalOf(t, filepath.Join(dir, "out"), trial.Trial, &journal)
					asOrdered(t, trial, journal)
				})
			}
		})
	}
}

// journalOf reads the journal of a trial's contender.
func journalOf(t *testing.T, dir string, trial bench.Trial, journal any) {
	t.Helper()
	found := false
	err := eachEvent(dir, func(r bench.Record) error {
		if e, ok := r.Event.(bench.LogLines); ok && *r.Trial == trial {
			for _, line := range e.Lines {
				if strings.HasPrefix(line.Text, "{") {
					found = true
					return json.Unmarshal([]byte(line.Text), journal)
				}
			}
		}
		return nil
	})
	if err != nil || !found {
		t.Fatalf("%s wrote no journal: %v", trial, err)
	}
}

// asOrdered compares a trial with the journal of its contender.
func asOrdered(t *testing.T, trial bench.TrialResult, journal orderJournal) {
	received := func(route string) int { return journal.Requests[route] - 1 } // one request of each was sent before the load
	items, searches, orders, looks := received("GET /items/{id} 200"), received("GET /items 200"), received("POST /orders 201"), received("GET /orders/{id} 200")
	units := items + searches + orders
	var succeeded, begun, completed int64
	for _, s := range trial.Steps {
		succeeded += s.Load.AllSucceeded()
		for _, one := range s.Load.Sessions {
			begun, completed = begun+one.Begun, completed+one.Completed
		}
		if s.Load.FailedTotal() > 0 {
			t.Errorf("%s: %v", s.Step.Name, s.Load.Examples)
		}
	}
	if units != 61_000 || succeeded != int64(units+looks) || len(journal.Requests) != 6 || received("POST /login 200") != 0 || received("DELETE /orders 204") != 0 {
		t.Errorf("%d succeeded; the journal: %v", succeeded, journal.Requests)
	}
	for what, share := range map[string][2]float64{"items": {float64(items), 0.7}, "searches": {float64(searches), 0.2}, "orders": {float64(orders), 0.1}} {
		got := share[0] / float64(units)
		t.Logf("%s: %.4f of all, want %g", what, got, share[1])
		if math.Abs(got-share[1]) > 0.01*share[1] {
			t.Errorf("%s: %.4f of all, want %g", what, got, share[1])
		}
	}
	for what, counts := range map[string][]int{"hundreds": journal.Hundreds, "last digits": journal.Units, "words": slices.Collect(maps.Values(journal.Words))} {
		chi, most := chiSquare(counts), 148.2 // the 99.9% quantile with 99 degrees of freedom
		if what == "words" {
			most = 16.3 // with 3
		}
		t.Logf("%s: χ² %.1f, want below %g", what, chi, most)
		if chi > most {
			t.Errorf("%s: χ² %.1f above %g: %v", what, chi, most, counts)
		}
	}
	if journal.SeenOnce != orders+1 || begun != int64(orders) || completed != begun {
		t.Errorf("%d orders, %d looked at once; %d sessions begun, %d completed", orders+1, journal.SeenOnce, begun, completed)
	}
}

// chiSquare returns Pearson's statistic of counts that should be equal.
func chiSquare(counts []int) (sum float64) {
	total := 0
	for _, n := range counts {
		total += n
	}
	for want, i := float64(total)/float64(len(counts)), 0; i < len(counts); i++ {
		sum += (float64(counts[i]) - want) * (float64(counts[i]) - want) / want
	}
	return sum
}
