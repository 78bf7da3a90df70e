package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contact"
	"locbench/internal/elastic/store"
	"locbench/internal/locations/dataset"
	"locbench/internal/locations/suites"
	"locbench/services/go-nethttp/locations"
)

// The goal of the bundled suite: green for the reference contender over the bundled data.

// TestLocationsOnEmbedded fills the embedded store with what the suite speaks of and some of the
// rest: its rules hold as they do over all of the data (TestLocationsOnElasticsearch).
func TestLocationsOnEmbedded(t *testing.T) {
	elastic := embeddedStore(t)
	text, err := suites.FS.ReadFile("locations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spoken := map[string]bool{}
	for _, id := range regexp.MustCompile(`\d{4,}`).FindAllString(string(text), -1) {
		spoken[id] = true
	}
	cities := 0
	n := fill(t, elastic, "", func(index string, doc bench.Document) bool {
		if index != dataset.CityIndex || spoken[doc.ID] || bytes.Contains(doc.Source, []byte(`"isFeatured":true`)) || bytes.Contains(doc.Source, []byte(`"New`)) {
			return true
		}
		cities++
		return cities%40 == 0
	})
	if n < 400 || n > 800 {
		t.Errorf("%d documents", n)
	}
	allGreen(t, serve(t, elastic))
}

func embeddedStore(t *testing.T) (url string) {
	t.Helper()
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL()
}

func allGreen(t *testing.T, baseURL string) {
	t.Helper()
	suite, err := LoadSuite("locations")
	if err != nil {
		t.Fatal(err)
	}
	results, err := HTTP(t.Context(), Options{BaseURL: baseURL, Suite: suite})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != suite.Len() || len(results) < 100 {
		t.Errorf("%d results of %d checks", len(results), suite.Len())
	}
	for _, r := range results {
		if r.Status != bench.CheckPassed {
			t.Errorf("%s: %s (%s): %s %s", r.Group, r.Name, r.Request, r.Status, r.Detail)
		}
	}
}

// serve runs the reference contender until the test ends and returns its URL.
func serve(t *testing.T, storeURL string) string {
	t.Helper()
	port := freePort(t)
	env := map[string]string{"ELASTICSEARCH_URL": storeURL, "PORT": fmt.Sprint(port), "ACCESS_LOG": "off"}
	cfg, err := locations.ConfigFromEnv(func(k string) string { return env[k] }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- locations.Run(ctx, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	client := contact.Way{}.Client()
	defer client.CloseIdleConnections()
	if !poll(ctx, 10*time.Second, func() bool { _, err := get(ctx, client, base+"/"); return err == nil }) {
		t.Fatal("the service does not answer")
	}
	return base
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// fill loads those of the bundled documents that are to be kept into indices of its own, which are
// removed when the test ends, and says how many they are.
func fill(t *testing.T, elastic, prefix string, keep func(index string, doc bench.Document) bool) (documents int) {
	t.Helper()
	set, err := dataset.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range set.Indices() {
		name := elastic + "/" + prefix + index.Name
		t.Cleanup(func() { send(t, http.MethodDelete, name, nil) })
		send(t, http.MethodPut, name, index.Mapping)
		var bulk bytes.Buffer
		flush := func() {
			if bulk.Len() == 0 {
				return
			}
			if answer := send(t, http.MethodPost, name+"/_bulk?filter_path=errors", bulk.Bytes()); !strings.Contains(answer, `"errors":false`) {
				t.Fatalf("bulk into %s: %s", name, answer)
			}
			bulk.Reset()
		}
		for doc, err := range set.Documents(index.Name) {
			if err != nil {
				t.Fatal(err)
			}
			if !keep(index.Name, doc) {
				continue
			}
			documents++
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", doc.ID, doc.Source)
			if bulk.Len() > 4<<20 {
				flush()
			}
		}
		flush()
		send(t, http.MethodPost, name+"/_refresh", nil)
	}
	return documents
}

func send(t *testing.T, method, url string, body []byte) string {
	t.Helper()
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s", method, url, resp.Status, answer)
	}
	return string(answer)
}
