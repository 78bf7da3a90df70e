package export

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"encoding/gob"
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
	return jsonObject(f) && holds(firstLine(f), `"attack"`, `"latency"`)
}

func isVegetaCSV(f Source) bool {
	first, _, _ := bytes.Cut(firstLine(f), []byte(","))
	_, err := strconv.ParseInt(string(first), 10, 64)
	return err == nil && bytes.Count(firstLine(f), []byte(",")) >= 11
}

// attack gathers the results of vegeta as requests of ours.
type attack struct {
	name string
	all  []sample
}

func (a *attack) add(r Result) error {
	if len(a.all) == maxRequests {
		return fmt.Errorf("more than %d requests", maxRequests)
	}
	if r.BytesIn > maxCount {
		return fmt.Errorf("%d bytes", r.BytesIn)
	}
	s := sample{at: r.Timestamp, latency: r.Latency, bytes: int64(r.BytesIn)}
	if r.Code < 200 || r.Code >= 400 { // vegeta's own rule of success
		s.kind = kindOf(int(r.Code))
		if r.Code == 0 {
			s.kind = errorKind(r.Error)
			if slices.Contains([]bench.ErrorKind{bench.ErrWrong, bench.ErrBody, bench.ErrClient}, bench.ErrorKind(r.Error)) {
				s.kind = bench.ErrorKind(r.Error)
			}
		}
	}
	a.all, a.name = append(a.all, s), r.Attack
	return nil
}

func (a *attack) step() ([]bench.StepResult, error) {
	return one(stepOf(cmp.Or(safe.Line(a.name, 60), "vegeta"), a.all))
}

func readVegetaJSON(f Source) ([]bench.StepResult, error) {
	var a attack
	err := lines(f.Data, func(line string) error {
		if line == "" {
			return nil
		}
		var r Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return err
		}
		return a.add(r)
	})
	if err != nil {
		return nil, err
	}
	return a.step()
}

func readVegetaCSV(f Source) ([]bench.StepResult, error) {
	r := csv.NewReader(bytes.NewReader(f.Data))
	r.FieldsPerRecord = 12
	var a attack
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return a.step()
		}
		if err == nil && len(a.all) == maxRequests {
			err = fmt.Errorf("more than %d requests", maxRequests)
		}
		if err != nil {
			return nil, err
		}
		at, err1 := strconv.ParseInt(record[0], 10, 64)
		code, err2 := strconv.ParseUint(record[1], 10, 16)
		latency, err3 := strconv.ParseInt(record[2], 10, 64)
		in, err4 := strconv.ParseUint(record[4], 10, 64)
		err5 := a.add(Result{Attack: record[7], Timestamp: time.Unix(0, at).UTC(), Code: uint16(code),
			Latency: time.Duration(latency), BytesIn: in, Error: record[5]})
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func isHLog(f Source) bool {
	return bytes.HasPrefix(f.Data, []byte("#[Histogram log format")) || holds(head(f), ",HISTF")
}

var hlogStart = regexp.MustCompile(`^#\[StartTime: ([0-9]+(?:\.[0-9]+)?) \(seconds since epoch\)`)

// readHLog reads a HdrHistogram log; each interval is a step. Values are taken for ns.
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

// isVegeta knows vegeta's binary results by the definition of their type, which comes first.
func isVegeta(f Source) bool {
	return holds(f.Data[:min(len(f.Data), 256)], "\x06Result\x01", "\x06Attack\x01")
}

// vegetaResult has the fields that are of use here. The others are skipped where they stand: a list
// of headers could claim to be of any length, and package gob would make room for it.
type vegetaResult struct {
	Attack    string
	Code      uint16
	Timestamp time.Time
	Latency   time.Duration
	BytesIn   uint64
	Error     string
}

// readVegeta reads what vegeta attack writes: a stream of gob.
func readVegeta(f Source) ([]bench.StepResult, error) {
	decoder := gob.NewDecoder(bytes.NewReader(f.Data))
	var a attack
	for {
		var r vegetaResult
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return a.step()
		}
		if err == nil && len(a.all) == maxRequests {
			return nil, fmt.Errorf("more than %d requests", maxRequests)
		}
		if err == nil {
			err = a.add(Result{Attack: r.Attack, Code: r.Code, Timestamp: r.Timestamp.UTC(), Latency: r.Latency,
				BytesIn: r.BytesIn, Error: r.Error})
		}
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", len(a.all)+1, err)
		}
	}
}
