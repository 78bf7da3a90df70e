//go:build acceptance && engine && unix

package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// bookingJournal is what a service of testdata/bookings writes when it ends.
type bookingJournal struct {
	Requests          map[string]int // by route and status
	Own, Others, Next int
	Guests            map[string]int
}

// TestBookings loads both services of testdata/bookings with its profile, in containers and as
// processes: users who log in for a cookie, follow a Location and a link to the next page, and get
// gzip, an ETag and a 422. It compares the results with the services' own journals.
func TestBookings(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.OK(t, os.CopyFS(dir, os.DirFS(root+"/testdata/bookings")))
			editFile(t, filepath.Join(dir, "bench.yaml"), "steps: [4 warm-up, 4, 16]",
				"rounds: 1\ntimeout: 1m\nsteps: [{connections: 4, max_requests: 4000}, {connections: 16, max_requests: 16000}]")
			c := startIn(t, dir, nil, "run", "--headless", "--profile", "bench.yaml", "--runtime", runtime, "--seed", "30",
				"--duration", "2m", "--out", "out")
			c.succeeds(8 * time.Minute)
			_, trials := readClean(t, filepath.Join(dir, "out"))
			if len(trials) != 2 {
				t.Fatalf("%d trials", len(trials))
			}
			for _, trial := range trials {
				t.Run(trial.Trial.Contender, func(t *testing.T) {
					var journal bookingJournal
					journalOf(t, filepath.Join(dir, "out"), trial.Trial, &journal)
					var succeeded, begun int64
					for _, s := range trial.Steps {
						succeeded += s.Load.AllSucceeded()
						for _, one := range s.Load.Sessions {
							begun += one.Begun
						}
						if s.Load.FailedTotal() > 0 {
							t.Errorf("%s: %v", s.Step.Name, s.Load.Examples)
						}
					}
					asBooked(t, journal, succeeded, begun)
				})
			}
		})
	}
}

// asBooked compares the numbers of a trial with the journal of its contender.
func asBooked(t *testing.T, journal bookingJournal, succeeded, begun int64) {
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
	units := float64(booked + browsed + refused) // drawn at random: shares of 20,000 are within 1% of all
	for what, share := range map[string][2]float64{"book": {float64(booked), 0.6}, "browse": {float64(browsed), 0.3}, "no room": {float64(refused), 0.1}} {
		if got := share[0] / units; math.Abs(got-share[1]) > 0.01 {
			t.Errorf("%s: %.4f of all, want %g", what, got, share[1])
		}
	}
}
