package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

var gatlingLine = regexp.MustCompile(`^> (.+?)\s+([0-9.,-]+) \(OK=([0-9.,-]+)\s+KO=([0-9.,-]+)\s*\)$`)

// gatlingText reads the table of Gatling's last words.
func gatlingText(data []byte, g *gatlingStats) error {
	rows := map[string]**gatlingCell{
		"request count": &g.NumberOfRequests, "min response time": &g.MinResponseTime, "max response time": &g.MaxResponseTime,
		"mean response time": &g.MeanResponseTime, "std deviation": &g.StandardDeviation,
		"response time 50th percentile": &g.Percentiles1, "response time 75th percentile": &g.Percentiles2,
		"response time 95th percentile": &g.Percentiles3, "response time 99th percentile": &g.Percentiles4,
		"mean requests/sec": &g.MeanNumberOfRequestsPerSecond,
	}
	return lines(data, func(line string) error {
		m := gatlingLine.FindStringSubmatch(line)
		if m == nil || rows[m[1]] == nil {
			return nil
		}
		var cell gatlingCell
		for i, at := range []*gatlingValue{&cell.Total, &cell.OK, &cell.KO} {
			if err := at.UnmarshalJSON([]byte(strings.ReplaceAll(m[i+2], ",", ""))); err != nil {
				return err
			}
		}
		*rows[m[1]] = &cell
		return nil
	})
}

func isJMeter(f Source) bool {
	return holds(firstLine(f), "timeStamp", "elapsed") || holds(firstLine(f), "# Samples")
}

// table calls each with every row of a CSV file with a header, which gives cells by their column.
func table(data []byte, each func(cell func(string) string) error) error {
	r := csv.NewReader(bytes.NewReader(data))
	header, err := r.Read()
	if err != nil {
		return err
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.TrimPrefix(name, "\ufeff")] = i
	}
	r.ReuseRecord = true
	for n := 0; ; n++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == maxRequests {
			return fmt.Errorf("more than %d rows", maxRequests)
		}
		err = each(func(name string) string {
			if i, ok := columns[name]; ok {
				return record[i]
			}
			return ""
		})
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// readJMeter reads a JTL file in CSV (a row for each sample) or the aggregate report.
func readJMeter(f Source) ([]bench.StepResult, error) {
	if holds(firstLine(f), "# Samples") {
		return readAggregate(f)
	}
	var all []sample
	err := table(f.Data, func(cell func(string) string) error {
		ms, err := strconv.ParseInt(cell("timeStamp"), 10, 64)
		if err != nil || ms < 0 || ms > 1e14 {
			return fmt.Errorf("timeStamp %q is no time in milliseconds", safe.Line(cell("timeStamp"), 40))
		}
		elapsed, err := strconv.ParseInt(cell("elapsed"), 10, 64)
		if err != nil || elapsed < 0 || elapsed > maxElapsed.Milliseconds() {
			return fmt.Errorf("elapsed %q is no time in milliseconds", safe.Line(cell("elapsed"), 40))
		}
		s := sample{at: time.UnixMilli(ms).UTC(), latency: time.Duration(elapsed) * time.Millisecond}
		if cell("bytes") != "" {
			if s.bytes, err = integer(cell("bytes")); err != nil {
				return err
			}
		}
		switch cell("success") {
		case "true":
		case "false":
			s.kind = errorKind(cell("responseCode") + " " + cell("responseMessage"))
			if status, err := strconv.Atoi(cell("responseCode")); err == nil {
				if s.kind = kindOf(status); s.kind == "" {
					s.kind = bench.ErrWrong
				}
			}
		default:
			return fmt.Errorf("success %q is neither true nor false", safe.Line(cell("success"), 40))
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return one(stepOf("jmeter", all))
}

// readAggregate takes the TOTAL of JMeter's aggregate report; without one each label is a step.
func readAggregate(f Source) (steps []bench.StepResult, err error) {
	var sum []bench.StepResult
	err = table(f.Data, func(cell func(string) string) error {
		n, err := integer(cell("# Samples"))
		if err != nil {
			return err
		}
		var l bench.Latencies
		for column, at := range map[string]*time.Duration{"Average": &l.Mean, "Median": &l.P50, "90% Line": &l.P90, "95% Line": &l.P95, "99% Line": &l.P99, "Min": &l.Min, "Max": &l.Max, "Std. Dev.": &l.SD} {
			if cell(column) == "" {
				continue
			}
			if *at, err = unitDuration(cell(column) + "ms"); err != nil {
				return fmt.Errorf("%s: %w", column, err)
			}
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(cell("Error %"), "%"), 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return fmt.Errorf("error %% %q is no percentage", safe.Line(cell("Error %"), 40))
		}
		rate, err := strconv.ParseFloat(cell("Throughput"), 64)
		if err != nil {
			return fmt.Errorf("throughput %q is no rate", safe.Line(cell("Throughput"), 40))
		}
		bad := int64(float64(n)*percent/100 + 0.5)
		s, err := totals(safe.Line(cell("Label"), 60), n-bad, map[bench.ErrorKind]int64{bench.ErrOther: bad}, elapsedOf(n, rate), l)
		if err != nil {
			return err
		}
		s.Warnings = bench.Findings{{Text: "latencies are of failures too; the number of errors comes from a rounded percentage"}}
		if cell("Label") == "TOTAL" {
			sum = append(sum, s)
		} else if len(steps) < maxEntries {
			steps = append(steps, s)
		}
		return nil
	})
	if len(sum) == 1 {
		steps = sum
	}
	return steps, err
}
