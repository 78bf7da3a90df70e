package cli

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// mixer responds with the id of the request. If it mixes up, one of 50 bodies is that of another
// request while three or more are in flight. It counts these bodies.
type mixer struct {
	mixesUp              bool
	crowd                *testenv.Crowd
	crowded, sent, mixed atomic.Int64
}

func (m *mixer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := path.Base(r.URL.Path)
	m.sent.Add(1)
	if m.crowd.Enter() && m.mixesUp && m.crowded.Add(1)%50 == 0 {
		m.mixed.Add(1)
		id = "100000"
	}
	fmt.Fprintf(w, `{"id": %s, "name": "guest"}`, id)
}

// A service that is wrong under concurrency only is excluded, in a run that compares what profiles
// compare by default. All 300 responses of the second step are compared, so the numbers are those
// of the server; of the third step it is a sample, whose share is within four standard errors.
func TestAServiceThatIsWrongUnderConcurrencyOnly(t *testing.T) {
	profile := fileOf(t, "bookings.yaml", `requests: [{name: booking, get: "/bookings/{id}", expect: {present: [name], json_includes: {id: "{id:number}"}}}]
variables: {id: {from: 1, to: 9000}}
rounds: 1
timeout: 1m
steps: [{connections: 1, max_requests: 60}, {connections: 16, max_requests: 300}, {connections: 16, max_requests: 6000}]
`)
	for _, mixesUp := range []bool{true, false} {
		service := &mixer{mixesUp: mixesUp, crowd: testenv.NewCrowd(2 * time.Millisecond)}
		s := httptest.NewServer(service)
		defer s.Close()
		out := filepath.Join(t.TempDir(), "out")
		code, text := locbench(t, nil, "run", "--headless", "--profile", profile, "--target", "bookings="+s.URL, "-o", out)
		run, trials, err := results.Read(out)
		if err != nil || len(trials) != 1 || len(trials[0].Steps) != 3 {
			t.Fatalf("%v\n%s", err, text)
		}
		all, mixed := trials[0].Steps, service.mixed.Load()
		if !mixesUp {
			if code != console.ExitOK || len(run.Excluded()) > 0 || strings.Contains(unwrapped(text), "unexpected") ||
				all[1].Load.Checked != 300 || all[2].Load.Checked < 300 {
				t.Errorf("exit code %d, excluded %v, %d and %d bodies compared\n%s", code, run.Excluded(), all[1].Load.Checked, all[2].Load.Checked, text)
			}
			continue
		}
		if code != console.ExitContender || len(run.Excluded()) != 1 {
			t.Fatalf("exit code %d, excluded %v\n%s", code, run.Excluded(), text)
		}
		u := run.Excluded()[0].Unexpected
		first := all[1].Load
		if n := first.Failed[bench.ErrWrong]; n < 3 || n > 6 || first.Checked != 300 || u.Connections != 16 || u.Step != all[1].Step.Name || u.Round != 1 ||
			u.Count != n+all[2].Load.Failed[bench.ErrWrong] || u.Compared != all[0].Load.Checked+300+all[2].Load.Checked {
			t.Errorf("%+v; second step: %d of %d", u, n, first.Checked)
		}
		sample := all[2].Load
		truth := float64(mixed-first.Failed[bench.ErrWrong]) / 6000
		found := float64(sample.Failed[bench.ErrWrong]) / float64(sample.Checked)
		if error := math.Sqrt(truth * (1 - truth) / float64(sample.Checked)); sample.Checked < 295 || truth < .01 || math.Abs(found-truth) > 4*error {
			t.Errorf("%.2f%% of %d, the server's share is %.2f%%", 100*found, sample.Checked, 100*truth)
		}
		share := fmt.Sprintf("%d of %d compared bodies were unexpected (", u.Count, u.Compared)
		outputs := map[string]string{"text": text, "dashboard": shown(t, out)}
		for _, name := range []string{"report.html", "summary.md"} {
			page, err := os.ReadFile(filepath.Join(out, name))
			testenv.OK(t, err)
			outputs[name] = string(page)
		}
		for name, page := range outputs {
			page = unwrapped(page)
			if name != "dashboard" && (!strings.Contains(page, share) || !strings.Contains(page, "16 connections") || !strings.Contains(page, "100000")) ||
				name == "dashboard" && !strings.Contains(page, "bookings excluded: ") {
				t.Errorf("%s: no %q:\n%.3000s", name, share, page)
			}
			for _, sentence := range []string{"bound by the", "at peak: ", "peaked at", "&lt;0.1%", "< 0.1%"} {
				if strings.Contains(page, sentence) {
					t.Errorf("%s says %q:\n%.4000s", name, sentence, page)
				}
			}
		}
	}
}
