package export

import (
	"fmt"
	"io"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
)

// csvEncoder writes CSV with text that no spreadsheet takes for a formula.
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

func vegetaFiles(suffix string, enc func(io.Writer) vegeta.Encoder) filesOf {
	write := func(run bench.Run, trial bench.TrialResult, s bench.StepResult) (func(io.Writer) error, error) {
		if s.Load.Succeeded+s.Load.FailedTotal() <= 0 {
			return nil, nil
		}
		q, err := newRequests(run, trial, s)
		return func(w io.Writer) error { return q.write(w, enc) }, err
	}
	files := perStep(suffix, write)
	return func(run bench.Run, trials []bench.TrialResult, opt Options) ([]File, error) {
		limit := opt.MaxRequests
		if limit <= 0 {
			limit = DefaultMaxRequests
		}
		var total int64
		for _, trial := range trials {
			for _, s := range trial.Steps {
				total += max(s.Load.Succeeded+s.Load.FailedTotal(), 0)
			}
		}
		if total > limit {
			return nil, fmt.Errorf("%d requests (about %d MB): at most %d are written; "+
				"choose a --trial and --step, or use --max-requests %d", total, total*300/1_000_000, limit, total)
		}
		return files(run, trials, opt)
	}
}
