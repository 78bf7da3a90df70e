// Package loadtools has the commands of other load tools, and reads what they print.
package loadtools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// Tool is a load tool. Command fills in its commands.
type Tool struct {
	Name, Version string
	Closed, Open  string
	Read          func(out []byte) Report
}

// Report is what a tool reports; negative: nothing.
type Report struct{ P99, Max, Rate, Good, Errors float64 }

// Load is what Command puts in place of URL, CONNECTIONS, SECONDS, RATE and EACH (the rate of a
// connection).
type Load struct {
	URL                        string
	Connections, Rate, Seconds int
}

// Command returns the command of the tool for a load; "": it does not have that kind.
func (t Tool) Command(l Load) string {
	command := t.Closed
	if l.Rate > 0 {
		command = t.Open
	}
	return strings.NewReplacer("URL", l.URL, "CONNECTIONS", strconv.Itoa(l.Connections), "SECONDS", strconv.Itoa(l.Seconds),
		"RATE", strconv.Itoa(l.Rate), "EACH", strconv.Itoa(max(l.Rate/max(l.Connections, 1), 1))).Replace(command)
}

// Find returns the version of an installed tool; "" if it is not there.
func (t Tool) Find(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "sh", "-c", t.Version).CombinedOutput()
	found := regexp.MustCompile(`\d+\.\d+[\w.~+-]*`).Find(out)
	if found == nil && err == nil && len(bytes.TrimSpace(out)) > 0 {
		return "of an unknown version"
	}
	return string(found)
}

// Named returns the tool of that name.
func Named(name string) (Tool, bool) {
	i := slices.IndexFunc(All, func(t Tool) bool { return t.Name == name })
	return All[max(i, 0)], i >= 0
}

// profile and run are the commands of locbench. Both loads are a profile of one step.
const (
	profile = `echo '{requests: [{get: /, expect: {status: 200}}], steps: [{LOAD, duration: SECONDSs}]}' > p.yaml; `
	run     = "locbench run --headless --quiet --profile p.yaml --engine ENGINE --target URL --out r > /dev/null; locbench export r --format json"
)

func locbench(engine string) Tool {
	of := func(load string) string {
		return strings.NewReplacer("LOAD", load, "ENGINE", engine).Replace(profile + run)
	}
	return Tool{
		Name: "locbench (" + engine + ")", Version: "locbench --version",
		Closed: of("connections: CONNECTIONS"), Open: of("rate: RATE, connections: CONNECTIONS"),
		Read: values(1e-9, []string{`"p99_ns":([\d.]+)`}, []string{`"max_ns":([\d.]+)`}, `"throughput":([\d.]+)`,
			[]string{`"succeeded":(\d+)`, `"lead_succeeded":(\d+)`, `"drain_succeeded":(\d+)`}, []string{`"failed":(\d+)`}),
	}
}

