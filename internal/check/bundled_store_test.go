//go:build acceptance && store

package check

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

func TestLocationsOnElasticsearch(t *testing.T) {
	elastic := testenv.Elasticsearch(t)
	prefix := fmt.Sprintf("locbench-check-%d-", os.Getpid())
	fill(t, elastic, prefix, all)
	allGreen(t, serve(t, renaming(t, elastic, prefix)))
}

// TestLocationsOnEmbeddedWhole is TestLocationsOnEmbedded over all of the data.
func TestLocationsOnEmbeddedWhole(t *testing.T) {
	elastic := embeddedStore(t)
	fill(t, elastic, "", all)
	allGreen(t, serve(t, elastic))
}

func all(string, bench.Document) bool { return true }

// renaming stands before an Elasticsearch that others use as well: the contender asks for the
// indices city and region, and gets those of this test.
func renaming(t *testing.T, elastic, prefix string) string {
	t.Helper()
	target, err := url.Parse(elastic)
	if err != nil {
		t.Fatal(err)
	}
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
