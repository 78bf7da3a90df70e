package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
			if separated := regexp.MustCompile(`\d,\d{3}`); name != "warnings" && separated.MatchString(want) {
				t.Errorf("row %d: %s is %q, with thousands separators", i, name, want)
			}
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
		_, err := f.Files(run, trials)
		testenv.Fails(t, err, "export as "+name+": these results have no finished step")
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
