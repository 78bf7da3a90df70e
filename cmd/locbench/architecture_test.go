package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the areas, the folders right below internal, from the lowest floor up. A package
// imports only from floors below its own; areas of one floor do not import each other.
// docs/architecture.md has the picture.
var floors = [][]string{
	{"bench"},
	{"text"},
	{"figures", "host", "store", "values"},
	{"analysis", "contender", "load", "results"},
	{"run"},
	{"show"},
	{"app"},
	{"cli"},
}

// within are the floors inside an area, by the names of the folders right below it; "" is the
// package in the area's own folder. An area without an entry is a single package.
var within = map[string][][]string{
	"analysis":  {{""}, {"compare", "summary"}},
	"app":       {{""}, {"contenders", "search"}, {"screens"}},
	"bench":     {{"cpuset", "units"}, {""}},
	"cli":       {{""}, {"pages"}},
	"contender": {{"docker", "ready"}, {"launch"}, {"", "check"}, {"platform"}},
	"figures":   {{"hdr"}, {"stats"}, {"measure", "verdict"}},
	"host":      {{"limits", "thread"}, {"cgroup"}, {"hostusage"}},
	"load":      {{"record", "wire"}, {"workload"}, {"http1"}, {"fast", "portable"}, {""}},
	"results":   {{"", "event"}, {"export"}},
	"run":       {{"machine", "profile", "worker"}, {"capacity", "runner"}},
	"show":      {{"plain", "report", "tui"}},
	"store":     {{"dataset", "embedded"}, {"seed"}, {""}},
	"text":      {{"safe"}, {"secret"}, {"console", "contact", "strictyaml", "unpack"}},
}

// owners are the packages below internal that alone may import a large dependency, with the
// packages below them. Three import the same model: load paces by vegeta, results/export reads and
// writes its results, run/profile/targets reads its target files.
var owners = map[string]string{
	"github.com/tsenart/vegeta/":     "load results/export run/profile/targets",
	"github.com/moby/moby/":          "contender/docker",
	"github.com/moby/patternmatcher": "contender",
	"github.com/moby/buildkit":       "contender",
	"github.com/olivere/elastic/":    "store/seed",
	"github.com/clipperhouse/uax29/": "store/embedded",
	"github.com/go-echarts/":         "show/report",
	"github.com/prometheus/":         "results/export",
	"github.com/spf13/":              "cli",
	"gopkg.in/yaml.v3":               "text/strictyaml",
	"github.com/klauspost/compress/": "text/unpack",
	"github.com/andybalholm/brotli":  "text/unpack",
	"github.com/HdrHistogram/":       "figures/hdr",
	"golang.org/x/text/encoding":     "values",
	"charm.land/":                    "show/tui",
	module + "services/go-nethttp/":  "cli",
	module + "internal/testenv":      "",
}

// module is what the import paths of this project begin with.
const module = "github.com/locbench/locbench/"

func TestImportsPointDownward(t *testing.T) {
	packages := map[string]bool{}
	sources(t, func(path, importPath string) {
		area, _ := placeOf(importPath)
		if area == "testenv" || strings.HasSuffix(importPath, "test") || strings.Contains(importPath, "/testdata/") {
			return // test helpers are not part of the program
		}
		packages[importPath] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			checkOwner(t, importPath, imp)
			checkImport(t, importPath, imp)
		}
	})
	if len(packages) < 20 {
		t.Errorf("%d packages only", len(packages))
	}
}

// sources calls f for each product Go file below internal, for any system, with its import path.
func sources(t *testing.T, f func(path, importPath string)) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f(path, module+strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkOwner(t *testing.T, importing, imp string) {
	t.Helper()
	importing = strings.TrimPrefix(importing, module+"internal/")
	for prefix, owner := range owners {
		if strings.HasPrefix(imp, prefix) && !slices.ContainsFunc(strings.Fields(owner), func(name string) bool {
			return importing == name || strings.HasPrefix(importing, name+"/")
		}) {
			t.Errorf("%s imports %s, which only %q may", importing, imp, owner)
		}
	}
	if importing == "bench" && strings.Contains(strings.TrimPrefix(imp, module), ".") {
		t.Errorf("%s imports %s: the vocabulary needs no library", importing, imp)
	}
}

func checkImport(t *testing.T, importing, imp string) {
	t.Helper()
	area, room := placeOf(importing)
	other, otherRoom := placeOf(imp)
	if other == "" || other == "testenv" {
		return
	}
	if area != other {
		from, to := floorOf(floors, area), floorOf(floors, other)
		switch {
		case from < 0 || to < 0:
			t.Errorf("%s or %s has no floor: add it to this test and to the map in docs/architecture.md", area, other)
		case to >= from:
			t.Errorf("%s imports %s, which is not below it", importing, imp)
		}
		return
	}
	from, to := floorOf(within[area], room), floorOf(within[area], otherRoom)
	if room != otherRoom && (from < 0 || to < 0 || to >= from) {
		t.Errorf("%s imports %s, which is not below it within %s", importing, imp, area)
	}
}

// placeOf returns the area of a package below internal and its folder there; "" is the package in
// the area's own folder.
func placeOf(importPath string) (area, room string) {
	rest, ok := strings.CutPrefix(importPath, module+"internal/")
	if !ok {
		return "", ""
	}
	area, rest, _ = strings.Cut(rest, "/")
	room, _, _ = strings.Cut(rest, "/")
	return area, room
}

func floorOf(floors [][]string, name string) int {
	return slices.IndexFunc(floors, func(names []string) bool { return slices.Contains(names, name) })
}

// TestKindsAreNotCompared finds code in other packages that decides by the name
// of a runtime or of a kind of store: it would forget a new one.
func TestKindsAreNotCompared(t *testing.T) {
	kinds := regexp.MustCompile(`^(Runtime(Auto|Docker|Process|URL)|Store(Auto|Embedded|External|Container|None))$`)
	at := map[string]bool{"bench": true, "store": true, "contender/platform": true, "contender/launch": true}
	files := 0
	sources(t, func(path, importPath string) {
		if area, room := placeOf(importPath); at[area] || at[area+"/"+room] {
			return
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		decides := func(in ...ast.Expr) {
			for _, expr := range in {
				ast.Inspect(expr, func(n ast.Node) bool {
					if name, ok := n.(*ast.SelectorExpr); ok && kinds.MatchString(name.Sel.Name) {
						t.Errorf("%s decides by bench.%s: ask for what it is (Traits)", set.Position(name.Pos()), name.Sel.Name)
					}
					return true
				})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					decides(n.X, n.Y)
				}
			case *ast.CaseClause:
				decides(n.List...)
			}
			return true
		})
	})
	if files < 100 {
		t.Errorf("%d files read", files)
	}
}

// A warning is a typed value until it is printed: no struct of a program has warnings as text.
func TestNoBareWarnings(t *testing.T) {
	bare := regexp.MustCompile(`^(warnings?|notices?|notes|caveats?)$|(Warnings?|Notices?|Notes|Caveats?)$`)
	sources(t, func(path, _ string) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			structure, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range structure.Fields.List {
				list, ok := field.Type.(*ast.ArrayType)
				if !ok {
					continue
				}
				of, ok := list.Elt.(*ast.Ident)
				for _, name := range field.Names {
					if ok && of.Name == "string" && bare.MatchString(name.Name) {
						t.Errorf("%s: the field %s has texts; use bench.Warnings, and make sentences when printing", path, name.Name)
					}
				}
			}
			return true
		})
	})
}
