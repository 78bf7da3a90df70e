//go:build acceptance && store

package embedded_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
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

	questions := slices.DeleteFunc(questions(cities), func(q question) bool { return strings.HasPrefix(q.path, "/region/") })
	diffs := make([]string, len(questions))
	t.Run("ask", func(t *testing.T) {
		const askers = 4
		for asker := range askers {
			t.Run(fmt.Sprint(asker), func(t *testing.T) {
				t.Parallel()
				for i := asker; i < len(questions); i += askers {
					q := questions[i]
					wantStatus, want := call(t, method(q), real+strings.Replace(q.path, "/city/", "/"+index+"/", 1), q.body)
					gotStatus, got := call(t, method(q), fake+q.path, q.body)
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

// compare describes how got differs from want; "" if it does not.
func compare(wantStatus int, want string, gotStatus int, got string) string {
	if wantStatus != gotStatus {
		return fmt.Sprintf("status %d, Elasticsearch %d\n got: %.300s\nwant: %.300s", gotStatus, wantStatus, got, want)
	}
	var w, g response
	if err := errors.Join(json.Unmarshal([]byte(want), &w), json.Unmarshal([]byte(got), &g)); err != nil {
		return err.Error() + ": " + got
	}
	switch {
	case w.Error != nil:
		if g.Error == nil || *g.Error != *w.Error {
			return "other error: " + got
		}
		return ""
	case w.Hits == nil:
		return sameJSON(want, got)
	case g.Hits == nil:
		return "no hits: " + got
	}
	ids := func(r response) (ids []string) {
		for _, h := range r.Hits.Hits {
			ids = append(ids, h.ID)
		}
		return ids
	}
	if !slices.Equal(ids(w), ids(g)) {
		return fmt.Sprintf("documents %v, Elasticsearch %v", ids(g), ids(w))
	}
	for i, h := range w.Hits.Hits {
		if diff := sameJSON(string(h.Source), string(g.Hits.Hits[i].Source)); diff != "" {
			return diff
		}
	}
	return ""
}

// sameJSON ignores spaces and the spelling of numbers.
func sameJSON(want, got string) string {
	var w, g any
	if err := errors.Join(json.Unmarshal([]byte(want), &w), json.Unmarshal([]byte(got), &g)); err != nil {
		return err.Error() + ": " + got
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Sprintf(" got: %.400s\nwant: %.400s", got, want)
	}
	return ""
}
