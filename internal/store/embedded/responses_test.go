package embedded_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

const goldenFile = "testdata/responses.golden"

// TestResponses sends requests over the bundled data as the contenders send them. Their responses
// were recorded from an earlier store that computed as Lucene does and gave those of Elasticsearch
// 7.10.2. A line has the status; then the error's type, or the documents in their order, and a hash
// of all sources.
func TestResponses(t *testing.T) {
	set, cities := bundled(t)
	_, do := open(t, set)
	var got strings.Builder
	asked := questions(cities)
	for _, q := range asked {
		status, body := do(method(q), q.path, q.body)
		fmt.Fprintf(&got, "%d %s\n", status, digest(t, body))
	}
	if *testenv.Update {
		testenv.OK(t, os.WriteFile(goldenFile, []byte(got.String()), 0o644))
	}
	golden := testenv.Must(os.ReadFile(goldenFile))(t)
	want, wrong := strings.Split(string(golden), "\n"), 0
	for i, line := range strings.Split(got.String(), "\n") {
		if i < len(want) && line == want[i] {
			continue
		}
		if wrong++; wrong <= 10 && i < len(want) && i < len(asked) {
			t.Errorf("%s: %s %s\n got: %s\nwant: %s", asked[i].kind, asked[i].path, asked[i].body, line, want[i])
		}
	}
	testenv.Check(t, wrong == 0 && len(want) == len(asked)+1, "%d of %d responses differ; %d lines in %s", wrong,
		len(asked), len(want), goldenFile)
}

// digest returns the part of a response that the golden file keeps.
func digest(t *testing.T, body string) string {
	var a response
	testenv.Need(t, json.Unmarshal([]byte(body), &a) == nil, "not JSON: %s", body)
	if a.Error != nil {
		return a.Error.Type
	}
	sum := fnv.New32a()
	if a.Hits == nil {
		sum.Write([]byte(body))
		return fmt.Sprintf("%08x", sum.Sum32())
	}
	var ids []string
	for _, h := range a.Hits.Hits {
		ids = append(ids, h.ID)
		sum.Write(h.Source)
	}
	return fmt.Sprintf("%s %08x", strings.Join(ids, ","), sum.Sum32())
}

// response is what contenders may read of a response.
type response struct {
	Error *struct{ Type string }
	Hits  *struct {
		Hits []struct {
			ID     string          `json:"_id"`
			Source json.RawMessage `json:"_source"`
		}
	}
}

func method(q question) string {
	if q.body != "" {
		return http.MethodPost
	}
	return http.MethodGet
}
