package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/testenv"
)

// written returns the files of an export by name.
func written(t *testing.T, format string, run bench.Run, trials []bench.TrialResult) map[string][]byte {
	t.Helper()
	f := testenv.Must(Lookup(format))(t)
	files := testenv.Must(f.Files(run, trials))(t)
	out := map[string][]byte{}
	for _, file := range files {
		var b bytes.Buffer
		err := file.Write(&b)
		testenv.Need(t, err == nil, "%s: %v", file.Name, err)
		_, ok := out[file.Name]
		testenv.Need(t, !ok, "two files are called %s", file.Name)
		out[file.Name] = b.Bytes()
	}
	return out
}

func TestCSVAndJSONHoldTheSameRows(t *testing.T) {
	run, trials := fixture()
	records := testenv.Must(csv.NewReader(bytes.NewReader(written(t, "csv", run, trials)["results.csv"])).ReadAll())(t)
	var objects []map[string]any
	d := json.NewDecoder(bytes.NewReader(written(t, "json", run, trials)["results.flat.json"]))
	d.UseNumber()
	testenv.OK(t, d.Decode(&objects))
	testenv.Need(t, len(records) == 13 && len(objects) == 12,
		"%d records, %d objects; want a header and 12 rows", len(records), len(objects))
	for i, object := range objects {
		testenv.Check(t, len(object) == len(Columns()), "row %d: %d keys, want %d", i, len(object), len(Columns()))
		for k, name := range records[0] {
			want := ""
			if object[name] != nil {
				want = fmt.Sprint(object[name])
			}
			separated := regexp.MustCompile(`\d,\d{3}`)
			testenv.Check(t, name == "warnings" || !separated.MatchString(want), "row %d: %s is %q, with thousands separators", i, name, want)
			testenv.Equal(t, records[i+1][k], want, i, name)
		}
	}
	s := trials[0].Steps[2]
	if got := objects[2]["p99_ns"]; got != json.Number(strconv.FormatInt(int64(s.Load.Latency.P99), 10)) {
		t.Errorf("p99 %v, want %d", got, s.Load.Latency.P99)
	}
	testenv.Equal(t, objects[2]["usage_source"], any("cgroup v2"))
	testenv.Equal(t, objects[0]["statuses"], any(fmt.Sprintf("200: %d, 201: 201, 202: 202, 203: 203, 204: 204, 205: 205, 206: 206, 207: 207, 503: 0",
		trials[0].Steps[0].Load.Succeeded)))
	if got := objects[2]["throughput"]; got != json.Number(strconv.FormatFloat(s.Load.Throughput(), 'g', -1, 64)) {
		t.Errorf("throughput %v, want %v", got, s.Load.Throughput())
	}
}

func TestColumnsHoldEveryMeasure(t *testing.T) {
	names := map[string]int{}
	for _, c := range Columns() {
		names[c.Name]++
	}
	for _, m := range measure.All() {
		name := m.CSV.Name
		testenv.Check(t, name == "" || names[name] == 1, "%d columns of %s", names[name], name)
	}
}

// A need has columns after all others if any step has its counters; other rows leave them empty.
func TestNeedColumns(t *testing.T) {
	run, trials := fixture()
	at := time.Unix(1000, 0)
	s := &trials[1].Steps[2]
	s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: at, Source: "cgroup v2"}}}
	s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: at.Add(2 * time.Second), Source: "cgroup v2",
		CPU: time.Duration(s.Load.Succeeded) * time.Millisecond}}}
	var csv, flat strings.Builder
	testenv.OK(t, writeCSV(&csv, run, trials))
	testenv.OK(t, writeJSON(&flat, run, trials))
	head, _, _ := strings.Cut(csv.String(), "\n")
	testenv.Check(t, strings.HasSuffix(strings.TrimSpace(head), ",need_db_received_bytes,need_db_sent_bytes"), "%s", head)
	testenv.Equal(t, strings.Count(flat.String(), `"need_db_cpu_per_request_ns":1000000,`), 1, "rows with a value")
	testenv.Equal(t, strings.Count(flat.String(), `"need_db_cpu_per_request_ns":null,`), len(trials)*3-1, "rows without")
}

