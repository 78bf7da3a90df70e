package export

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
	"locbench/internal/safe"
)

func isVegetaJSON(f Source) bool {
	line, _, _ := bytes.Cut(head(f), []byte("\n"))
	return jsonObject(f) && bytes.Contains(line, []byte(`"attack"`)) && bytes.Contains(line, []byte(`"latency"`))
}

func isVegetaCSV(f Source) bool {
	line, _, _ := bytes.Cut(head(f), []byte("\n"))
	first, _, _ := bytes.Cut(line, []byte(","))
	_, err := strconv.ParseInt(string(first), 10, 64)
	return err == nil && bytes.Count(line, []byte(",")) >= 11
}

// vegetaSample is a result of vegeta as a request of ours.
func vegetaSample(r Result) (sample, error) {
	if r.BytesIn > maxCount {
		return sample{}, fmt.Errorf("%d bytes", r.BytesIn)
	}
	s := sample{at: r.Timestamp, latency: r.Latency, bytes: int64(r.BytesIn)}
	if r.Code >= 200 && r.Code < 400 {
		return s, nil // vegeta's own rule of success
	}
	s.kind = kindOf(int(r.Code))
	if r.Code == 0 {
		s.kind = errorKind(r.Error)
		if slices.Contains([]bench.ErrorKind{bench.ErrWrong, bench.ErrBody, bench.ErrClient}, bench.ErrorKind(r.Error)) {
			s.kind = bench.ErrorKind(r.Error)
		}
	}
	return s, nil
}

func readVegetaJSON(f Source) ([]bench.StepResult, error) {
	var all []sample
	name := ""
	err := lines(f.Data, func(line string) error {
		if line == "" {
			return nil
		}
		if len(all) == maxRequests {
			return fmt.Errorf("more than %d requests", maxRequests)
		}
		var r Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return err
		}
		s, err := vegetaSample(r)
		all, name = append(all, s), r.Attack
		return err
	})
	if err != nil {
		return nil, err
	}
	s, err := stepOf(attackName(name), all)
	return []bench.StepResult{s}, err
}

func attackName(s string) string {
	if s = safe.Line(s, 60); s == "" {
		return "vegeta"
	}
	return s
}

func readVegetaCSV(f Source) ([]bench.StepResult, error) {
	r := csv.NewReader(bytes.NewReader(f.Data))
	r.FieldsPerRecord = 12
	var all []sample
	name := ""
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && len(all) == maxRequests {
			err = fmt.Errorf("more than %d requests", maxRequests)
		}
		if err != nil {
			return nil, err
		}
		at, err1 := strconv.ParseInt(record[0], 10, 64)
		code, err2 := strconv.ParseUint(record[1], 10, 16)
		latency, err3 := strconv.ParseInt(record[2], 10, 64)
		in, err4 := strconv.ParseUint(record[4], 10, 64)
		s, err5 := vegetaSample(Result{Timestamp: time.Unix(0, at).UTC(), Code: uint16(code), Latency: time.Duration(latency), BytesIn: in, Error: record[5]})
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		all, name = append(all, s), record[7]
	}
	s, err := stepOf(attackName(name), all)
	return []bench.StepResult{s}, err
}

func isHLog(f Source) bool {
	return bytes.HasPrefix(f.Data, []byte("#[Histogram log format")) || bytes.Contains(head(f), []byte(",HISTF"))
}

var hlogStart = regexp.MustCompile(`^#\[StartTime: ([0-9]+(?:\.[0-9]+)?) \(seconds since epoch\)`)

// readHLog reads a HdrHistogram log; each interval is a step. Values are taken to be in
// nanoseconds.
func readHLog(f Source) (steps []bench.StepResult, err error) {
	var start time.Time
	err = lines(f.Data, func(line string) error {
		if m := hlogStart.FindStringSubmatch(line); m != nil {
			s, err := strconv.ParseFloat(m[1], 64)
			if err != nil || s > 1e11 {
				return fmt.Errorf("StartTime %q", safe.Line(m[1], 40))
			}
			start = time.UnixMilli(int64(s*1000 + 0.5)).UTC()
			return nil
		}
		if line == "" || line[0] == '#' || line[0] == '"' {
			return nil
		}
		if len(steps) == maxEntries {
			return fmt.Errorf("more than %d intervals", maxEntries)
		}
		s, err := hlogInterval(line, start, len(steps)+1)
		steps = append(steps, s)
		return err
	})
	return steps, err
}

func hlogInterval(line string, start time.Time, number int) (s bench.StepResult, err error) {
	cells := strings.Split(line, ",")
	name := "interval " + strconv.Itoa(number)
	if tag, ok := strings.CutPrefix(cells[0], "Tag="); ok {
		name, cells = safe.Line(tag, 60), cells[1:]
	}
	if len(cells) != 4 {
		return s, fmt.Errorf("%d cells instead of start, length, maximum and histogram", len(cells))
	}
	at, err1 := strconv.ParseFloat(cells[0], 64)
	length, err2 := strconv.ParseFloat(cells[1], 64)
	top, err3 := strconv.ParseFloat(cells[2], 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return s, err
	}
	if !(at >= 0 && at < 1e11) {
		return s, fmt.Errorf("start %v s", at)
	}
	elapsed, err := fromNS(length * 1e9)
	if err != nil {
		return s, err
	}
	maximum, err := fromNS(top * 1e6)
	if err != nil {
		return s, err
	}
	if _, err := base64.StdEncoding.DecodeString(cells[3]); err != nil {
		return s, fmt.Errorf("histogram: %w", err)
	}
	l, err := hdr.Read(cells[3], maximum)
	if err != nil {
		return s, err
	}
	if l.Count == 0 {
		return s, errors.New("an interval without values")
	}
	s, err = totals(name, l.Count, nil, elapsed, bench.Latencies{P50: max(l.P50, 1)})
	if err != nil {
		return s, err
	}
	s.Load.Latency = l
	s.Load.Started = start.Add(time.Duration(at * 1e9))
	return s, nil
}
