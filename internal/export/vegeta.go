package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

// csvEncoder writes CSV whose text no spreadsheet takes for a formula.
func csvEncoder(w io.Writer) vegeta.Encoder {
	encode := vegeta.NewCSVEncoder(w)
	return func(r *vegeta.Result) error {
		plain := *r
		for _, text := range []*string{&plain.Error, &plain.Attack, &plain.Method, &plain.URL} {
			*text = safe.Cell(*text)
		}
		return encode(&plain)
	}
}

func vegetaFiles(suffix string, enc func(io.Writer) vegeta.Encoder) func(bench.Run, []bench.LegResult, Options) ([]File, error) {
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
func (q *requests) write(w io.Writer, enc func(io.Writer) vegeta.Encoder) error {
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