func TestTextIsNotAFormula(t *testing.T) {
	run, trials := fixture()
	trials[0].Steps[0].Step.Name = `=HYPERLINK("http://x")`
	out := written(t, "csv", run, trials)["results.csv"]
	testenv.Check(t, bytes.Contains(out, []byte(`"'=HYPERLINK`)), "a name is written as a formula: %.300s", out)
}

func TestHGRMHasOurQuantiles(t *testing.T) {
	run, trials := fixture()
	files := written(t, "hgrm", run, trials)
	testenv.Check(t, len(files) == 12, "%d files, want 12", len(files))
	l := trials[0].Steps[1].Load.Latency
	h := testenv.Must(hdr.Decode(l))(t)
	n, last := 0, int64(-1)
	for line := range strings.Lines(string(files["rs-actix-1.02-1-connection.hgrm"])) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "Value" || line[0] == '#' {
			continue
		}
		n++
		value, err1 := strconv.ParseFloat(fields[0], 64)
		p, err2 := strconv.ParseFloat(fields[1], 64)
		count, err3 := strconv.ParseInt(fields[2], 10, 64)
		testenv.Need(t, err1 == nil && err2 == nil && err3 == nil, "line %q", line)
		want := float64(h.Quantile(p)) / 1e6
		testenv.Check(t, p >= 1 || value == want, "at %v: %v ms, want %v", p, value, want)
		testenv.Check(t, count >= last && float64(count) >= p*float64(l.Count)-1,
			"at %v: count %d after %d of %d", p, count, last, l.Count)
		last = count
	}
	testenv.Check(t, n >= 30 && last == l.Count,
		"%d lines up to a count of %d, want at least 30 up to %d", n, last, l.Count)
}

// TestHLog_Intervals checks that each line has the histogram and the time of its step.
func TestHLog_Intervals(t *testing.T) {
	run, trials := fixture()
	files := written(t, "hlog", run, trials)
	for _, trial := range trials {
		text := string(files[trial.Trial.String()+".hlog"])
		want := fmt.Sprintf("#[StartTime: %.3f ", float64(trial.Steps[0].Load.Started.UnixMilli())/1000)
		testenv.Check(t, strings.Contains(text, want), "trial %s has no line %q", trial.Trial, want)
		var lines [][]string
		for line := range strings.Lines(text) {
			if line[0] != '#' && line[0] != '"' {
				lines = append(lines, strings.Split(strings.TrimSpace(line), ","))
			}
		}
		testenv.Need(t, len(lines) == 3, "%d intervals, want 3", len(lines))
		for i, cells := range lines {
			l := trial.Steps[i].Load
			want := []string{
				fmt.Sprintf("%.3f", l.Started.Sub(trial.Steps[0].Load.Started).Seconds()), fmt.Sprintf("%.3f", l.Elapsed.Seconds()),
				fmt.Sprintf("%.6f", float64(l.Latency.Max)/1e6), l.Latency.HDR,
			}
			testenv.Check(t, slices.Equal(cells, want), "trial %s, step %d: %q, want %q", trial.Trial, i, cells, want)
		}
	}
}

// A trial without a step has no file, and neither has a step without a success.
func TestFiles_Empty(t *testing.T) {
	run, trials := fixture()
	trials = trials[:1]
	trials[0].Steps[0].Load.Latency = bench.Latencies{}
	testenv.Equal(t, len(written(t, "hgrm", run, trials)), 2)
	trials[0].Steps = nil
	for _, name := range []string{"hgrm", "hlog"} {
		f := testenv.Must(Lookup(name))(t)
		testenv.Fails(t, testenv.Err(f.Files(run, trials)), "export as "+name+": these results have no finished step")
	}
	testenv.Equal(t, string(written(t, "json", run, trials)["results.flat.json"]), "[\n]\n")
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{"64 connections": "64-connections", "../../etc/passwd": "-..-etc-passwd", "...": "unnamed", "": "unnamed", "a/b\\c:d": "a-b-c-d"} {
		t.Run(in, func(t *testing.T) {
			testenv.Equal(t, fileName(in), want, in)
		})
	}
}

