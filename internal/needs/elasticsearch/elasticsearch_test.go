package elasticsearch

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
)

// countingStore is a store that responds with the number of documents of its index "city" ("": no
// index), and 5 or more regions. It returns a need for it as external store.
func countingStore(t *testing.T, regions int, city func() string, more http.HandlerFunc) (*Need, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch count := city(); {
		case r.URL.Path == "/":
			io.WriteString(w, `{"version":{"number":"7.10.2"}}`)
		case r.URL.Path == "/region/_count":
			fmt.Fprintf(w, `{"count":%d}`, regions)
		case r.URL.Path == "/city/_count" && count != "":
			io.WriteString(w, count)
		default:
			more(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return opened(t, external(server.URL), at("")), server
}

// TestSeed_External: other numbers of documents in an external store are reported once; an empty
// index ends the run.
func TestSeed_External(t *testing.T) {
	data, err := dataset.Generated(300, 12, 1)
	testenv.OK(t, err)
	regions := int(data.Indices()[0].Count)
	found := func(cities int) string { return fmt.Sprintf("found %d documents", cities+regions) }
	for name, c := range map[string]struct {
		city      string // body of the response; "": no index
		note, err string
		warned    int
	}{
		"complete":  {`{"count":300}`, found(300), "", 0},
		"fewer":     {`{"count":200}`, found(200), "", 1},
		"none":      {`{"count":0}`, "", `the index "city" of elasticsearch is empty`, 0},
		"no index":  {"", "", `the index "city" of elasticsearch is empty`, 0},
		"no number": {`<html>`, "", "invalid character", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := countingStore(t, regions, func() string { return c.city }, http.NotFound)
			var warned []string
			s.data, s.warn = data, func(w bench.Warning) { warned = append(warned, w.Text) }
			note, err := s.Seed(t.Context(), nil)
			if note != c.note || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", note, err, c.note, c.err)
			}
			if len(warned) != c.warned || c.warned > 0 && !strings.HasPrefix(warned[0], `index "city" has 200 documents`) {
				t.Errorf("warned of %q", warned)
			}
		})
	}
}

// TestSeed: an embedded store has the data, and is read-only.
func TestSeed(t *testing.T) {
	data, err := dataset.Generated(300, 12, 1)
	testenv.OK(t, err)
	s := inProcess(spec{})
	s.data = data
	opened(t, s, at(second(t)))
	want := fmt.Sprintf("%s data, %d documents", data.Info().Name, 300+int(data.Indices()[0].Count))
	if note, err := s.Seed(t.Context(), func(bench.Progress) {}); err != nil || note != want {
		t.Fatalf("%q, %v; want %q", note, err, want)
	}
	for _, base := range []string{s.seen, s.url} {
		for method, status := range map[string]int{http.MethodDelete: http.StatusBadRequest, http.MethodHead: http.StatusOK} {
			req, _ := http.NewRequestWithContext(t.Context(), method, base+"/city/_count", nil)
			resp, err := http.DefaultClient.Do(req)
			testenv.OK(t, err)
			resp.Body.Close()
			testenv.Equal(t, resp.StatusCode, status, method, resp.Status)
		}
	}
	if n, err := s.count(t.Context(), "city"); err != nil || n != 300 {
		t.Errorf("%d cities, %v", n, err)
	}
}

// TestRestore: each call compares the numbers of documents with those of the last call.
func TestRestore(t *testing.T) {
	data, err := dataset.Generated(300, 12, 1)
	testenv.OK(t, err)
	cities, refreshed := "", false
	s, server := countingStore(t, 5, func() string { return cities }, func(w http.ResponseWriter, r *http.Request) {
		refreshed = refreshed || r.URL.Path == "/city/_refresh" && r.Method == http.MethodPost
		w.WriteHeader(http.StatusNotFound)
	})
	s.data = data
	for _, c := range []struct {
		cities, want string
	}{
		{`{"count":300}`, ""}, {`{"count":300}`, ""}, {`{"count":299}`, `index "city" had 300 documents, now 299`},
		{`{"count":299}`, ""}, {"", `index "city" had 299 documents, now 0`}, {"", ""},
	} {
		cities = c.cities
		got, err := s.Restore(t.Context(), bench.Selection{Contender: "c"})
		testenv.OK(t, err)
		testenv.Equal(t, got, c.want, c.cities)
	}
	testenv.Check(t, refreshed, "counted without a refresh")
	server.Close()
	if _, err := s.Restore(t.Context(), bench.Selection{Contender: "c"}); err == nil {
		t.Error("an unreachable store counts as unchanged")
	}
}

// TestFind: a need says which latency it adds, and which options have it run elsewhere.
func TestFind(t *testing.T) {
	inContainer := "--store container or --elastic http://HOST:9200"
	for _, c := range []struct {
		from               bench.NeedOrigin
		spec               spec
		latency, elsewhere string
	}{
		{bench.NeedEmbedded, spec{}, "", inContainer},
		{bench.NeedEmbedded, spec{Latency: time.Second}, "median 1.00 s", inContainer},
		{bench.NeedAuto, spec{Latency: time.Second, P99: 2 * time.Second}, "median 1.00 s, p99 2.00 s", inContainer},
		{bench.NeedContainer, spec{}, "", "--store embedded"},
	} {
		n := bench.NeedSpec{Name: Name, Kind: Name, From: c.from}
		c.spec.put(&n)
		found, err := find(n, bench.Profile{}, "")
		testenv.OK(t, err)
		testenv.Equal(t, found.Need.Info().Latency, c.latency, c.spec)
		testenv.Equal(t, found.Elsewhere, c.elsewhere, c.spec)
	}
}
