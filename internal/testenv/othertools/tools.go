package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tool is a load tool. In its commands URL, CONNECTIONS, SECONDS, RATE and EACH (the rate of a
// connection) are replaced.
type tool struct {
	name, version string
	closed, open  string
	read          func(out []byte) report
}

// profile and run are the commands of locbench. Both loads are a profile of one step.
const (
	profile = `echo '{requests: [{get: /, expect: {status: 200}}], steps: [{LOAD, duration: SECONDSs}]}' > p.yaml; `
	run     = "locbench run --headless --quiet --profile p.yaml --engine ENGINE --target URL --out r > /dev/null; locbench export r --format json"
)

func locbench(engine string) tool {
	of := func(load string) string {
		return strings.NewReplacer("LOAD", load, "ENGINE", engine).Replace(profile + run)
	}
	return tool{
		name: "locbench (" + engine + ")", version: "locbench --version",
		closed: of("connections: CONNECTIONS"), open: of("rate: RATE, connections: CONNECTIONS"),
		read: values(1e-9, []string{`"p99_ns":([\d.]+)`}, []string{`"max_ns":([\d.]+)`}, `"throughput":([\d.]+)`,
			[]string{`"succeeded":(\d+)`, `"lead_succeeded":(\d+)`, `"drain_succeeded":(\d+)`}, []string{`"failed":(\d+)`}),
	}
}

var tools = []tool{
	locbench("fast"), locbench("vegeta"),
	{
		name: "wrk", version: "wrk -v", closed: "wrk -t1 -cCONNECTIONS -dSECONDSs --latency URL",
		read: values(0, []string{` 99% +([\d.]+)(us|ms|s|m)`}, []string{`Latency +\S+ +\S+ +([\d.]+)(us|ms|s|m)`}, `Requests/sec: +([\d.]+)`,
			[]string{`(\d+) requests in`, `-Non-2xx or 3xx responses: (\d+)`},
			[]string{`Socket errors: connect (\d+)`, `, read (\d+)`, `, write (\d+)`, `, timeout (\d+)`, `Non-2xx or 3xx responses: (\d+)`}),
	},
	{
		name: "hey", version: "go version -m $(command -v hey) | grep mod", closed: "hey -c CONNECTIONS -z SECONDSs URL",
		open: "hey -c CONNECTIONS -q EACH -z SECONDSs URL",
		read: values(1, []string{`99%+ in ([\d.]+)`}, []string{`Slowest:\s+([\d.]+)`}, `Requests/sec:\s+([\d.]+)`,
			[]string{`\[200\]\s+(\d+) responses`}, []string{`\[404\]\s+(\d+) responses`, `(?m)^ +\[(\d+)\]\s+Get`}),
	},
	{
		name: "vegeta", version: "go version -m $(command -v vegeta) | grep mod",
		closed: "echo GET URL | vegeta attack -rate 0 -max-workers CONNECTIONS -duration SECONDSs | vegeta report -type json",
		open:   "echo GET URL | vegeta attack -rate RATE -max-workers CONNECTIONS -duration SECONDSs | vegeta report -type json",
		read: values(1e-9, []string{`"99th":(\d+)`}, []string{`"max":(\d+)`}, `"rate":([\d.]+)`,
			[]string{`"200":(\d+)`}, []string{`"404":(\d+)`, `"0":(\d+)`}),
	},
	{
		name: "oha", version: "oha --version", closed: "oha --no-tui --output-format json -c CONNECTIONS -z SECONDSs URL",
		open: "oha --no-tui --output-format json -c CONNECTIONS -q RATE -z SECONDSs URL",
		read: values(1, []string{`"p99": ([\d.]+)`}, []string{`"slowest": ([\d.]+)`}, `"requestsPerSec": ([\d.]+)`,
			[]string{`"200": (\d+)`}, []string{`"404": (\d+)`, `errorDistribution": \{([^}]*)\}`}),
	},
	{
		name: "bombardier", version: "go version -m $(command -v bombardier) | grep mod",
		closed: "bombardier -l -o json -p r -c CONNECTIONS -d SECONDSs URL",
		open:   "bombardier -l -o json -p r -c CONNECTIONS -r RATE -d SECONDSs URL",
		read: values(1e-6, []string{`"99":([\d.]+)`}, []string{`"latency":\{[^{]*"max":([\d.e+]+)`}, `"rps":\{"mean":([\d.]+)`,
			[]string{`"req2xx":(\d+)`}, []string{`"req4xx":(\d+)`, `"others":(\d+)`}),
	},
	{
		name: "autocannon", version: "autocannon --version", closed: "autocannon --json -c CONNECTIONS -d SECONDS URL",
		open: "autocannon --json -c CONNECTIONS -R RATE -d SECONDS URL",
		read: values(1e-3, []string{`"latency":\{[^}]*"p99":([\d.]+)`}, []string{`"latency":\{[^}]*"max":([\d.]+)`},
			`"requests":\{"average":([\d.]+)`, []string{`"2xx":(\d+)`}, []string{`"non2xx":(\d+)`, `"errors":(\d+)`}),
	},
	{
		name: "ab", version: "ab -V", closed: "ab -q -k -t SECONDS -n 1000000 -c CONNECTIONS URL",
		read: values(1e-3, []string{`99% +(\d+)`}, []string{`100% +(\d+)`}, `Requests per second: +([\d.]+)`,
			[]string{`Complete requests: +(\d+)`, `-Failed requests: +(\d+)`, `-Non-2xx responses: +(\d+)`},
			[]string{`Failed requests: +(\d+)`, `Non-2xx responses: +(\d+)`}),
	},
	{
		name: "h2load", version: "h2load --version", closed: "h2load --h1 -t1 -c CONNECTIONS -D SECONDS URL",
		open: "h2load --h1 -t1 -c CONNECTIONS --rps EACH -D SECONDS URL",
		read: values(0, nil, []string{`time for request: +\S+ +([\d.]+)(us|ms|s|m)`}, `, ([\d.]+) req/s`,
			[]string{`(\d+) succeeded`}, []string{`(\d+) failed`, `(\d+) errored`}),
	},
	{
		name: "loadtest", version: "npm ls -g loadtest; ls -d $(dirname $(readlink -f $(command -v loadtest)))/../package.json | xargs grep '\"version\"'",
		closed: "loadtest -k -c CONNECTIONS -t SECONDS URL", open: "loadtest -k -c CONNECTIONS --rps RATE -t SECONDS URL",
		read: values(1e-3, []string{`99% +(\d+)`}, []string{`100% +(\d+)`}, `(?:Effective|Mean) rps: +(\d+)`,
			[]string{`Completed requests: +(\d+)`, `-Total errors: +(\d+)`}, []string{`Total errors: +(\d+)`}),
	},
	{
		name: "siege", version: "siege --version", closed: "siege -b -j -c CONNECTIONS -t SECONDSS URL",
		read: values(1, nil, []string{`"longest_transaction":\s*([\d.]+)`}, `"transaction_rate":\s*([\d.]+)`,
			[]string{`"successful_transactions":\s*(\d+)`}, []string{`"failed_transactions":\s*(\d+)`}),
	},
}

// values returns how an output is read: by patterns, each with a number, and perhaps its unit in
// place of the given one, in seconds. Numbers of good requests and of errors are sums; a pattern
// that begins with "-" is subtracted, and one of a map sums it up.
func values(unit float64, p99, most []string, rate string, good, errors []string) func([]byte) report {
	return func(out []byte) report {
		var short bytes.Buffer
		if json.Compact(&short, bytes.TrimSpace(out)) == nil && !strings.Contains(strings.Join(p99, ""), `": `) {
			out = short.Bytes()
		}
		r := report{
			p99: sum(out, unit, p99), max: sum(out, unit, most), rate: sum(out, 1, []string{rate}), good: sum(out, 1, good), errors: sum(out, 1, errors),
		}
		if r.good >= 0 {
			r.errors = max(r.errors, 0) // not listed without any
		}
		return r
	}
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