// The columns about warm-up hold the results of package stats.
func TestColumnsOfTheWarmUp(t *testing.T) {
	run, trials := fixture()
	trial := &trials[0]
	trial.Instance = &bench.InstanceInfo{Runtime: bench.RuntimeDocker, StartedAt: trial.Steps[0].Load.Started.Add(-3 * time.Second)}
	trial.Steps[0].Load.Windows = nil
	for at := range 12 {
		trial.Steps[0].Load.Windows = append(trial.Steps[0].Load.Windows, bench.Window{Start: time.Duration(at) * time.Second, Length: time.Second, Succeeded: 1000})
	}
	trial.Steps = trial.Steps[:1]
	trial.Steps[0].Drift = &bench.Drift{CPU: &bench.Trend{Change: -.125}}
	var objects []map[string]any
	testenv.OK(t, json.Unmarshal(written(t, "json", run, trials[:1])["results.flat.json"], &objects))
	if o := objects[0]; o["time_to_peak_ns"] != 3e9 || o["throughput_drift"] != nil || o["cpu_per_request_drift"] != -.125 || !strings.HasPrefix(fmt.Sprint(o["warnings"]), "still warming up: CPU time per request fell by 12% over the step") {
		t.Errorf("%v, %v, %v, %v", o["time_to_peak_ns"], o["throughput_drift"], o["cpu_per_request_drift"], o["warnings"])
	}
}

// TestDocsNameEveryFormat checks that docs/formats.md describes all formats.
func TestDocsNameEveryFormat(t *testing.T) {
	data := testenv.Must(os.ReadFile("../../../docs/formats.md"))(t)
	docs := string(data)
	for _, f := range Formats() {
		testenv.Check(t, strings.Contains(docs, "`"+f.Name+"`"), "format %s is missing", f.Name)
	}
}

// tables returns the generated tables of docs/formats.md.
func tables(t *testing.T) map[string]string {
	row := func(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	columns := row("column", "what") + "|---|---|\n"
	for _, c := range append(Columns(), NeedColumns("NAME")...) {
		columns += row("`"+c.Name+"`", c.Doc)
	}
	live := row("name", "type", "what") + "|---|---|---|\n"
	for _, m := range measure.All() {
		if m.Live != nil {
			live += row("`"+m.Live.Name+"`", m.Live.Kind, m.Live.Help)
		}
	}
	return map[string]string{"columns": columns, "live metrics": live}
}

// TestDocsTables compares docs/formats.md with the generated tables; -update writes them.
func TestDocsTables(t *testing.T) {
	const file = "../../../docs/formats.md"
	data := testenv.Must(os.ReadFile(file))(t)
	docs := string(data)
	for name, table := range tables(t) {
		before, rest, found := strings.Cut(docs, "<!-- made: "+name+" -->\n")
		old, after, ended := strings.Cut(rest, "<!-- /made -->")
		testenv.Need(t, found && ended, "docs/formats.md has no markers for %s", name)
		testenv.Check(t, old == table || *testenv.Update,
			"%s in docs/formats.md are out of date: go test ./internal/results/export -run 'Docs|Schemas' -update", name)
		docs = before + "<!-- made: " + name + " -->\n" + table + "<!-- /made -->" + after
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile(file, []byte(docs), 0o644))
	}
}

