package kinds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// defined returns the needs of a file.
func defined(t *testing.T, text string) (all kinds.List) {
	t.Helper()
	testenv.OK(t, strictyaml.Decode(filepath.Join(t.TempDir(), "f.yaml"), []byte(text), &all))
	return all
}

// TestJoin: contenders share the needs of a profile, and each service has those of its manifest for
// itself. What cannot run together is an error that names both.
func TestJoin(t *testing.T) {
	const db, kept = "db: {image: 'postgres:17'}", "db: {image: 'postgres:17', keep: true}"
	for name, c := range map[string]struct{ profile, goes, node, want string }{
		"none":           {"{}", "{}", "{}", ""},
		"of the profile": {db, "{}", "{}", "db"},
		"of manifests":   {"{}", db, db, "db of go for go go:pooled (manifest); db of node for node node:pooled (manifest)"},
		"of one":         {"cache: {image: redis}", db, "{}", "cache; db of go for go go:pooled (manifest)"},
		"in both": {db, "{}", db, "need db is in both bench.yaml and node/service.yaml; keep it in the profile for all contenders, " +
			"or in each manifest for its own"},
		"names of others":         {"{pg: {image: a, hostname: db}}", db, "{}", "needs pg and db both have the host name db; remove it from one of them"},
		"names that two have":     {"{pg: {image: a, aliases: [x, data]}, q: {image: a, aliases: [data]}}", "{}", "{}", "needs pg and q both have the host name data"},
		"names of others in each": {"{}", "pg: {image: a, hostname: x}", "q: {image: a, hostname: x}", "pg of go for go go:pooled (manifest); q of node for node node:pooled (manifest)"},
		"kept":                    {"{}", db, kept, "need db of node has `keep: true`, and db of go the same name: only one of them can run at a time"},
		"kept by one":             {"{}", kept, "{}", "db of go for go go:pooled (manifest)"},
		"external":                {"{}", "db: {external: 'h:1'}", "db: {external: 'h:1'}", "db of go for go go:pooled (manifest); db of node for node node:pooled (manifest)"},
		"after that of another":   {"{}", db, "topics: {image: a, after: [db]}", "need topics of node comes after db, which only another service has; write both in the same file"},
		"after its own":           {"{}", db + "\ntopics: {image: a, after: [db]}", db, "db of go for go go:pooled (manifest); topics of go for go go:pooled (manifest); db of node for node node:pooled (manifest)"},
		"after the profile's":     {db, "{}", "topics: {image: a, after: [db]}", "db; topics of node for node node:pooled (manifest)"},
	} {
		t.Run(name, func(t *testing.T) {
			var manifests []kinds.Defined
			for service, text := range map[string]string{"go": c.goes, "node": c.node} {
				manifests = append(manifests, kinds.Defined{File: service + "/service.yaml", Service: service, Needs: defined(t, text),
					For: []bench.Selection{{Contender: service}, {Contender: service, Variant: "pooled"}}})
			}
			if manifests[0].Service == "node" {
				manifests[0], manifests[1] = manifests[1], manifests[0]
			}
			all, err := kinds.Join(defined(t, c.profile), "bench.yaml", manifests)
			if err != nil {
				testenv.Check(t, strings.Contains(err.Error(), c.want) && c.want != "", "%v", err)
				return
			}
			var got []string
			for _, n := range all {
				text := n.Label()
				if len(n.For) > 0 {
					text += " for"
				}
				for _, sel := range n.For {
					text += " " + sel.String()
				}
				if n.Manifest {
					text += " (manifest)"
				}
				got = append(got, text)
			}
			testenv.Equal(t, strings.Join(got, "; "), c.want)
		})
	}
	all, err := kinds.Join(nil, "bench.yaml", []kinds.Defined{{File: "go/service.yaml", Service: "go", Needs: defined(t, db)}})
	testenv.OK(t, err)
	testenv.Equal(t, all[0].Label(), "db", "of the only service")
}

// TestList_SharedHost: a name that two needs of one file have is a mistake of the second one.
func TestList_SharedHost(t *testing.T) {
	for text, want := range map[string]string{
		"db: {image: a, aliases: [cache]}\ncache: {image: a}": "needs.cache: `db` and `cache` both have the host name \"cache\"",
		"db: {image: a, aliases: [pg]}\ncache: {image: a}":    "",
	} {
		var got string
		for _, m := range defined(t, text).Wrong() {
			got += m.Path + ": " + m.What
		}
		testenv.Equal(t, got, want)
	}
}
