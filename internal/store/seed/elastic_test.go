//go:build acceptance

package seed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// renamed is a data set whose index names have a test's prefix, so it can share an Elasticsearch
// with others.
type renamed struct {
	bench.DataSet
	prefix string
	only   string // the only index; "": all
	hash   string // appended to the set's hash
}

func (r renamed) Info() bench.DataInfo {
	info := r.DataSet.Info()
	info.Hash += r.hash
	return info
}

func (r renamed) Indices() (all []bench.Index) {
	for _, index := range r.DataSet.Indices() {
		if r.only == "" || r.only == index.Name {
			index.Name = r.prefix + index.Name
			all = append(all, index)
		}
	}
	return all
}

func (r renamed) Documents(index string) iter.Seq2[bench.Document, error] {
	return r.DataSet.Documents(strings.TrimPrefix(index, r.prefix))
}

// prefix returns a prefix for index names of one test, and removes those indices at its end.
func prefix(t testing.TB, url string) string {
	p := fmt.Sprintf("locbench-test-%d-", rand.Uint32())
	t.Cleanup(func() {
		for index := range request(t, http.MethodGet, url+"/"+p+"*/_alias", "") { // by name: a cluster may forbid to delete by pattern
			response := request(t, http.MethodDelete, url+"/"+index, "")
			testenv.Check(t, response["acknowledged"] == true, "index %s stays: %v", index, response)
		}
	})
	return p
}

func request(t testing.TB, method, url, body string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req := testenv.Must(http.NewRequestWithContext(ctx, method, url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp := testenv.Must(client.Do(req))(t)
	defer resp.Body.Close()
	data := testenv.Must(io.ReadAll(resp.Body))(t)
	var response map[string]any
	if err := json.Unmarshal(data, &response); err != nil {
		t.Fatalf("%s %s: %q: %v", method, url, data, err)
	}
	return response
}

func hits(t testing.TB, url, query string) (ids []string) {
	t.Helper()
	response := request(t, http.MethodPost, url, query)
	outer, ok := response["hits"].(map[string]any)
	testenv.Need(t, ok, "search: %v", response)
	for _, hit := range outer["hits"].([]any) {
		ids = append(ids, hit.(map[string]any)["_id"].(string))
	}
	return ids
}