// decoded returns the results in a file, as vegeta's own commands read it.
func decoded(t *testing.T, data []byte) (all []vegeta.Result) {
	t.Helper()
	decode := vegeta.DecoderFor(bytes.NewReader(data))
	testenv.Need(t, decode != nil, "vegeta does not know it")
	for {
		var r vegeta.Result
		if err := decode(&r); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// vegeta reads exactly the requests that a step kept: each with its time, latency, status and
// error.
func TestVegetaReadsKeptRequests(t *testing.T) {
	run, trials := fixture()
	load := trials[0].Steps[2].Load
	trials[0].Steps, trials[0].FirstRequests = trials[0].Steps[2:3], nil
	files := written(t, "vegeta", run, trials[:1])
	testenv.Need(t, len(files) == 1, "%d files, want 1", len(files))
	for _, data := range files {
		got := decoded(t, data)
		testenv.Need(t, len(got) == len(load.Kept) && len(got) >= 400,
			"%d results of %d kept requests", len(got), len(load.Kept))
		for i, r := range got {
			k := load.Kept[i]
			errText := map[bench.ErrorKind]string{"": "", "5xx": "503 Service Unavailable", "timeout": "timeout", "connection_refused": "connection_refused"}[k.Error]
			want := vegeta.Result{
				Attack: "rs-actix-1 64 connections", Seq: uint64(i), Code: uint16(k.Status), Timestamp: load.Started.Add(k.Start),
				Latency: k.Latency, BytesIn: uint64(k.Bytes), Error: errText, Method: "GET", URL: "/city/v1/get?id={id}",
			}
			testenv.Need(t, r.Equal(want), "request %d:\n%+v\nwant\n%+v", i, r, want)
		}
	}
}

// The first requests of a trial have their own file, in which each connection is an attack with its
// own numbers.
func TestVegetaReadsFirstRequests(t *testing.T) {
	run, trials := fixture()
	for i := range trials {
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	const suffix = ".vegeta.bin"
	files := written(t, "vegeta", run, trials)
	testenv.Need(t, len(files) == 2 && files["rs-actix-2.00-first-requests"+suffix] != nil,
		"files %q", slices.Sorted(maps.Keys(files)))
	first := trials[0].FirstRequests
	var lines []string
	for _, r := range decoded(t, files["rs-actix-1.00-first-requests"+suffix]) {
		lines = append(lines, fmt.Sprintf("%s %d: %s, %s, %d %s", r.Attack, r.Seq, r.Timestamp.Sub(first.Started), r.Latency, r.Code, r.Error))
	}
	want := []string{
		"rs-actix-1 first request 0: 0s, 9ms, 200 ", "rs-actix-1 same connection 0: 10ms, 1ms, 200 ",
		"rs-actix-1 same connection 1: 11ms, 2ms, 200 ", "rs-actix-1 new connections 0: 20ms, 1s, 0 timeout",
	}
	testenv.Check(t, slices.Equal(lines, want), "%q\nwant %q", lines, want)
}

// Results without single requests say how to get them; nothing is made of histograms and windows.
func TestVegetaNeedsSingleRequests(t *testing.T) {
	run, trials := fixture()
	for i := range trials {
		trials[i].FirstRequests = nil
		for k := range trials[i].Steps {
			trials[i].Steps[k].Load.Kept = nil
		}
	}
	f := testenv.Must(Lookup("vegeta"))(t)
	testenv.Fails(t, testenv.Err(f.Files(run, trials)), "export as vegeta: no single requests were kept: add `keep_requests: 1000` to a step")
}

// What vegeta has as a number without a sign must have none: a results file may come from anywhere.
func TestVegetaRefusesImplausibleRequests(t *testing.T) {
	for name, k := range map[string]bench.KeptRequest{
		"latency": {Latency: -1}, "status": {Status: 70_000}, "negative status": {Status: -1}, "bytes": {Bytes: -1},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := fixture()
			trials[0].Steps[0].Load.Kept, trials[0].FirstRequests = []bench.KeptRequest{{}, k}, nil
			f := testenv.Must(Lookup("vegeta"))(t)
			files := testenv.Must(f.Files(run, trials[:1]))(t)
			err := files[0].Write(io.Discard)
			testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), "rs-actix-1 1 connection, request 2: implausible"), "%v", err)
		})
	}
}

// A rejected response has its status as vegeta's error, as vegeta itself writes it.
func TestVegetaOfRejectedRequests(t *testing.T) {
	run, trials := fixture()
	trials[0].Steps, trials[0].FirstRequests = trials[0].Steps[:1], nil
	trials[0].Steps[0].Load.Kept = []bench.KeptRequest{{Request: "get", Latency: 1, Status: 429, Rejected: true}, {Request: "get", Latency: 1, Status: 200, Error: bench.ErrWrong}}
	for _, data := range written(t, "vegeta", run, trials[:1]) {
		got := decoded(t, data)
		testenv.Check(t, got[0].Code == 429 && got[0].Error == "429 Too Many Requests" && got[1].Code == 200 && got[1].Error == "unexpected_body",
			"%+v", got)
	}
}
