package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// --targets replaces the requests of the default profile and of a named one, and needs something to
// send them to. The shell completes it by files.
func TestTargets(t *testing.T) {
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\nGET http://shop:8080/a\nGET http://shop:8080/b\n")
	wrong := fileOf(t, "wrong.txt", "GET http://shop:8080/a HTTP/1.1\n")
	mine := fileOf(t, "mine.yaml", "requests: [{get: /x}]\nsteps: [3]\n")
	for args, want := range map[string]string{
		"--target http://127.0.0.1:1":                    "GET /a 2, GET /b 1, 5 steps",
		"orders":                                         "GET /a 2, GET /b 1, 5 steps",
		"--profile " + mine + " --target h:1":            "GET /a 2, GET /b 1, 1 steps",
		"--profile " + mine + " --target h:1 --targets=": "--targets '': write the path of a file",
		"": "--targets has requests for your own service: name the contender, or add --target URL",
		"--target http://127.0.0.1:1 --targets none.no":  "read target file: stat none.no: no such file or directory",
		"--target http://127.0.0.1:1 --targets " + wrong: wrong + ":1: the URL ends with a version of HTTP",
	} {
		p, err := planOf(append([]string{"--targets", file}, strings.Fields(args)...)...)
		if err != nil {
			testenv.Fails(t, err, want)
			testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage, args)
			continue
		}
		got := ""
		for _, r := range p.Requests {
			got += fmt.Sprintf("%s %d, ", r.Name, r.Weight)
		}
		testenv.Equal(t, got+fmt.Sprintf("%d steps", len(p.Steps)), want, args)
		if p.Store.Kind != bench.StoreNone || len(p.Checks.Suites) > 0 || p.CompareBodies != 0 {
			t.Errorf("%s: store %v, checks %v", args, p.Store, p.Checks)
		}
	}
	says(t, 0, ":0\n", "__complete", "run", "--targets", "")
}

// With a target file, the path of --target comes before those of the file.
func TestTargets_PathOfTheTarget(t *testing.T) {
	var f runFlags
	cmd := &cobra.Command{}
	bindRun(cmd, &f)
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\n")
	testenv.OK(t, cmd.ParseFlags([]string{"--targets", file, "--target", "http://127.0.0.1:1/api"}))
	plan, err := app.NewPlan(forContenders(f.RunOptions, cmd.Flags(), nil))
	testenv.OK(t, err)
	if requests := plan.Run.Profile.Requests; plan.Run.Targets[0].URL != "http://127.0.0.1:1/api" ||
		len(requests) != 1 || requests[0].Path != "/a" {
		t.Errorf("%+v, %+v", plan.Run.Targets, requests)
	}
}

// A run sends each target of a file as often as the results say, with its header and its body,
// below the path of the target URL; 201 and 204 are expected from what writes. The plan on record
// has the requests: 'run --resume' needs no target file.
func TestTargets_Sent(t *testing.T) {
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	dir := folderOf(t, map[string]string{
		"t.txt": strings.Repeat("GET http://shop:8080/items?q={a}\n", 7) +
			"\nPOST http://shop:8080/orders\nAuthorization: Bearer {b}${C}\n@order.json\n" +
			"DELETE http://shop:8080/orders/1\nDELETE http://shop:8080/orders/1\n",
		"order.json": `{"id": "{id}"}`,
		"p.yaml":     "requests: [{get: /x}]\nrounds: 1\ntimeout: 1m\nsteps: [{connections: 2, max_requests: 500}]\n",
	})
	out := filepath.Join(dir, "out")
	says(t, 0, "", into(out, "--profile", filepath.Join(dir, "p.yaml"), "--targets", filepath.Join(dir, "t.txt"),
		"--target", s.URL+"/api", "--seed", "1")...)
	run, trials := readResults(t, out)
	load := trials[0].Steps[0].Load
	if load.AllSucceeded() != 500 || load.FailedTotal() != 0 {
		t.Errorf("%d succeeded, %d failed", load.AllSucceeded(), load.FailedTotal())
	}
	received := map[string]int{}
	for _, line := range requests.lines() {
		received[line]++
	}
	total := 0
	want := []struct{ name, sent string }{
		{"GET /items", "GET /api/items?q=%7Ba%7D  "},
		{"POST /orders", `POST /api/orders Bearer {b}${C} {"id": "{id}"}`},
		{"DELETE /orders/1", "DELETE /api/orders/1  "},
	}
	for i, r := range run.Profile.Requests {
		n, about := received[want[i].sent], r.Weight*50
		if r.Name != want[i].name || n < about-40 || n > about+40 {
			t.Errorf("%s: %d received, of about %d; want %s", r.Name, n, about, want[i].name)
		}
		total += n
	}
	if all := len(requests.lines()); total < 503 || total > 509 || total+requests.of("/api/") < all { // some are sent before the load
		t.Errorf("%d of %d requests are of the file", total, all)
	}
	record, err := json.Marshal(run)
	if err != nil || strings.Contains(string(record), "Bearer {") || !strings.Contains(string(record), "order.json") {
		t.Errorf("%v\n%s", err, record)
	}
}
