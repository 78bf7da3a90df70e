//go:build acceptance && store

package seed_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRun_Bundled(t *testing.T) {
	url := testenv.Elasticsearch(t)
	bundled, err := dataset.Bundled()
	testenv.OK(t, err)
	set := renamed{DataSet: bundled, prefix: prefix(t, url)}
	city, region := url+"/"+set.prefix+"city", url+"/"+set.prefix+"region"
	r, err := seed.Run(t.Context(), seed.Options{URL: url, Set: set})
	testenv.OK(t, err)
	t.Logf("%d regions; %d cities in %v, %.0f a second", r.Indices[0].Documents, r.Indices[1].Documents, r.Indices[1].Elapsed, r.Indices[1].PerSecond())
	testenv.Check(t, !r.Unchanged && r.Indices[1].Documents == 14945 && r.Indices[1].Index == set.prefix+"city_v1",
		"result %+v", r)

	prague := request(t, http.MethodGet, city+"/_source/3067696?_source_excludes=geometry,population", "")
	if prague["name.cs"] != "Praha" || prague["regionId"] != 20352.0 || prague["isFeatured"] != true || prague["geometry"] != nil || len(prague) != 11 {
		t.Errorf("Prague is %v", prague)
	}
	testenv.Equal(t, request(t, http.MethodGet, region+"/_source/20352", "")["name.pl"], "Praga")
	// In the center of Prague: its own shape, and perhaps that of a borough.
	inside := hits(t, city+"/_search", `{"query":{"geo_shape":{"geometry":{"shape":{"type":"point","coordinates":[14.42076,50.08804]}}}}}`)
	testenv.Check(t, len(inside) != 0 && strings.Contains(strings.Join(inside, " "), "3067696"),
		"shapes around the middle of Prague: %v", inside)
	featured := hits(t, city+"/_search?size=50", `{"query":{"term":{"isFeatured":true}},"sort":["countryIso",{"population":"desc"}]}`)
	if len(featured) != 13 || featured[0] != "2761369" || featured[1] != "3067696" || featured[2] != "3078610" && featured[2] != "2950159" {
		t.Errorf("featured, by country and population: %v", featured)
	}
	for query, want := range map[string]string{"ces": "3077916", "plz": "3068160", "čes": "3077916"} {
		t.Run(query, func(t *testing.T) { // České Budějovice, Plzeň
			found := hits(t, city+"/_search", `{"query":{"function_score":{"query":{"multi_match":{"type":"bool_prefix","query":"`+query+`","fields":[
			"name.cs.autocomplete","name.cs.autocomplete._2gram","name.cs.autocomplete_ascii","name.cs.autocomplete_ascii._3gram","name.all.autocomplete_ascii"]}},
			"field_value_factor":{"field":"population","modifier":"ln2p","missing":500}}}}`)
			testenv.Check(t, len(found) != 0 && found[0] == want, "search for %q found %v, want %s first", query,
				found, want)
		})
	}

	r, err = seed.Run(t.Context(), seed.Options{URL: url, Set: set})
	testenv.Check(t, err == nil && r.Unchanged, "the second time: %+v, %v", r, err)
}

func TestRun_Dump(t *testing.T) {
	url := testenv.Elasticsearch(t)
	name := prefix(t, url) + "places"
	dir := t.TempDir()
	write := func(file, content string) {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
	}
	load := func(force bool) (seed.Result, error) {
		set := testenv.Must(dataset.Dump(dir))(t)
		return seed.Run(t.Context(), seed.Options{URL: url, Set: set, Force: force})
	}
	write(name+".mapping.json", `{"settings":{"refresh_interval":"3s","index.number_of_replicas":0},"mappings":{"properties":{"n":{"type":"integer"},"place":{"type":"geo_point"}}}}`)
	write(name+".ndjson", `{"index":{"_index":"old-name","_id":"a b/ž"}}`+"\n"+`{"n":1}`+"\n"+`{"create":{"_id":7,"routing":"x"}}`+"\n"+`{"n":2}`+"\n"+`{"index":{}}`+"\n"+`{"n":3}`+"\n")
	testenv.OK(t, testenv.Err(load(false)))
	for path, n := range map[string]float64{"a%20b%2F%C5%BE": 1, "7?routing=x": 2, "document-3": 3} {
		t.Run(path, func(t *testing.T) {
			testenv.Equal(t, request(t, http.MethodGet, url+"/"+name+"/_source/"+path, "")["n"], any(n), path)
		})
	}
	settings := fmt.Sprint(request(t, http.MethodGet, url+"/"+name+"/_settings", ""))
	testenv.Contains(t, settings, "refresh_interval:3s", "number_of_replicas:0")
	if r, err := load(true); err != nil || r.Indices[0].Index != name+"_v2" || len(r.Removed) != 1 {
		t.Errorf("forced: %+v, %v", r, err)
	}

	write(name+".ndjson", `{"index":{"_id":1}}`+"\n"+`{"n":1}`+"\n"+`{"index":{"_id":2}}`+"\n"+`{"n":"many"}`+"\n"+`{"index":{"_id":1}}`+"\n"+`{"n":5}`+"\n")
	_, err := load(false)
	var rejected *seed.RejectedError
	if !errors.As(err, &rejected) || rejected.Total != 2 || !strings.Contains(err.Error(), "failed to parse field [n]") || !strings.Contains(err.Error(), `For input string: "many"`) {
		t.Fatalf("error %v", err)
	}
	testenv.Equal(t, request(t, http.MethodPost, url+"/"+name+"/_count", "")["count"], 3.0)
	left := request(t, http.MethodGet, url+"/"+name+"*/_alias", "")
	testenv.Check(t, len(left) == 1, "a failed seeding left %v", left)
}
