package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/services/go-nethttp/locations"
)

// The reference contender must pass the bundled suite on the bundled data.

// TestLocationsOnEmbedded fills the embedded store with the documents that the suite needs and some
// of the rest. The suite passes as with all of the data (TestLocationsOnElasticsearch).
func TestLocationsOnEmbedded(t *testing.T) {
	text := testenv.Must(dataset.Suites.ReadFile("suites/locations.yaml"))(t)
	spoken := map[string]bool{}
	for _, id := range regexp.MustCompile(`\d{4,}`).FindAllString(string(text), -1) {
		spoken[id] = true
	}
	cities := 0
	set := some(t, func(index string, doc bench.Document) bool {
		if index != dataset.CityIndex || spoken[doc.ID] || bytes.Contains(doc.Source, []byte(`"isFeatured":true`)) || bytes.Contains(doc.Source, []byte(`"New`)) {
			return true
		}
		cities++
		return cities%40 == 0
	})
	n := 0
	for _, docs := range set.docs {
		n += len(docs)
	}
	testenv.Check(t, n >= 400 && n <= 800, "%d documents", n)
	allGreen(t, serve(t, embeddedStore(t, set)))
}

// embeddedStore returns the URL of a store with the given documents.
func embeddedStore(t *testing.T, set bench.DataSet) (url string) {
	t.Helper()
	s := embedded.New(embedded.Options{})
	t.Cleanup(func() { testenv.OK(t, s.Close()) })
	testenv.OK(t, s.Fill(t.Context(), set, nil))
	return testenv.Must(s.Listen("127.0.0.1:0"))(t)
}

// part has some of the bundled documents.
type part struct {
	bench.DataSet
	docs map[string][]bench.Document
}

// some returns the bundled documents that keep selects.
func some(t *testing.T, keep func(index string, doc bench.Document) bool) part {
	t.Helper()
	set := testenv.Must(dataset.Bundled())(t)
	p := part{set, map[string][]bench.Document{}}
	for _, index := range set.Indices() {
		for doc, err := range set.Documents(index.Name) {
			testenv.OK(t, err)
			if keep(index.Name, doc) {
				doc.Source = bytes.Clone(doc.Source)
				p.docs[index.Name] = append(p.docs[index.Name], doc)
			}
		}
	}
	return p
}

func (p part) Indices() []bench.Index {
	all := p.DataSet.Indices()
	for i := range all {
		all[i].Count = int64(len(p.docs[all[i].Name]))
	}
	return all
}

func (p part) Documents(index string) iter.Seq2[bench.Document, error] {
	return func(yield func(bench.Document, error) bool) {
		for _, doc := range p.docs[index] {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

func allGreen(t *testing.T, baseURL string) {
	t.Helper()
	suite := testenv.Must(LoadSuite("locations"))(t)
	results := testenv.Must(HTTP(t.Context(), Options{BaseURL: baseURL, Suite: suite}))(t)
	testenv.Check(t, len(results) == suite.Len() && len(results) >= 100,
		"%d results of %d checks", len(results), suite.Len())
	for _, r := range results {
		testenv.Equal(t, r.Status, bench.CheckPassed, r.Group, r.Name, r.Request, r.Detail)
	}
}

// serve runs the reference contender until the test ends and returns its URL.
func serve(t *testing.T, storeURL string) string {
	t.Helper()
	port := freePort(t)
	env := map[string]string{"ELASTICSEARCH_URL": storeURL, "PORT": fmt.Sprint(port), "ACCESS_LOG": "off"}
	cfg := testenv.Must(locations.ConfigFromEnv(func(k string) string { return env[k] }, io.Discard))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- locations.Run(ctx, cfg) }()
	t.Cleanup(func() {
		cancel()
		err := <-ended
		testenv.Check(t, err == nil, "the service ended with %v", err)
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	client := contact.Way{}.Client()
	defer client.CloseIdleConnections()
	testenv.Need(t, poll(ctx, 10*time.Second, func() bool { _, err := get(ctx, client, base+"/"); return err == nil }),
		"the service does not respond")
	return base
}

func freePort(t *testing.T) int {
	t.Helper()
	l := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
