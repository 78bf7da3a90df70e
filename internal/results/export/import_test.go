package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// importing imports files from memory.
func importing(from string, files ...source) (bench.Run, []bench.TrialResult, error) {
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	i := -1
	read := func(string) ([]byte, error) {
		i++
		return files[i].data, nil
	}
	return Import(names, read, from, time.Unix(0, 0))
}

// TestImportRefuses files of other tools, with an error that names the file and the expected
// formats.
func TestImportRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty.txt": "",
		"wrk.txt": `Running 10s test @ http://127.0.0.1:8080/city
  4 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.80ms    1.56ms 302.00ms   76.92%
  108874 requests in 10.03s, 3.21MB read
  Socket errors: connect 0, read 3, write 1, timeout 12
Requests/sec:  10854.84
`,
		"wrk2.txt": `Running 10s test @ http://127.0.0.1:9000/
  2 threads and 16 connections
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.71ms
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  310.00us
  19998 requests in 10.00s, 2.46MB read
`,
		"hey.txt": "\nSummary:\n  Total:\t2.0012 secs\n  Slowest:\t0.0105 secs\n  Requests/sec:\t101.4391\n",
		"oha.json": `{"summary":{"successRate":0.98,"total":2.5},"latencyPercentiles":{"p50":0.0015},` +
			`"statusCodeDistribution":{"200":980},"errorDistribution":{}}`,
		"k6.json": `{"metrics":{"http_reqs":{"count":1000,"rate":99.9},"checks":{"passes":1}},"root_group":{}}`,
		"k6-lines.json": `{"type":"Point","data":{"time":"2026-03-14T09:26:53Z","value":1},"metric":"http_reqs"}
{"type":"Point","data":{"time":"2026-03-14T09:26:54Z","value":1},"metric":"http_reqs"}
`,
		"stats.json":  `{"type":"GROUP","name":"All Requests","stats":{"numberOfRequests":{"total":"8000"}},"contents":{}}`,
		"gatling.txt": "---- Global Information ----\n> request count      8000 (OK=7990   KO=10    )\n",
		"jmeter.csv": `timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,sentBytes,Latency,Connect
1600000000000,10,get,200,OK,t 1-1,text,true,100,120,9,1
`,
		"jmeter-without-header.csv": "1600000000000,10,get,200,OK,t 1-1,text,true,100,120,9,1\n",
		"milliseconds.csv":          "1600000000000,200,10,0,100,,,a,0,GET,http://x/,\n",
		"bad-body.csv":              "1773480413000000000,200,10,0,100,,not base64,a,0,GET,http://x/,\n",
		"bad-headers.csv":           "1773480413000000000,200,10,0,100,,,a,0,GET,http://x/,QTogYg==\n",
		"header-first.csv":          "timestamp,code,latency,bytes_out,bytes_in,error,body,attack,seq,method,url,headers\n",
		"curve.hlog":                "#[Histogram log format version 1.3]\n0,1,1,HISTFAAA\n",
		"lines.json":                `{"timestamp":"2026-03-14T09:26:53Z","latency":12,"status":200}` + "\n",
		"rubbish.bin":               "\x00\x01\xff\xfe\x7f\"\x1b]0;x\x07",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := importing("", source{"in/" + name, []byte(text)})
			if err == nil {
				t.Fatal("it was read")
			}
			got := err.Error()
			if !strings.HasPrefix(got, "in/"+name+": not an importable file: expected a file of the published comparison's harness") ||
				!strings.Contains(got, "results of vegeta") || strings.Contains(got, "\n") {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestImportSaysWhere(t *testing.T) {
	attack := string(attacked(t, vegeta.NewJSONEncoder, hits("a", 3)...))
	lines := strings.SplitAfter(attack, "\n")
	table := string(attacked(t, vegeta.NewCSVEncoder, hits("a", 3)...))
	gob := string(attacked(t, vegeta.NewEncoder, hits("a", 3)...))
	for _, c := range []struct{ name, data, from, want string }{
		{"an unknown format", "hello", "nc", `a.txt: unknown format "nc"; expected one of harness, vegeta`},
		{"a format of another tool", "hello", "wrk", `a.txt: unknown format "wrk"; expected one of harness, vegeta`},
		{"nothing", "", "vegeta", "read as vegeta: no results in it"},
		{"binary, cut short", gob[:len(gob)-3], "", "read as vegeta: result 3: unexpected EOF"},
		{"JSON, cut short", attack[:len(attack)-30], "", "read as vegeta: result 3: parse error: unterminated string"},
		{"JSON, cut short before the time", lines[0] + lines[1] + lines[2][:20], "", "result 3: unexpected EOF"},
		{"JSON, a line without its end", lines[0] + `{"attack":"a"` + "\n" + lines[2], "", "result 2: unexpected EOF"},
		{"JSON, another object", lines[0] + "{}\n" + lines[2], "", "result 2: sent in the year 1:"},
		{"JSON, a negative latency", strings.Replace(attack, `"latency":2000000`, `"latency":-2`, 1), "", "result 2: latency of -2ns"},
		{"CSV, cut short", table[:len(table)-5], "", "result 3: record on line 3: wrong number of fields"},
		{"CSV, headers cut short", strings.TrimSuffix(table, ",\n") + ",QTogYg==\n", "", "result 3: "},
		{"CSV, a response of a petabyte", strings.Replace(table, ",100,,", ",1125899906842624,,", 1), "vegeta", "result 1: response of 1125899906842624 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := importing(c.from, source{"a.txt", []byte(c.data)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	two := source{"x/a-1.json", []byte(attack)}
	_, _, err := importing("", two, source{"y/a-1.json", two.data}, source{"z.txt", nil})
	if err == nil || !strings.Contains(err.Error(), "trial a-1 is also in x/a-1.json") || !strings.Contains(err.Error(), "\nz.txt: not an importable file") {
		t.Errorf("two files of one trial, and another file: %v", err)
	}
	broken := errors.New("open a: no such file")
	if _, _, err = Import([]string{"a"}, func(string) ([]byte, error) { return nil, broken }, "", time.Time{}); !errors.Is(err, broken) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestMissingIsNotZero checks that values that the harness' files lack are unknown.
func TestMissingIsNotZero(t *testing.T) {
	run, trials, err := importing("", source{"a-1" + harnessSuffix, []byte(published)})
	testenv.OK(t, err)
	var objects []map[string]any
	testenv.OK(t, json.Unmarshal(written(t, "json", run, trials, Options{})["results.flat.json"], &objects))
	for _, key := range []string{"p95_ns", "p999_ns", "min_ns", "max_ns", "throttled_periods"} {
		if v, there := objects[0][key]; !there || v != nil {
			t.Errorf("%s is %v, want null", key, v)
		}
	}
	out := string(written(t, "prometheus", run, trials, Options{})["results.prom"])
	if strings.Contains(out, `quantile="0.95"`) || !strings.Contains(out, `quantile="0.99"`) {
		t.Errorf("quantiles of the harness:\n%s", out)
	}
}

func TestTrialName(t *testing.T) {
	for _, c := range []struct {
		in, contender string
		round         int
	}{
		{"a/rs-actix-2.checks.bench.json", "rs-actix", 2}, {"vegeta.bin", "vegeta", 1}, {`c:\x\Go Echo-12.json`, "go-echo", 12},
		{"x-007.txt", "x-007", 1}, {"-3.txt", "-3", 1}, {"run-0.txt", "run-0", 1},
	} {
		t.Run(c.in, func(t *testing.T) {
			if contender, round := trialName(c.in); contender != c.contender || round != c.round {
				t.Errorf("%s: %s, %d; want %s, %d", c.in, contender, round, c.contender, c.round)
			}
		})
	}
}

// FuzzImport looks for inputs that crash a reader, or give results that cannot be written.
func FuzzImport(f *testing.F) {
	run, trials := fixture()
	f.Add([]byte(published))
	for _, format := range []string{"vegeta", "vegeta-json", "vegeta-csv"} {
		x, err := Lookup(format)
		testenv.OK(f, err)
		files, err := x.Files(run, trials[:1], Options{})
		testenv.OK(f, err)
		var b bytes.Buffer
		testenv.OK(f, files[0].Write(&b))
		f.Add(b.Bytes()[:min(b.Len(), 3000)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range append(ImportNames(), "") {
			run, trials, err := importing(name, source{"x-1", data})
			if err != nil {
				continue
			}
			if _, err := json.Marshal(trials); err != nil {
				t.Fatalf("%s gave a trial that cannot be written: %v", name, err)
			}
			for _, s := range trials[0].Steps {
				if s.Load.Elapsed < 0 || s.Load.Succeeded < 0 || s.Load.FailedTotal() < 0 || s.Load.Latency.P50 < 0 {
					t.Fatalf("%s gave %+v", name, s.Load)
				}
			}
			for _, format := range []string{"csv", "json", "gobench", "prometheus", "harness"} {
				written(t, format, run, trials, Options{})
			}
			if name != "harness" {
				continue
			}
			out := harnessFile{harnessChecks(trials[0]), harnessStats(trials[0])}.encode()
			if _, err := readHarness(source{"x-1" + harnessSuffix, out}); err != nil {
				t.Fatalf("our own file is not read: %v\n%s", err, out)
			}
		}
	})
}
