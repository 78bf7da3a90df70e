//go:build acceptance && engine && unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestYourService follows docs/your-service.md, step by step, with a shorter load.
func TestYourService(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	sources := testenv.Must(filepath.Abs(root))(t)
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
	if run.State != bench.RunComplete || len(trials) != 4 || len(run.Excluded()) != 0 || len(run.Needs) != 0 || run.Data.Size != "" {
		t.Fatalf("%s, %d trials, %v, needs %v, data %q", run.State, len(trials), run.Excluded(), run.Needs, run.Data.Size)
	}
	for _, trial := range trials {
		if trial.StartUp == nil || trial.Instance.Limits.Memory != 256<<20 || trial.Instance.Runtime != bench.RuntimeDocker {
			t.Errorf("%s: start-up %v, %+v", trial.Trial, trial.StartUp, trial.Instance)
		}
	}
}

// orderJournal is what a service of testdata/orders writes when it ends.
type orderJournal struct {
	Requests map[string]int // by route and status
	SeenOnce int            `json:"seen_once"`
}

// TestOrders loads both services of docs/your-service.md with its profile, in containers and as
// processes, and compares the results with the services' own journals.
func TestOrders(t *testing.T) {
	steps := "steps: [{connections: 1, max_requests: 1000}, {connections: 7, max_requests: 30000}, {connections: 64, max_requests: 30000}]"
	compareJournals(t, ordersFolder, asOrdered, "limits:", "services: svc\nrounds: 1\nlimits:",
		"steps: [16 warm-up for 3s, 4, 16, 64]", steps+"\ntimeout: 1m")
}

