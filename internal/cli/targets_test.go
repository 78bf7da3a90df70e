package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestTargetsOnTheCommandLine: --targets replaces the requests of the default profile and of a
// named one, and needs something to send them to.
func TestTargetsOnTheCommandLine(t *testing.T) {
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\nGET http://shop:8080/a\nGET http://shop:8080/b\n")
	wrong := fileOf(t, "wrong.txt", "GET http://shop:8080/a HTTP/1.1\n")
	mine := fileOf(t, "mine.yaml", "requests: [{get: /x}]\nsteps: [3]\n")
	for args, want := range map[string]string{
		"--target http://127.0.0.1:1":                    "GET /a 2, GET /b 1; 5 steps",
		"orders":                                         "GET /a 2, GET /b 1; 5 steps",
		"--profile " + mine + " --target h:1":            "GET /a 2, GET /b 1; 1 steps",
		"--profile " + mine + " --target h:1 --targets=": "--targets '': write the path of a file",
		"": "--targets has requests for your own service: name the contender, or add --target URL",
		"--target http://127.0.0.1:1 --targets none.no":  "read target file: stat none.no: no such file or directory",
		"--target http://127.0.0.1:1 --targets " + wrong: wrong + ":1: the URL ends with a version of HTTP",
	} {
		p, err := planOf(append([]string{"--targets", file}, strings.Fields(args)...)...)
		if err != nil {
			if !strings.Contains(err.Error(), want) || console.ExitCode(t.Context(), err) != console.ExitUsage {
				t.Errorf("%s: %v", args, err)
			}
			continue
		}
		var all []string
		for _, r := range p.Requests {
			all = append(all, r.Name+" "+string(rune('0'+r.Weight)))
		}
		if got := strings.Join(all, ", ") + "; " + string(rune('0'+len(p.Steps))) + " steps"; got != want {
			t.Errorf("%s: %s", args, got)
		}
		if p.Store.Kind != bench.StoreNone || len(p.Checks.Suites) > 0 || p.CompareBodies != 0 {
			t.Errorf("%s: store %v, checks %v", args, p.Store, p.Checks)
		}
	}
}

// TestPathBeforeTargets: with a target file, the path of --target comes before those of the file.
func TestPathBeforeTargets(t *testing.T) {
	var f runFlags
	cmd := &cobra.Command{}
	bindRun(cmd, &f)
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\n")
	testenv.OK(t, cmd.ParseFlags([]string{"--targets", file, "--target", "http://127.0.0.1:1/api"}))
	plan, err := app.NewPlan(forContenders(f.RunOptions, cmd.Flags(), nil))
	if err != nil || plan.Run.Targets[0].URL != "http://127.0.0.1:1/api" || len(plan.Run.Profile.Requests) != 1 || plan.Run.Profile.Requests[0].Path != "/a" {
		t.Errorf("%+v, %+v, %v", plan.Run.Targets, plan.Run.Profile.Requests, err)
	}
}

// The shell completes --targets by files.
func TestTargetsAreCompleted(t *testing.T) {
	code, text := locbench(t, nil, "__complete", "run", "--targets", "")
	if code != console.ExitOK || !strings.Contains(text, ":0\n") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// TestTargetsAreSent: a run sends each target of a file as often as the results say, with its
// header and its body, below the path of the target URL; 201 and 204 are expected from what writes.
// The plan on record has the requests: 'run --resume' needs no target file.
func TestTargetsAreSent(t *testing.T) {
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.txt": strings.Repeat("GET http://shop:8080/items?q={a}\n", 7) + "\nPOST http://shop:8080/orders\nAuthorization: Bearer {b}${C}\n@order.json\n" +
			"DELETE http://shop:8080/orders/1\nDELETE http://shop:8080/orders/1\n",
		"order.json": `{"id": "{id}"}`,
		"p.yaml":     "requests: [{get: /x}]\nrounds: 1\ntimeout: 1m\nsteps: [{connections: 2, max_requests: 500}]\n",
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out := filepath.Join(dir, "out")
	code, text := locbench(t, nil, "run", "--headless", "--profile", filepath.Join(dir, "p.yaml"), "--targets", filepath.Join(dir, "t.txt"),
		"--target", s.URL+"/api", "--seed", "1", "-o", out)
	run, trials, err := results.Read(out)
	if code != console.ExitOK || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, text)
	}
	load := trials[0].Steps[0].Load
	if load.AllSucceeded() != 500 || load.FailedTotal() != 0 {
		t.Errorf("%d succeeded, %d failed", load.AllSucceeded(), load.FailedTotal())
	}
	sent := map[string]string{
		"GET /items":       "GET /api/items?q=%7Ba%7D  ",
		"POST /orders":     `POST /api/orders Bearer {b}${C} {"id": "{id}"}`,
		"DELETE /orders/1": "DELETE /api/orders/1  ",
	}
	var names []string
	total := 0
	for _, r := range run.Profile.Requests {
		names = append(names, r.Name)
		counted := 0
		for _, line := range requests.lines() {
			if line == sent[r.Name] {
				counted++
			}
		}
		total += counted
		if want := r.Weight * 50; counted < want-40 || counted > want+40 {
			t.Errorf("%s: %d received, of about %d", r.Name, counted, want)
		}
	}
	if all := len(requests.lines()); total < 503 || total > 509 || total+requests.of("/api/") < all { // some are sent before the load
		t.Errorf("%d of %d requests are of the file", total, all)
	}
	if want := []string{"GET /items", "POST /orders", "DELETE /orders/1"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	record, err := json.Marshal(run)
	if err != nil || strings.Contains(string(record), "Bearer {") || !strings.Contains(string(record), "order.json") {
		t.Errorf("%v\n%s", err, record)
	}
}
