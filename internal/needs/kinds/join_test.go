package kinds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// defined returns the needs of a file in dir.
func defined(t *testing.T, dir, service, text string) kinds.Defined {
	t.Helper()
	var all kinds.List
	file := service + "/service.yaml"
	if service == "" {
		file = "bench.yaml"
	}
	testenv.OK(t, strictyaml.Decode(filepath.Join(dir, file), []byte(text), &all))
	d := kinds.Defined{File: file, Service: service, Needs: all}
	if service != "" {
		d.For = []bench.Selection{{Contender: service}, {Contender: service, Variant: "pooled"}}
	}
	return d
}

// TestJoin: equal needs of a profile and manifests are one, which contenders of other services do
// not get. Different ones are an error that shows the values, without passwords, unless each
// service has its own.
func TestJoin(t *testing.T) {
	const (
		db    = "db: {image: 'postgres:17', limits: {memory: 512M}}"
		other = "db: {image: 'postgres:16', limits: {memory: 1G}, command: [postgres, -c, fsync=off]}"
		own   = "db: {image: 'postgres:17', per_service: true}"
	)
	for name, c := range map[string]struct{ profile, goes, node, want string }{
		"none":                {"{}", "{}", "{}", ""},
		"of the profile":      {db, "{}", "{}", "db"},
		"equal in manifests":  {"{}", db, db, "db (manifest)"},
		"equal in all":        {db, db, db, "db"},
		"equal in two":        {db, "{}", db, "db"},
		"in another spelling": {"{}", db, "db: {image: 'postgres:17', limits: {memory: 512 MiB}}", "db (manifest)"},
		"a preset, written":   {"{}", db, "db: {image: 'postgres:17', ports: 5432, limits: {memory: '512m'}}", "db (manifest)"},
		"only of one":         {"{}", db, "{}", "db for go go:pooled (manifest)"},
		"others in each":      {"cache: {image: redis}", db, "queue: {image: a}", "cache; db for go go:pooled (manifest); queue for node node:pooled (manifest)"},
		"names of others":     {"{pg: {image: a, hostname: db}}", db, "{}", "needs pg and db both have the host name db; remove it from one of them"},
		"names that two have": {"{pg: {image: a, aliases: [x, data]}, q: {image: a, aliases: [data]}}", "{}", "{}", "needs pg and q both have the host name data"},
		"names of others in each": {"{}", "pg: {image: a, hostname: data}", "q: {image: a, hostname: data}",
			"pg for go go:pooled (manifest); q for node node:pooled (manifest)"},
		"different": {"{}", db, other, "need db of go/service.yaml and that of node/service.yaml differ:\n" +
			"  command: none; [\"postgres\",\"-c\",\"fsync=off\"]\n  image: postgres:17; postgres:16\n  limits.memory: 512MiB; 1GiB\n" +
			"make them equal, or write `per_service: true` in both"},
		"different from the profile": {"db: {image: 'postgres:17', limits: {cpus: 1}}", "{}", "db: {image: 'postgres:17', limits: {cpus: 0.5}}",
			"need db of bench.yaml and that of node/service.yaml differ:\n  limits.cpus: 1; 0.5\nmake them equal, or"},
		"passwords": {"{}", "db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter22, A: x}, command: [a, hunter22]}",
			"db: {image: 'postgres:17', environment: {POSTGRES_PASSWORD: hunter33, A: y}, command: [a, hunter33]}",
			"differ:\n  command: [\"a\",\"***\"]; [\"a\",\"***\"]\n  environment.A: x; y\n  environment.POSTGRES_PASSWORD: ***; ***\nmake"},
		"external and not": {"{}", db, "db: {external: '10.0.0.5:1'}", "\n  external: none; 10.0.0.5:1\n"},

		"each its own":                   {"{}", own, own, "db of go for go go:pooled (manifest); db of node for node node:pooled (manifest)"},
		"each its own, of the profile":   {own, "{}", "{}", "db of go for go go:pooled; db of node for node node:pooled"},
		"each its own, different":        {"{}", own, strings.Replace(own, "17", "16", 1), "db of go for go go:pooled (manifest); db of node for node node:pooled (manifest)"},
		"its own, of one":                {"{}", own, "{}", "db of go for go go:pooled (manifest)"},
		"its own, as in the profile":     {own, own, "{}", "db of go for go go:pooled; db of node for node node:pooled"},
		"its own, not as in the profile": {own, strings.Replace(own, "17", "16", 1), "{}", "need db of bench.yaml and that of go/service.yaml differ:"},
		"its own, not in all": {"{}", own, db,
			"need db has `per_service: true` in go/service.yaml, but not in node/service.yaml; write it in both, or in none"},
		"its own, not in the profile": {db, own, "{}", "`per_service: true` in go/service.yaml, but not in bench.yaml"},
		"after its own": {"topics: {image: a, after: [db]}", own, "{}",
			"need topics comes after db, which each service has for itself; write `per_service: true` for topics too"},
		"after that of another": {"{}", db, "topics: {image: a, after: [db]}",
			"need topics comes after db, which not all of its contenders have; write both in the same file"},
		"after that of the profile": {db, "{}", "topics: {image: a, after: [db]}", "db; topics for node node:pooled (manifest)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			all, err := kinds.Join(defined(t, dir, "", c.profile),
				[]kinds.Defined{defined(t, dir, "go", c.goes), defined(t, dir, "node", c.node)})
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
}

// TestJoin_Files: files of two folders are equal by their content, and only by that.
func TestJoin_Files(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		testenv.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, service := range []string{"go", "node"} {
		write(service+"/schema.sql", "CREATE TABLE a();\n")
		write(service+"/conf/a/b.conf", "x=1\n")
		write(service+"/vars.env", "A=1\n")
	}
	const text = "db: {image: 'postgres:17', env_file: vars.env, seed: [schema.sql], volumes: ['./conf:/conf:ro']%s}"
	join := func(more string) ([]bench.NeedSpec, error) {
		return kinds.Join(kinds.Defined{}, []kinds.Defined{
			defined(t, dir, "go", fmt.Sprintf(text, more)), defined(t, dir, "node", fmt.Sprintf(text, more))})
	}
	all, err := join("")
	testenv.OK(t, err)
	testenv.Equal(t, len(all), 1)
	all, err = join(", per_service: true")
	testenv.OK(t, err)
	testenv.Equal(t, all[0].Of.String(), all[1].Of.String(), "those of equal needs are of one folder")
	for name, text := range map[string]string{"schema.sql": "CREATE TABLE b();\n", "conf/a/b.conf": "x=2\n", "vars.env": "A=2\n"} {
		before, err := os.ReadFile(filepath.Join(dir, "node", name))
		testenv.OK(t, err)
		write("node/"+name, text)
		testenv.Fails(t, testenv.Err(join("")), filepath.Join(dir, "node", strings.SplitN(name, "/a/", 2)[0]))
		write("node/"+name, string(before))
	}
	write("node/conf/more", "")
	testenv.Fails(t, testenv.Err(join("")), "volumes: ")
}

// TestList_SharedHost: a name that two needs of one file have is a mistake of the second one.
func TestList_SharedHost(t *testing.T) {
	for text, want := range map[string]string{
		"db: {image: a, aliases: [cache]}\ncache: {image: a}": "needs.cache: `db` and `cache` both have the host name \"cache\"",
		"db: {image: a, aliases: [pg]}\ncache: {image: a}":    "",
	} {
		var got string
		for _, m := range kinds.List(defined(t, t.TempDir(), "", text).Needs).Wrong() {
			got += m.Path + ": " + m.What
		}
		testenv.Equal(t, got, want)
	}
}
