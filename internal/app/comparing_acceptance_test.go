//go:build acceptance

package app

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

// comparedEnv makes the test binary the server of BenchmarkComparing.
const comparedEnv = "LOCBENCH_COMPARED_TEST_SERVER"

// BenchmarkServeCompared is the server of BenchmarkComparing: 1 kB of JSON with the id of the
// request.
func BenchmarkServeCompared(b *testing.B) {
	if os.Getenv(comparedEnv) == "" {
		b.Skip("not a server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(b, err)
	fmt.Printf("at http://%s\n", l.Addr())
	text := strings.Repeat("x", 900)
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"id": %s, "name": "guest", "nights": [1, 2, 3], "text": %q}`, path.Base(r.URL.Path), text)
	}))
}

// BenchmarkComparing compares requests per CPU second of the client with the expectations of a
// profile at the default share, and without any, in alternating pairs of 2 s. Run it with make
// bench-load.
func BenchmarkComparing(b *testing.B) {
	server := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkServeCompared$", "-test.benchtime", "1x")
	server.Env = append(os.Environ(), comparedEnv+"=1")
	out, err := server.StdoutPipe()
	testenv.OK(b, err)
	testenv.OK(b, server.Start())
	b.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "at http://"); ok {
			url = "http://" + at
		}
	}
	testenv.Need(b, url != "", "the server did not start")
	plans := [2]load.Plan{}
	for i, expect := range []string{", expect: {present: [name], json_includes: {id: \"{id:number}\"}}", ""} {
		p, err := profile.Parse("x.yaml", fmt.Appendf(nil, `requests: [{get: "/bookings/{id}"%s}]
variables: {id: {from: 1, to: 9000}}
steps: [16]
`, expect))
		testenv.OK(b, err)
		l, err := newTraffic(&record{plan: Plan{Run: bench.Run{Profile: p}}, env: noEnv}, nil)
		testenv.OK(b, err)
		plans[i] = l.loadPlan(runner.Place{BaseURL: url}, bench.Step{Name: "x", Connections: 16, Duration: 2 * time.Second})
	}
	var ratios, expected, none []float64
	for range b.N {
		for pair := range 9 {
			var perCPU [2]float64
			for i := range perCPU {
				which := (i + pair) % 2 // the first one changes from pair to pair
				plan := plans[which]
				plan.Life = nil
				l, err := load.Engine{}.Run(b.Context(), plan, nil)
				testenv.Need(b, err == nil && l.FailedTotal() <= 0 && which == 0 == (l.Checked >= 300),
					"%v, failed %v, %d compared", err, l.Examples, l.Checked)
				perCPU[which] = float64(l.Succeeded) / l.ClientCPU.Seconds()
			}
			ratios, expected, none = append(ratios, perCPU[0]/perCPU[1]), append(expected, perCPU[0]), append(none, perCPU[1])
		}
	}
	for name, xs := range map[string][]float64{"expect/none": ratios, "expect-req/CPUs": expected, "none-req/CPUs": none} {
		median, _ := stats.Median(xs)
		b.ReportMetric(median, name)
	}
	b.ReportMetric(0, "ns/op") // otherwise the time of the pairs
}
