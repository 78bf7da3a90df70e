package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

func isOha(f Source) bool {
	return jsonObject(f) && holds(f.Data, `"latencyPercentiles"`, `"requestsPerSec"`)
}

func isK6(f Source) bool { return jsonObject(f) && holds(f.Data, `"http_req_duration"`, `"metrics"`) }

func jsonObject(f Source) bool { return bytes.HasPrefix(bytes.TrimSpace(head(f)), []byte("{")) }

// decode reads one JSON value; errors tell the line.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(v); err != nil {
		offset := d.InputOffset()
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = e.Offset
		} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			offset = e.Offset
		}
		return fmt.Errorf("line %d: %w", lineOf(data, offset), err)
	}
	if d.More() {
		return fmt.Errorf("line %d: something follows the end", lineOf(data, d.InputOffset()))
	}
	return nil
}

// secs is a time in seconds that may be null.
type secs float64

func (s *secs) duration(name string) (time.Duration, error) {
	if s == nil {
		return 0, nil
	}
	d, err := fromNS(float64(*s) * 1e9)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return d, err
}

// readOha reads what oha prints with --output-format json (or --json).
func readOha(f Source) ([]bench.StepResult, error) {
	var in struct {
		Summary struct {
			Total, Slowest, Fastest, Average *secs
			TotalData                        int64
		}
		LatencyPercentiles     map[string]*secs
		StatusCodeDistribution map[string]int64
		ErrorDistribution      map[string]int64
	}
	if err := decode(f.Data, &in); err != nil {
		return nil, err
	}
	var l bench.Latencies
	var elapsed time.Duration
	for _, v := range []struct {
		name string
		from *secs
		to   *time.Duration
	}{
		{"summary.total", in.Summary.Total, &elapsed}, {"summary.slowest", in.Summary.Slowest, &l.Max}, {"summary.fastest", in.Summary.Fastest, &l.Min},
		{"summary.average", in.Summary.Average, &l.Mean}, {"p50", in.LatencyPercentiles["p50"], &l.P50}, {"p75", in.LatencyPercentiles["p75"], &l.P75},
		{"p90", in.LatencyPercentiles["p90"], &l.P90}, {"p95", in.LatencyPercentiles["p95"], &l.P95}, {"p99", in.LatencyPercentiles["p99"], &l.P99},
		{"p99.9", in.LatencyPercentiles["p99.9"], &l.P999},
	} {
		var err error
		if *v.to, err = v.from.duration(v.name); err != nil {
			return nil, err
		}
	}
	var succeeded int64
	failed := map[bench.ErrorKind]int64{}
	for status, n := range in.StatusCodeDistribution {
		code, err := strconv.Atoi(status)
		if err != nil || n < 0 || n > maxCount {
			return nil, fmt.Errorf("statusCodeDistribution: %q: %d", safe.Line(status, 20), n)
		}
		if kind := kindOf(code); kind != "" {
			failed[kind] += n
		} else {
			succeeded += n
		}
	}
	for words, n := range in.ErrorDistribution {
		if n < 0 || n > maxCount {
			return nil, fmt.Errorf("errorDistribution: %d", n)
		}
		failed[errorKind(words)] += n
	}
	s, err := totals("oha", succeeded, failed, elapsed, l)
	s.Load.Bytes = max(in.Summary.TotalData, 0)
	return []bench.StepResult{s}, err
}

