//go:build acceptance && store

package check

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

func TestLocationsOnElasticsearch(t *testing.T) {
	elastic := testenv.Elasticsearch(t)
	prefix := fmt.Sprintf("locbench-check-%d-", os.Getpid())
	fill(t, elastic, prefix)
	allGreen(t, serve(t, renaming(t, elastic, prefix)))
}

// TestLocationsOnEmbeddedWhole is TestLocationsOnEmbedded with all of the data.
func TestLocationsOnEmbeddedWhole(t *testing.T) {
	set := testenv.Must(dataset.Bundled())(t)
	allGreen(t, serve(t, embeddedStore(t, set)))
}

// renaming is a proxy of a shared Elasticsearch: requests of the contender for the indices city and
// region go to those of this test.
func renaming(t *testing.T, elastic, prefix string) string {
	t.Helper()
	target := testenv.Must(url.Parse(elastic))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if r.In.URL.Path != "/" {
			r.Out.URL.Path = "/" + prefix + strings.TrimPrefix(r.In.URL.Path, "/")
		}
		r.SetURL(target)
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// fill loads the bundled documents into new indices, which are removed when the test ends.
func fill(t *testing.T, elastic, prefix string) {
	t.Helper()
	set := testenv.Must(dataset.Bundled())(t)
	for _, index := range set.Indices() {
		name := elastic + "/" + prefix + index.Name
		t.Cleanup(func() { send(t, http.MethodDelete, name, nil) })
		send(t, http.MethodPut, name, index.Mapping)
		var bulk bytes.Buffer
		flush := func() {
			if bulk.Len() == 0 {
				return
			}
			response := send(t, http.MethodPost, name+"/_bulk?filter_path=errors", bulk.Bytes())
			testenv.Need(t, strings.Contains(response, `"errors":false`), "bulk into %s: %s", name, response)
			bulk.Reset()
		}
		for doc, err := range set.Documents(index.Name) {
			testenv.OK(t, err)
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", doc.ID, doc.Source)
			if bulk.Len() > 4<<20 {
				flush()
			}
		}
		flush()
		send(t, http.MethodPost, name+"/_refresh", nil)
	}
}

func send(t *testing.T, method, url string, body []byte) string {
	t.Helper()
	req := testenv.Must(http.NewRequest(method, url, bytes.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	resp := testenv.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	response, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	testenv.Need(t, resp.StatusCode == http.StatusOK, "%s %s: %s %s", method, url, resp.Status, response)
	return string(response)
}
