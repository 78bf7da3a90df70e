package live

import (
	"bytes"
	"encoding/json"
	"testing"

	"locbench/internal/bench"
)

// FuzzTake folds whatever an event log holds.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{
		`{"seq":1,"type":"leg_started","event":{"number":1,"of":2}}`,
		`{"seq":1,"type":"leg_ended","event":{"state":"complete"}}`,
		`{"seq":1,"leg":{"contender":"x","round":1},"type":"leg_ended","event":{}}` + "\n" + `{"seq":2,"leg":{"contender":"x","round":1},"type":"leg_started","event":{}}`,
		`{"seq":1,"type":"progress","event":{"done":9223372036854775807,"total":1}}`,
		`{"seq":-1,"type":"window_closed","event":{"window":{"length_ns":-1,"succeeded":-1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		h := &hub{changed: make(chan struct{})}
		for line := range bytes.Lines(log) {
			var rec bench.Record
			if json.Unmarshal(line, &rec) != nil {
				continue
			}
			if err := h.take([]bench.Record{rec}); err != nil {
				t.Fatal(err)
			}
		}
		if s, _, _ := h.now(); len(s.Text) > 1000 {
			t.Errorf("%d bytes of text", len(s.Text))
		}
	})
}
