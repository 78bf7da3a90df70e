package bench

import (
	"encoding/json"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Warnings that were read from any file are the same after writing and reading them again.
func FuzzWarnings(f *testing.F) {
	for _, seed := range []string{`["client-bound: 2 of 8",{"kind":"late","text":"x","values":{"late":1e300}}]`, `[null]`, `[{}]`, `["… of … requests that were scheduled were dropped"]`,
		`[{"kind":"client_bound"}]`, `["\ud800 of the readings in between failed"]`, `[{"values":{"a":0}}]`, `null`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Warnings
		if json.Unmarshal(data, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		testenv.OK(t, err)
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		testenv.Need(t, len(first) == len(second), "%+v, then %+v", first, second)
		for i, one := range first {
			if two := second[i]; one.Kind != two.Kind || one.Text != two.Text || len(one.Values) != len(two.Values) {
				t.Errorf("%+v, then %+v", one, two)
			}
		}
	})
}