// All are the tools, locbench first.
var All = []Tool{
	locbench("fast"), locbench("vegeta"),
	{
		Name: "wrk", Version: "wrk -v", Closed: "wrk -t1 -cCONNECTIONS -dSECONDSs --latency URL",
		Read: values(0, []string{` 99% +([\d.]+)(us|ms|s|m)`}, []string{`Latency +\S+ +\S+ +([\d.]+)(us|ms|s|m)`}, `Requests/sec: +([\d.]+)`,
			[]string{`(\d+) requests in`, `-Non-2xx or 3xx responses: (\d+)`},
			[]string{`Socket errors: connect (\d+)`, `, read (\d+)`, `, write (\d+)`, `, timeout (\d+)`, `Non-2xx or 3xx responses: (\d+)`}),
	},
	{
		Name: "hey", Version: "go version -m $(command -v hey) | grep mod", Closed: "hey -c CONNECTIONS -z SECONDSs URL",
		Open: "hey -c CONNECTIONS -q EACH -z SECONDSs URL",
		Read: values(1, []string{`99%+ in ([\d.]+)`}, []string{`Slowest:\s+([\d.]+)`}, `Requests/sec:\s+([\d.]+)`,
			[]string{`\[200\]\s+(\d+) responses`}, []string{`\[404\]\s+(\d+) responses`, `(?m)^ +\[(\d+)\]\s+Get`}),
	},
	{
		Name: "vegeta", Version: "go version -m $(command -v vegeta) | grep mod",
		Closed: "echo GET URL | vegeta attack -rate 0 -max-workers CONNECTIONS -duration SECONDSs | vegeta report -type json",
		Open:   "echo GET URL | vegeta attack -rate RATE -max-workers CONNECTIONS -duration SECONDSs | vegeta report -type json",
		Read: values(1e-9, []string{`"99th":(\d+)`}, []string{`"max":(\d+)`}, `"rate":([\d.]+)`,
			[]string{`"200":(\d+)`}, []string{`"404":(\d+)`, `"0":(\d+)`}),
	},
	{
		Name: "oha", Version: "oha --version", Closed: "oha --no-tui --output-format json -c CONNECTIONS -z SECONDSs URL",
		Open: "oha --no-tui --output-format json -c CONNECTIONS -q RATE -z SECONDSs URL",
		Read: values(1, []string{`"p99": ([\d.]+)`}, []string{`"slowest": ([\d.]+)`}, `"requestsPerSec": ([\d.]+)`,
			[]string{`"200": (\d+)`}, []string{`"404": (\d+)`, `errorDistribution": \{([^}]*)\}`}),
	},
	{
		Name: "bombardier", Version: "go version -m $(command -v bombardier) | grep mod",
		Closed: "bombardier -l -o json -p r -c CONNECTIONS -d SECONDSs URL",
		Open:   "bombardier -l -o json -p r -c CONNECTIONS -r RATE -d SECONDSs URL",
		Read: values(1e-6, []string{`"99":([\d.]+)`}, []string{`"latency":\{[^{]*"max":([\d.e+]+)`}, `"rps":\{"mean":([\d.]+)`,
			[]string{`"req2xx":(\d+)`}, []string{`"req4xx":(\d+)`, `"others":(\d+)`}),
	},
	{
		Name: "autocannon", Version: "autocannon --version", Closed: "autocannon --json -c CONNECTIONS -d SECONDS URL",
		Open: "autocannon --json -c CONNECTIONS -R RATE -d SECONDS URL",
		Read: values(1e-3, []string{`"latency":\{[^}]*"p99":([\d.]+)`}, []string{`"latency":\{[^}]*"max":([\d.]+)`},
			`"requests":\{"average":([\d.]+)`, []string{`"2xx":(\d+)`}, []string{`"non2xx":(\d+)`, `"errors":(\d+)`}),
	},
	{
		Name: "ab", Version: "ab -V", Closed: "ab -q -k -t SECONDS -n 1000000 -c CONNECTIONS URL",
		Read: values(1e-3, []string{`99% +(\d+)`}, []string{`100% +(\d+)`}, `Requests per second: +([\d.]+)`,
			[]string{`Complete requests: +(\d+)`, `-Failed requests: +(\d+)`, `-Non-2xx responses: +(\d+)`},
			[]string{`Failed requests: +(\d+)`, `Non-2xx responses: +(\d+)`}),
	},
	{
		Name: "gcannon", Version: "gcannon --version || command -v gcannon", Closed: "gcannon URL -c CONNECTIONS -t 1 -d SECONDSs --json",
		Read: values(1e-6, []string{`"p99":([\d.]+)`}, nil, `"rps":([\d.]+)`,
			[]string{`"2xx":(\d+)`}, []string{`"4xx":(\d+)`, `"errors":\{([^}]*)\}`}),
	},
	{
		Name: "zrk", Version: "zrk --version", Open: "zrk -cCONNECTIONS -dSECONDSs -RRATE --format json URL",
		Read: values(1e-6, []string{`"p99":([\d.]+)`}, []string{`"latency_us":\{[^}]*"max":([\d.]+)`}, `"achieved_rate":([\d.]+)`,
			[]string{`"2xx":(\d+)`}, []string{`"4xx":(\d+)`, `"errors":\{([^}]*)\}`}),
	},
	{
		Name: "h2load", Version: "h2load --version", Closed: "h2load --h1 -t1 -c CONNECTIONS -D SECONDS URL",
		Open: "h2load --h1 -t1 -c CONNECTIONS --rps EACH -D SECONDS URL",
		Read: values(0, nil, []string{`time for request: +\S+ +([\d.]+)(us|ms|s|m)`}, `, ([\d.]+) req/s`,
			[]string{`(\d+) succeeded`}, []string{`(\d+) failed`, `(\d+) errored`}),
	},
	{
		Name: "loadtest", Version: "npm ls -g loadtest; ls -d $(dirname $(readlink -f $(command -v loadtest)))/../package.json | xargs grep '\"version\"'",
		Closed: "loadtest -k -c CONNECTIONS -t SECONDS URL", Open: "loadtest -k -c CONNECTIONS --rps RATE -t SECONDS URL",
		Read: values(1e-3, []string{`99% +(\d+)`}, []string{`100% +(\d+)`}, `(?:Effective|Mean) rps: +(\d+)`,
			[]string{`Completed requests: +(\d+)`, `-Total errors: +(\d+)`}, []string{`Total errors: +(\d+)`}),
	},
	{
		Name: "siege", Version: "siege --version", Closed: "siege -b -j -c CONNECTIONS -t SECONDSS URL",
		Read: values(1, nil, []string{`"longest_transaction":\s*([\d.]+)`}, `"transaction_rate":\s*([\d.]+)`,
			[]string{`"successful_transactions":\s*(\d+)`}, []string{`"failed_transactions":\s*(\d+)`}),
	},
}