// compareJournals loads two services with the profile bench.yaml of a folder, after changes, in
// containers and as processes, and compares each trial with the journal of its service.
func compareJournals[J any](
	t *testing.T, folder func(testing.TB) string, compare func(*testing.T, bench.TrialResult, J), changes ...string,
) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			editFile(t, filepath.Join(dir, "bench.yaml"), changes...)
			c := startIn(t, dir, []string{"PASSWORD=" + ordersPassword}, "run", "--headless", "--profile", "bench.yaml",
				"--runtime", runtime, "--seed", "30", "--duration", "2m", "--out", "out")
			c.succeeds(8 * time.Minute)
			_, trials := readClean(t, filepath.Join(dir, "out"))
			testenv.Need(t, len(trials) == 2, "%d trials", len(trials))
			for _, trial := range trials {
				t.Run(trial.Trial.Contender, func(t *testing.T) {
					var journal J
					journalOf(t, filepath.Join(dir, "out"), trial.Trial, &journal)
					compare(t, trial, journal)
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
	testenv.Need(t, err == nil && found, "%s wrote no journal: %v", trial, err)
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
		testenv.Check(t, s.Load.FailedTotal() <= 0, "%s: %v", s.Step.Name, s.Load.Examples)
	}
	if units != 61_000 || succeeded != int64(units+looks) || len(journal.Requests) != 6 || received("POST /login 200") != 0 || received("DELETE /orders 204") != 0 {
		t.Errorf("%d succeeded; the journal: %v", succeeded, journal.Requests)
	}
	shares(t, 0.005, map[string][2]float64{"items": {float64(items), 0.7}, "searches": {float64(searches), 0.2}, "orders": {float64(orders), 0.1}})
	testenv.Check(t, journal.SeenOnce == orders+1 && begun == int64(orders) && completed == begun,
		"%d orders, %d looked at once; %d sessions begun, %d completed", orders+1, journal.SeenOnce, begun, completed)
}

// bookingJournal is what a service of testdata/bookings writes when it ends.
type bookingJournal struct {
	Requests          map[string]int // by route and status
	Own, Others, Next int
	Guests            map[string]int
}

// TestBookings loads both services of testdata/bookings with its profile: users who log in for a
// cookie, follow a Location and a link to the next page, and get gzip, an ETag and a 422.
func TestBookings(t *testing.T) {
	folder := func(t testing.TB) string {
		dir := t.TempDir()
		testenv.OK(t, os.CopyFS(dir, os.DirFS(root+"/testdata/bookings")))
		return dir
	}
	compareJournals(t, folder, asBooked, "steps: [4 warm-up, 4, 16]",
		"rounds: 1\ntimeout: 1m\nsteps: [{connections: 4, max_requests: 4000}, {connections: 16, max_requests: 16000}]")
}

// asBooked compares a trial with the journal of its contender.
func asBooked(t *testing.T, trial bench.TrialResult, journal bookingJournal) {
	var succeeded, begun int64
	for _, s := range trial.Steps {
		succeeded += s.Load.AllSucceeded()
		for _, one := range s.Load.Sessions {
			begun += one.Begun
		}
		testenv.Check(t, s.Load.FailedTotal() <= 0, "%s: %v", s.Step.Name, s.Load.Examples)
	}
	// One request of each kind, with the setup of the session, was sent before the load.
	received := func(route string) int { return journal.Requests[route] - 1 }
	booked, own, unchanged := received("POST /bookings 201"), received("GET /bookings/{id} 200"), received("GET /bookings/{id} 304")
	refused, pages := received("POST /bookings 422"), journal.Requests["GET /bookings 200"]-2
	browsed := pages - (journal.Next - 1)
	t.Logf("journal: %+v", journal)
	if len(journal.Requests) != 6 || journal.Others != 0 || own != booked || unchanged != booked || journal.Own != own+unchanged+2 || journal.Next-1 != browsed {
		t.Errorf("%d booked, %d own, %d unchanged, %d first pages; the journal: %+v", booked, own, unchanged, browsed, journal)
	}
	if sent := booked + own + unchanged + pages + refused; succeeded != int64(sent) || begun != int64(booked+browsed) {
		t.Errorf("%d succeeded, %d sessions; the service received %d", succeeded, begun, sent)
	}
	// The setup of the run, of the user before the load, and of 4 and 16 users.
	if logins := journal.Requests["POST /login 204"]; logins < 1+1+4+16 || logins > 1+2+4+16 || journal.Guests["visitor"] > 2 {
		t.Errorf("%d logins, %v", logins, journal.Guests)
	}
	// Drawn at random: shares of 20,000 are within 1% of all.
	shares(t, 0.01, map[string][2]float64{"book": {float64(booked), 0.6}, "browse": {float64(browsed), 0.3}, "no room": {float64(refused), 0.1}})
}

// shares compares the shares of counts with what they should be.
func shares(t *testing.T, tolerance float64, counts map[string][2]float64) {
	t.Helper()
	all := 0.
	for _, of := range counts {
		all += of[0]
	}
	for what, of := range counts {
		testenv.Check(t, math.Abs(of[0]/all-of[1]) <= tolerance, "%s: %.4f of all, want %g", what, of[0]/all, of[1])
	}
}

// TestReadmeCommands runs every block marked "sh" of README.md and of the pages of docs, as a user
// would type it, except the test command. Blocks marked "console" are not run: they need a network,
// an Elasticsearch, a container build, a terminal, the user's own results, or minutes of load.
// Blocks marked "text" are output.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	for _, page := range readerPages(t) {
		t.Run(page, func(t *testing.T) {
			for _, block := range fences(readPage(t, page)) {
				if block.word == "sh" && strings.TrimSpace(block.text) != "go test ./..." {
					t.Run(fmt.Sprintf("line %d", block.line), func(t *testing.T) {
						typeInto(t, t.TempDir(), strings.ReplaceAll(block.text, "CGO_ENABLED=0 go run ./cmd/locbench", "locbench"))
					})
				}
			}
		})
	}
}

// TestAcceptanceScripts are the scripts that run and build contenders.
func TestAcceptanceScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/acceptance"))
}
