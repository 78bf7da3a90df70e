package embedded_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"locbench/internal/locations/dataset"
)

// city is what the test has to know of a document to ask for it.
type city struct {
	ID         int64  `json:"id"`
	CountryISO string `json:"countryIso"`
	Centroid   struct{ Lat, Lon float64 }
	NameCs     string `json:"name.cs"`
	NameDe     string `json:"name.de"`
	NamePl     string `json:"name.pl"`
	Geometry   struct{ Coordinates [][][2]float64 }
}

// read returns the cities of the set, and the bulk bodies that load them.
func read(t testing.TB, set dataset.Set) (cities []city, bodies []string) {
	t.Helper()
	var body strings.Builder
	for doc, err := range set.Documents(dataset.CityIndex) {
		if err != nil {
			t.Fatal(err)
		}
		var c city
		if err := json.Unmarshal(doc.Source, &c); err != nil {
			t.Fatal(err)
		}
		cities = append(cities, c)
		fmt.Fprintf(&body, `{"create":{"_id":%q}}`+"\n%s\n", doc.ID, doc.Source)
		if body.Len() > 4<<20 {
			bodies = append(bodies, body.String())
			body.Reset()
		}
	}
	return cities, append(bodies, body.String())
}

// fill makes the index and loads it by a single worker, since ties are broken by the order of
// coming.
func fill(t testing.TB, base, index string, bodies []string) {
	t.Helper()
	mapping := bytes.Replace(dataset.CityMapping(), []byte(`"number_of_replicas":0`), []byte(`"number_of_replicas":0,"refresh_interval":"-1"`), 1)
	mustCall(t, http.MethodPut, base+"/"+index, string(mapping))
	for _, body := range bodies {
		if answer := mustCall(t, http.MethodPost, base+"/"+index+"/_bulk?filter_path=errors", body); !strings.Contains(answer, `"errors":false`) {
			t.Fatalf("bulk: %.500s", answer)
		}
	}
	mustCall(t, http.MethodPost, base+"/"+index+"/_refresh", "")
}

func call(t testing.TB, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(url, "_bulk") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func mustCall(t testing.TB, method, url, body string) string {
	t.Helper()
	status, answer := call(t, method, url, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: %d %.500s", method, url, status, answer)
	}
	return answer
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
