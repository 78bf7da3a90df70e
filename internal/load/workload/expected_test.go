package workload

import (
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// An empty value and null are not saved.
func TestEmptyValuesAreNotSaved(t *testing.T) {
	for body, want := range map[string]string{
		`{"t":""}`: "the value of t is empty", `{"t":null}`: "the value of t is null", `{"t":"null"}`: "", `{"t":0}`: "",
	} {
		for _, use := range []values.Use{{}, {JSON: true}} {
			s, err := newSave(bench.Save{Name: "t", From: bench.FromJSON, Of: "t"}, 0, use)
			if err != nil {
				t.Fatal(err)
			}
			err = s.take(Response{Body: []byte(body)}, &slot{})
			if err == nil {
				err = errors.New("")
			}
			if use.JSON && body == `{"t":"null"}` {
				continue
			}
			if err.Error() != want {
				t.Errorf("%s: %v, want %q", body, err, want)
			}
		}
	}
}
