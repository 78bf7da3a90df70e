//go:build acceptance && store

package embedded_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestServer_AsElasticsearch fills a real Elasticsearch 7.10.2 and the embedded store with
// the bundled data and sends both the same queries: all responses must have the same status and the
// same documents in the same order.
func TestServer_AsElasticsearch(t *testing.T) {
	real := testenv.Elasticsearch(t)
	set, cities := bundled(t)
	server, _ := open(t, set)
	fake := testenv.Must(server.Listen("127.0.0.1:0"))(t)
	index := fmt.Sprintf("locbench-store-test-%d", os.Getpid())
	defer http.DefaultClient.CloseIdleConnections()
	defer call(t, http.MethodDelete, real+"/"+index, "")
	seed(t, real, index, set)

	questions := questions(cities)
	diffs := make([]string, len(questions))
	t.Run("ask", func(t *testing.T) {
		const askers = 4
		for asker := range askers {
			t.Run(fmt.Sprint(asker), func(t *testing.T) {
				t.Parallel()
				for i := asker; i < len(questions); i += askers {
					q := questions[i]
					wantStatus, want := call(t, method(q), real+strings.ReplaceAll(q.path, "{index}", index), q.body)
					gotStatus, got := call(t, method(q), fake+strings.ReplaceAll(q.path, "{index}", "city"), q.body)
					diffs[i] = compare(wantStatus, want, gotStatus, got)
				}
			})
		}
	})
	asked, wrong := map[string]int{}, map[string]int{}
	for i, q := range questions {
		asked[q.kind]++
		if diffs[i] != "" {
			if wrong[q.kind]++; wrong[q.kind] <= 3 {
				t.Errorf("%s: %s %s\n%s", q.kind, q.path, q.body, diffs[i])
			}
		}
	}
	t.Logf("%d questions: %v; of these different: %v", len(questions), asked, wrong)
	testenv.Check(t, len(questions) >= 500, "only %d questions", len(questions))
}

type response struct {
	Error *struct{ Type string }
	Hits  *struct {
		Total    struct{ Value int }
		MaxScore *float64 `json:"max_score"`
		Hits     []struct {
			ID     string   `json:"_id"`
			Score  *float64 `json:"_score"`
			Sort   []any
			Source json.RawMessage `json:"_source"`
		}
	}
}

// compare describes how got differs from want; "" if it does not.
func compare(wantStatus int, want string, gotStatus int, got string) string {
	if wantStatus != gotStatus {
		return fmt.Sprintf("status %d, Elasticsearch %d\n got: %.300s\nwant: %.300s", gotStatus, wantStatus, got, want)
	}
	var w, g response
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return "Elasticsearch: " + err.Error()
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return err.Error() + ": " + got
	}
	if w.Error != nil {
		if g.Error == nil {
			return "no error: " + got
		}
		return ""
	}
	if w.Hits == nil {
		return sameJSON(want, got)
	}
	if g.Hits == nil {
		return "no hits: " + got
	}
	if w.Hits.Total.Value != g.Hits.Total.Value || !near(w.Hits.MaxScore, g.Hits.MaxScore) {
		return fmt.Sprintf("total %d, Elasticsearch %d", g.Hits.Total.Value, w.Hits.Total.Value) + lists(w, g)
	}
	if len(w.Hits.Hits) != len(g.Hits.Hits) {
		return "number of hits" + lists(w, g)
	}
	for i, h := range w.Hits.Hits {
		o := g.Hits.Hits[i]
		if h.ID != o.ID || !near(h.Score, o.Score) || len(h.Sort) != len(o.Sort) {
			return fmt.Sprintf("hit %d", i) + lists(w, g)
		}
		for j := range h.Sort {
			a, isNumber := h.Sort[j].(float64)
			b, both := o.Sort[j].(float64)
			if (isNumber && both && !near(&a, &b)) || (!isNumber && h.Sort[j] != o.Sort[j]) {
				return fmt.Sprintf("hit %d: sort %v, Elasticsearch %v", i, o.Sort, h.Sort)
			}
		}
		if diff := sameJSON(string(h.Source), string(o.Source)); diff != "" {
			return diff
		}
	}
	return ""
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-6*math.Abs(*a)+1e-9
}

// sameJSON ignores spaces, the spelling of numbers and the counters of writes of a document.
func sameJSON(want, got string) string {
	var w, g any
	if json.Unmarshal([]byte(want), &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		if want == got {
			return ""
		}
		return "not JSON: " + got
	}
	for _, v := range []any{w, g} {
		if m, ok := v.(map[string]any); ok && m["_index"] != nil {
			delete(m, "_seq_no")
			delete(m, "_index")
		}
	}
	a, _ := json.Marshal(w)
	b, _ := json.Marshal(g)
	if !bytes.Equal(a, b) {
		return fmt.Sprintf(" got: %.400s\nwant: %.400s", b, a)
	}
	return ""
}

func lists(w, g response) string {
	var b strings.Builder
	for _, a := range []struct {
		who string
		response
	}{{"Elasticsearch", w}, {"embedded     ", g}} {
		fmt.Fprintf(&b, "\n%s", a.who)
		for i, h := range a.Hits.Hits {
			if i == 10 {
				break
			}
			fmt.Fprintf(&b, " %s", h.ID)
			if h.Score != nil {
				fmt.Fprintf(&b, "(%v)", *h.Score)
			}
		}
	}
	return b.String()
}
