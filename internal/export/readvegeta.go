package export

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"locbench/internal/bench"
)

// isVegeta knows vegeta's binary results by the definition of their type, which comes first.
func isVegeta(f Source) bool {
	first := f.Data[:min(len(f.Data), 256)]
	return bytes.Contains(first, []byte("\x06Result\x01")) && bytes.Contains(first, []byte("\x06Attack\x01"))
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
func readVegeta(f Source) (steps []bench.StepResult, err error) {
	decoder := gob.NewDecoder(bytes.NewReader(f.Data))
	var all []sample
	name := ""
	for {
		var r vegetaResult
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", len(all)+1, err)
		}
		if len(all) == maxRequests {
			return nil, fmt.Errorf("more than %d requests", maxRequests)
		}
		s, err := vegetaSample(Result{Code: r.Code, Timestamp: r.Timestamp.UTC(), Latency: r.Latency, BytesIn: r.BytesIn, Error: r.Error})
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", len(all)+1, err)
		}
		all, name = append(all, s), r.Attack
	}
	s, err := stepOf(attackName(name), all)
	return []bench.StepResult{s}, err
}
