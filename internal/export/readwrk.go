package export

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

func isWrk(f Source) bool { return holds(head(f), "Running ", " test @ ") }

func isHey(f Source) bool { return holds(head(f), "Summary:", "Slowest:", "Requests/sec:") }

// lines calls each with every line of a text and its number. A mistake in a line gets that number.
func lines(data []byte, each func(line string) error) error {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(bytes.TrimSuffix(line, []byte("\n"))) > maxLine {
			return fmt.Errorf("line %d: longer than %d MiB", number, maxLine>>20)
		}
		if err := each(strings.TrimSpace(string(line))); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

var (
	wrkConns    = regexp.MustCompile(`^\d+ threads and (\d+) connections$`)
	wrkLatency  = regexp.MustCompile(`^Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%$`)
	wrkQuantile = regexp.MustCompile(`^(\d+(?:\.\d+)?)%\s+(\S+)$`)
	wrkTotal    = regexp.MustCompile(`^(\d+) requests in (\S+), (\S+) read$`)
	wrkSocket   = regexp.MustCompile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$`)
	wrkRate     = regexp.MustCompile(`^Requests/sec:\s+(\d+\.\d+)$`) // hey's too
	wrkStatus   = regexp.MustCompile(`^Non-2xx or 3xx responses: (\d+)$`)
)

// wrkResult is one output of wrk or wrk2 as far as it has been read.
type wrkResult struct {
	conns            int
	latency          bench.Latencies
	requests, status int64
	elapsed          time.Duration
	failed           map[bench.ErrorKind]int64
	uncorrected      bool // what follows are wrk2's latencies from the sending, not from when a request was due
}

// readWrk reads what wrk and wrk2 print; several outputs in one file are several steps. wrk takes
// answers with any status into its latencies.
func readWrk(f Source) (steps []bench.StepResult, err error) {
	var r *wrkResult
	flush := func() error {
		if r == nil {
			return nil
		}
		if len(steps) == maxEntries {
			return fmt.Errorf("more than %d results", maxEntries)
		}
		s, err := totals(conns(r.conns), r.requests-r.status, r.failed, r.elapsed, r.latency)
		s.Step.Connections = r.conns
		steps = append(steps, s)
		r = nil
		return err
	}
	err = lines(f.Data, func(line string) error {
		if strings.HasPrefix(line, "Running ") && strings.Contains(line, " test @ ") {
			if err := flush(); err != nil {
				return err
			}
			r = &wrkResult{failed: map[bench.ErrorKind]int64{}}
			return nil
		}
		if r == nil {
			return nil
		}
		return r.line(line)
	})
	if err != nil {
		return nil, err
	}
	if err := flush(); err != nil {
		return nil, fmt.Errorf("at the end: %w", err)
	}
	if len(steps) == 0 {
		return nil, errors.New(`no line begins with "Running "`)
	}
	return steps, nil
}

func (r *wrkResult) line(line string) (err error) {
	if m := wrkConns.FindStringSubmatch(line); m != nil {
		r.conns, err = strconv.Atoi(m[1])
		return err
	}
	if m := wrkLatency.FindStringSubmatch(line); m != nil {
		return durations(map[*time.Duration]string{&r.latency.Mean: m[1], &r.latency.SD: m[2], &r.latency.Max: m[3]})
	}
	if strings.HasPrefix(line, "Latency Distribution") {
		r.uncorrected = strings.Contains(line, "Uncorrected")
		return nil
	}
	if m := wrkQuantile.FindStringSubmatch(line); m != nil && !r.uncorrected {
		return quantile(&r.latency, m[1], m[2])
	}
	if m := wrkTotal.FindStringSubmatch(line); m != nil {
		if r.requests, err = integer(m[1]); err != nil {
			return err
		}
		return durations(map[*time.Duration]string{&r.elapsed: m[2]})
	}
	if m := wrkSocket.FindStringSubmatch(line); m != nil {
		for i, kind := range []bench.ErrorKind{bench.ErrOther, bench.ErrReset, bench.ErrReset, bench.ErrTimeout} {
			n, err := integer(m[i+1])
			if err != nil {
				return err
			}
			r.failed[kind] += n
		}
	}
	if m := wrkRate.FindStringSubmatch(line); m != nil {
		r.elapsed, err = finer(r.elapsed, r.requests, m[1])
		return err
	}
	if m := wrkStatus.FindStringSubmatch(line); m != nil {
		if r.status, err = integer(m[1]); err != nil {
			return err
		}
		r.failed[bench.ErrOther] += r.status
	}
	return nil
}

// finer is the time that n requests take at the printed rate, which has more digits than the time.
func finer(elapsed time.Duration, n int64, rate string) (time.Duration, error) {
	x, err := strconv.ParseFloat(rate, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no rate", safe.Line(rate, 40))
	}
	d := elapsedOf(n, x)
	if (d - elapsed).Abs() > 10*time.Millisecond { // they contradict each other, or there was no request: the time is what was measured
		return elapsed, nil
	}
	return d, nil
}

// quantile keeps one quantile of a distribution; those that results have no place for are left out.
func quantile(l *bench.Latencies, percent, value string) error {
	p, err := strconv.ParseFloat(percent, 64)
	if err != nil {
		return fmt.Errorf("%q is no percentile", safe.Line(percent, 40))
	}
	at := map[float64]*time.Duration{50: &l.P50, 75: &l.P75, 90: &l.P90, 95: &l.P95, 99: &l.P99, 99.9: &l.P999}[p]
	if at == nil {
		return nil
	}
	return durations(map[*time.Duration]string{at: value})
}

func durations(all map[*time.Duration]string) error {
	for at, s := range all {
		var err error
		if *at, err = unitDuration(s); err != nil {
			return err
		}
	}
	return nil
}

func integer(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > maxCount {
		return 0, fmt.Errorf("%q is no count", safe.Line(s, 40))
	}
	return n, nil
}

var (
	heyValue    = regexp.MustCompile(`^(Total|Slowest|Fastest|Average):\s+(\d+\.\d+ secs)$`)
	heyQuantile = regexp.MustCompile(`^(\d+)%+ in (\d+\.\d+ secs)$`)
	heyCount    = regexp.MustCompile(`^\[(\d+)\]\s+(.+)$`)
)

// readHey reads what hey prints. Its own total of requests is that of the answers.
func readHey(f Source) ([]bench.StepResult, error) {
	var l bench.Latencies
	var elapsed time.Duration
	var succeeded int64
	failed := map[bench.ErrorKind]int64{}
	section, summaries, rate := "", 0, ""
	err := lines(f.Data, func(line string) error {
		if strings.HasSuffix(line, ":") {
			section = line
			if line == "Summary:" {
				summaries++
			}
		}
		if summaries > 1 {
			return errors.New("a second result: one file for each")
		}
		if m := heyValue.FindStringSubmatch(line); m != nil {
			at := map[string]*time.Duration{"Total": &elapsed, "Slowest": &l.Max, "Fastest": &l.Min, "Average": &l.Mean}[m[1]]
			return durations(map[*time.Duration]string{at: m[2]})
		}
		if m := wrkRate.FindStringSubmatch(line); m != nil {
			rate = m[1]
		}
		if m := heyQuantile.FindStringSubmatch(line); m != nil {
			return quantile(&l, m[1], m[2])
		}
		m := heyCount.FindStringSubmatch(line)
		if m == nil {
			return nil
		}
		switch section {
		case "Status code distribution:":
			n, err := integer(strings.TrimSuffix(m[2], " responses"))
			status, statusErr := strconv.Atoi(m[1])
			if err != nil || statusErr != nil {
				return errors.Join(err, statusErr)
			}
			if kind := kindOf(status); kind != "" {
				failed[kind] += n
			} else {
				succeeded += n
			}
		case "Error distribution:":
			n, err := integer(m[1])
			if err != nil {
				return err
			}
			failed[errorKind(m[2])] += n
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rate != "" {
		if elapsed, err = finer(elapsed, succeeded+bench.Load{Failed: failed}.FailedTotal(), rate); err != nil {
			return nil, err
		}
	}
	return one(totals("hey", succeeded, failed, elapsed, l))
}

func errorKind(words string) bench.ErrorKind {
	words = strings.ToLower(words)
	for _, k := range []struct {
		word string
		kind bench.ErrorKind
	}{{"refused", bench.ErrRefused}, {"timeout", bench.ErrTimeout}, {"timed out", bench.ErrTimeout}, {"deadline", bench.ErrTimeout}, {"reset", bench.ErrReset}, {"eof", bench.ErrReset}, {"broken pipe", bench.ErrReset}} {
		if strings.Contains(words, k.word) {
			return k.kind
		}
	}
	return bench.ErrOther
}