// readK6 reads k6's summary: what --summary-export writes, or the object that handleSummary gets.
func readK6(f Source) ([]bench.StepResult, error) {
	var in struct {
		Metrics map[string]map[string]json.RawMessage
	}
	if err := decode(f.Data, &in); err != nil {
		return nil, err
	}
	value := func(metric, key string) (float64, bool, error) {
		m := in.Metrics[metric]
		raw, ok := m[key]
		if values, nested := m["values"]; nested {
			var inner map[string]json.RawMessage
			if err := json.Unmarshal(values, &inner); err != nil {
				return 0, false, fmt.Errorf("metrics.%s.values: %w", metric, err)
			}
			raw, ok = inner[key]
		}
		if !ok || bytes.Equal(raw, null) {
			return 0, false, nil
		}
		var x float64
		if err := json.Unmarshal(raw, &x); err != nil || x < 0 || x > 1e15 {
			return 0, false, fmt.Errorf("metrics.%s.%s: %s is no figure", metric, key, safe.Line(string(raw), 40))
		}
		return x, true, nil
	}
	var l bench.Latencies
	for key, at := range map[string]*time.Duration{"min": &l.Min, "max": &l.Max, "avg": &l.Mean, "med": &l.P50, "p(75)": &l.P75, "p(90)": &l.P90, "p(95)": &l.P95, "p(99)": &l.P99, "p(99.9)": &l.P999} {
		ms, _, err := value("http_req_duration", key)
		if err != nil {
			return nil, err
		}
		if *at, err = fromNS(ms * 1e6); err != nil {
			return nil, err
		}
	}
	count, _, err1 := value("http_reqs", "count")
	rate, _, err2 := value("http_reqs", "rate")
	share, ok, err3 := value("http_req_failed", "rate")
	var err4 error
	if !ok {
		share, _, err4 = value("http_req_failed", "value")
	}
	users, _, err5 := value("vus_max", "value")
	received, _, err6 := value("data_received", "count")
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	if share > 1 || count != math.Trunc(count) {
		return nil, fmt.Errorf("http_reqs.count %v, of which %v failed", count, share)
	}
	bad := int64(math.Round(share * count))
	s, err := totals("k6", int64(count)-bad, map[bench.ErrorKind]int64{bench.ErrOther: bad}, elapsedOf(int64(count), rate), l)
	if users >= 1 && users < 1e9 {
		s.Step.Name = "k6, " + strconv.Itoa(int(users)) + " users"
	}
	s.Load.Bytes = int64(received)
	s.Warnings = append(s.Warnings, bench.Finding{Text: "bytes are all that was received, headers and failures among it"})
	return []bench.StepResult{s}, err
}

func isGatling(f Source) bool {
	return holds(head(f), "---- Global Information") ||
		jsonObject(f) && holds(head(f), `"meanNumberOfRequestsPerSecond"`)
}

// gatlingValue is a cell of Gatling's tables: a number, the same as text, or "-".
type gatlingValue float64

// UnmarshalJSON reads 1, "1" and "-".
func (v *gatlingValue) UnmarshalJSON(data []byte) error {
	s := strings.Trim(string(data), `"`)
	if s == "-" || s == "null" {
		s = "0"
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= 1e15) {
		return fmt.Errorf("%s is no figure", safe.Line(string(data), 40))
	}
	*v = gatlingValue(x)
	return nil
}

type gatlingCell struct{ Total, OK, KO gatlingValue }

type gatlingStats struct {
	NumberOfRequests, MinResponseTime, MaxResponseTime, MeanResponseTime, StandardDeviation *gatlingCell
	Percentiles1, Percentiles2, Percentiles3, Percentiles4                                  *gatlingCell
	MeanNumberOfRequestsPerSecond                                                           *gatlingCell
}

// readGatling reads stats.json or global_stats.json of a Gatling report, or the table that Gatling
// prints at the end. Latencies are those of the requests that were OK; its percentiles are taken to
// be the default ones, 50, 75, 95 and 99.
func readGatling(f Source) ([]bench.StepResult, error) {
	var g gatlingStats
	if jsonObject(f) {
		var in struct {
			Stats *gatlingStats
			gatlingStats
		}
		if err := decode(f.Data, &in); err != nil {
			return nil, err
		}
		g = in.gatlingStats
		if in.Stats != nil {
			g = *in.Stats
		}
	} else if err := gatlingText(f.Data, &g); err != nil {
		return nil, err
	}
	if g.NumberOfRequests == nil || g.MeanNumberOfRequestsPerSecond == nil {
		return nil, errors.New("the number of requests, or their rate, is missing")
	}
	var l bench.Latencies
	for at, cell := range map[*time.Duration]*gatlingCell{&l.Min: g.MinResponseTime, &l.Max: g.MaxResponseTime, &l.Mean: g.MeanResponseTime, &l.SD: g.StandardDeviation,
		&l.P50: g.Percentiles1, &l.P75: g.Percentiles2, &l.P95: g.Percentiles3, &l.P99: g.Percentiles4} {
		if cell == nil {
			continue
		}
		var err error
		if *at, err = fromNS(float64(cell.OK) * 1e6); err != nil {
			return nil, err
		}
	}
	n := g.NumberOfRequests
	elapsed := elapsedOf(int64(n.Total), float64(g.MeanNumberOfRequestsPerSecond.Total))
	return one(totals("gatling", int64(n.OK), map[bench.ErrorKind]int64{bench.ErrOther: int64(n.KO)}, elapsed, l))
}
