//go:build acceptance

package embedded_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

// seed creates the index in an Elasticsearch and loads the cities with a single worker, since ties
// are ordered by arrival.
func seed(t testing.TB, base, index string, set dataset.Set) {
	t.Helper()
	mapping := bytes.Replace(dataset.CityMapping(), []byte(`"number_of_replicas":0`), []byte(`"number_of_replicas":0,"refresh_interval":"-1"`), 1)
	mustCall(t, http.MethodPut, base+"/"+index, string(mapping))
	var body strings.Builder
	load := func() {
		testenv.Contains(t, mustCall(t, http.MethodPost, base+"/"+index+"/_bulk?filter_path=errors", body.String()),
			`"errors":false`)
		body.Reset()
	}
	for doc, err := range set.Documents(dataset.CityIndex) {
		testenv.OK(t, err)
		fmt.Fprintf(&body, `{"create":{"_id":%q}}`+"\n%s\n", doc.ID, doc.Source)
		if body.Len() > 4<<20 {
			load()
		}
	}
	load()
	mustCall(t, http.MethodPost, base+"/"+index+"/_refresh", "")
}

func call(t testing.TB, method, url, body string) (int, string) {
	t.Helper()
	req := testenv.Must(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(url, "_bulk") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp := testenv.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	response := testenv.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(response)
}

func mustCall(t testing.TB, method, url, body string) string {
	t.Helper()
	status, response := call(t, method, url, body)
	testenv.Need(t, status/100 == 2, "%s %s: %d %.500s", method, url, status, response)
	return response
}