// values returns how an output is Read: by patterns, each with a number, and perhaps its unit in
// place of the given one, in seconds. Numbers of good requests and of errors are sums; a pattern
// that begins with "-" is subtracted, and one of a map sums it up.
func values(unit float64, p99, most []string, rate string, good, errors []string) func([]byte) Report {
	return func(out []byte) Report {
		var short bytes.Buffer
		if json.Compact(&short, bytes.TrimSpace(out)) == nil && !strings.Contains(strings.Join(p99, ""), `": `) {
			out = short.Bytes()
		}
		r := Report{
			P99: sum(out, unit, p99), Max: sum(out, unit, most), Rate: sum(out, 1, []string{rate}), Good: sum(out, 1, good), Errors: sum(out, 1, errors),
		}
		if r.Good >= 0 {
			r.Errors = max(r.Errors, 0) // not listed without any
		}
		return r
	}
}

// Tables are the marks around what a program writes into a page of the docs.
var Tables = regexp.MustCompile(`(?s)(<!-- measured -->\n).*(<!-- end -->\n)`)

// Write replaces the tables of a page.
func Write(file, text string) error {
	old, err := safe.ReadFile(file, 1<<20)
	if err != nil {
		return err
	}
	if !Tables.Match(old) {
		return errors.New(file + ": no place for the tables")
	}
	return os.WriteFile(file, Tables.ReplaceAll(old, []byte("${1}"+text+"${2}")), 0o644)
}

var inSeconds = map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}

func sum(out []byte, unit float64, patterns []string) float64 {
	total, found := 0., false
	for _, p := range patterns {
		pattern, minus := strings.CutPrefix(p, "-")
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(out, -1) {
			v, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				var counts map[string]float64
				if json.Unmarshal([]byte("{"+string(m[1])+"}"), &counts) != nil {
					continue
				}
				for _, n := range slices.Collect(maps.Values(counts)) {
					v += n
				}
			}
			if found = true; len(m) > 2 {
				v *= inSeconds[string(m[2])]
			} else {
				v *= unit
			}
			if minus {
				v = -v
			}
			total += v
		}
	}
	if !found {
		return -1
	}
	return total
}
