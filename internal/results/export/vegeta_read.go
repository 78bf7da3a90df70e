package export

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// maxBody is more than any response has, in bytes; a million of them can be added without overflow.
const maxBody = 1 << 40

// isVegeta reports whether f begins with a result of vegeta: gob, JSON or CSV without a header.
func isVegeta(f source) bool {
	switch {
	case isGob(f.data):
		return true
	case bytes.HasPrefix(f.data, []byte("{")):
		line, _, _ := bytes.Cut(f.data, []byte("\n"))
		var keys map[string]json.RawMessage
		if json.Unmarshal(line, &keys) != nil {
			return false
		}
		want := []string{"attack", "seq", "code", "timestamp", "latency", "bytes_out", "bytes_in", "error"}
		return !slices.ContainsFunc(want, func(key string) bool { return keys[key] == nil })
	}
	var r vegeta.Result
	if vegeta.NewCSVDecoder(bytes.NewReader(f.data))(&r) != nil {
		return false
	}
	_, err := sampleOf(r)
	return err == nil
}

// isGob reports whether data begins with the gob type of vegeta's binary results.
func isGob(data []byte) bool {
	head := data[:min(len(data), 256)]
	return bytes.Contains(head, []byte("\x06Result\x01")) && bytes.Contains(head, []byte("\x06Attack\x01"))
}

// readVegeta reads vegeta's results. Each attack is a step, in the order of the first results.
func readVegeta(f source) (trial bench.TrialResult, err error) {
	decode, lines, err := vegetaDecoder(f.data)
	if err != nil {
		return trial, err
	}
	var names []string
	attacks := map[string][]sample{}
	for n := 1; ; n++ {
		var r vegeta.Result
		err := decode(&r)
		if errors.Is(err, io.EOF) {
			if n > lines && r.Timestamp.IsZero() {
				break
			}
			err = io.ErrUnexpectedEOF // the last result is cut short
		}
		var s sample
		if err == nil {
			s, err = sampleOf(r)
		}
		switch known := attacks[r.Attack] != nil; {
		case err != nil:
		case n > maxRequests:
			err = fmt.Errorf("more than %d results", maxRequests)
		case !known && len(names) == maxEntries:
			err = fmt.Errorf("more than %d attacks", maxEntries)
		case !known:
			names = append(names, r.Attack)
		}
		if err != nil {
			return trial, fmt.Errorf("result %d: %s", n, safe.Line(err.Error(), 300))
		}
		attacks[r.Attack] = append(attacks[r.Attack], s)
	}
	for _, name := range names {
		step, err := stepOf(cmp.Or(safe.Line(name, 60), "vegeta"), attacks[name])
		if err != nil {
			return trial, err
		}
		trial.Steps = append(trial.Steps, step)
	}
	return trial, nil
}

// vegetaDecoder returns vegeta's decoder for data. lines is the number of results in JSON, else 0.
func vegetaDecoder(data []byte) (decode vegeta.Decoder, lines int, err error) {
	switch {
	case isGob(data):
		return vegeta.NewDecoder(bytes.NewReader(data)), 0, skim(data)
	case bytes.HasPrefix(data, []byte("{")):
		// vegeta's decoder ignores a last line without its end, and takes a cut one for the end.
		data = bytes.TrimRight(data, "\r\n\t ")
		whole := io.MultiReader(bytes.NewReader(data), strings.NewReader("\n"))
		return vegeta.NewJSONDecoder(whole), 1 + bytes.Count(data, []byte("\n")), nil
	}
	return vegeta.NewCSVDecoder(bytes.NewReader(data)), 0, nil
}

// skim decodes results in gob without headers and bodies: gob would allocate any stated length.
func skim(data []byte) error {
	decoder := gob.NewDecoder(bytes.NewReader(data))
	for n := 1; n <= maxRequests; n++ {
		var r struct{ Timestamp time.Time }
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("result %d: %s", n, safe.Line(err.Error(), 300))
		}
	}
	return nil
}

// sampleOf returns the sample of a result, or an error if it is implausible.
func sampleOf(r vegeta.Result) (s sample, err error) {
	switch year := r.Timestamp.UTC().Year(); {
	case year < 2000 || year > 2200:
		return s, fmt.Errorf("sent in the year %d: expected nanoseconds since 1970, or RFC 3339", year)
	case r.Latency < 0 || r.Latency > maxElapsed:
		return s, fmt.Errorf("latency of %v", r.Latency)
	case r.BytesIn > maxBody:
		return s, fmt.Errorf("response of %d bytes", r.BytesIn)
	}
	return sample{at: r.Timestamp.UTC(), latency: r.Latency, bytes: int64(r.BytesIn), kind: kindOf(r)}, nil
}

// kindOf returns the kind of error of a request; "" for a success. It follows vegeta's rule, except
// that a response with an error, such as an incomplete body, is a failure with any status.
func kindOf(r vegeta.Result) bench.ErrorKind {
	switch {
	case r.Code >= 200 && r.Code < 400 && r.Error == "":
		return ""
	case r.Code >= 100 && r.Code < 600 && (r.Code < 200 || r.Code >= 400):
		return bench.ErrorKind(string(rune('0'+r.Code/100)) + "xx")
	}
	switch kind := bench.ErrorKind(r.Error); kind {
	case bench.ErrWrong, bench.ErrSave, bench.ErrLink, bench.ErrRepeat, bench.ErrBody, bench.ErrClient: // from an export of locbench
		return kind
	}
	words := strings.ToLower(r.Error)
	for _, k := range []struct {
		word string
		kind bench.ErrorKind
	}{
		{"refused", bench.ErrRefused}, {"timeout", bench.ErrTimeout}, {"timed out", bench.ErrTimeout},
		{"deadline", bench.ErrTimeout}, {"reset", bench.ErrReset}, {"eof", bench.ErrReset}, {"broken pipe", bench.ErrReset},
	} {
		if strings.Contains(words, k.word) {
			return k.kind
		}
	}
	return bench.ErrOther
}
