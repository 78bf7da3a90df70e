package export

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// Result is one request as vegeta keeps it. The names of the fields and keys are vegeta's: its
// binary format is gob, which goes by them.
type Result struct {
	Attack    string              `json:"attack"`
	Seq       uint64              `json:"seq"`
	Code      uint16              `json:"code"`
	Timestamp time.Time           `json:"timestamp"`
	Latency   time.Duration       `json:"latency"`
	BytesOut  uint64              `json:"bytes_out"`
	BytesIn   uint64              `json:"bytes_in"`
	Error     string              `json:"error"`
	Body      []byte              `json:"body"`
	Method    string              `json:"method"`
	URL       string              `json:"url"`
	Headers   map[string][]string `json:"headers"`
}

type encoder func(io.Writer) func(*Result) error

func gobEncoder(w io.Writer) func(*Result) error {
	e := gob.NewEncoder(w)
	return func(r *Result) error { return e.Encode(r) }
}

func jsonEncoder(w io.Writer) func(*Result) error {
	e := json.NewEncoder(w)
	return func(r *Result) error { return e.Encode(r) }
}

func csvEncoder(w io.Writer) func(*Result) error {
	out := safe.NewTable(w)
	return func(r *Result) error {
		err := out.Write(r.Timestamp.UnixNano(), r.Code, int64(r.Latency), r.BytesOut, r.BytesIn, r.Error, nil, r.Attack, r.Seq, r.Method, r.URL, nil)
		return cmp.Or(err, out.Flush())
	}
}

func vegetaFiles(suffix string, enc encoder) func(bench.Run, []bench.LegResult, Options) ([]File, error) {
	return func(run bench.Run, legs []bench.LegResult, opt Options) (files []File, err error) {
		limit := opt.MaxRequests
		if limit <= 0 {
			limit = DefaultMaxRequests
		}
		var total int64
		for _, leg := range legs {
			for _, s := range leg.Steps {
				total += max(s.Load.Succeeded+s.Load.FailedTotal(), 0)
			}
		}
		if total > limit {
			return nil, fmt.Errorf("%d requests are one line each, about %d MB, and at most %d are written: choose one --leg and --step, or allow more by --max-requests %d",
				total, total*300/1_000_000, limit, total)
		}
		for _, leg := range legs {
			for _, s := range leg.Steps {
				if s.Load.Succeeded+s.Load.FailedTotal() <= 0 {
					continue
				}
				q, err := newRequests(run, leg, s)
				if err != nil {
					return nil, fmt.Errorf("leg %s, step %d: %w", leg.Leg, s.Index+1, err)
				}
				files = append(files, File{stepFile(leg, s, suffix), func(w io.Writer) error { return q.write(w, enc) }})
			}
		}
		return files, nil
	}
}

// write writes all requests in the order of their time, which vegeta's plot needs.
func (q *requests) write(w io.Writer, enc encoder) error {
	if q.total > maxWritten {
		return fmt.Errorf("%d requests are too many to write one by one", q.total)
	}
	type moment struct {
		at    time.Duration // since the start
		index int64
	}
	order := make([]moment, q.total)
	for i := range order {
		r := q.at(int64(i))
		order[i] = moment{r.Timestamp.Sub(q.load.Started), int64(i)}
	}
	slices.SortFunc(order, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index)) })
	out := bufio.NewWriterSize(w, 1<<16)
	encode := enc(out)
	for seq, m := range order {
		r := q.at(m.index)
		r.Seq = uint64(seq)
		if err := encode(&r); err != nil {
			return err
		}
	}
	return out.Flush()
}

// maxWritten bounds the memory of sorting, and keeps products of indices in range.
const maxWritten = 1 << 28
