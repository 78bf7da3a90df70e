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

// floors are the rooms of the house from the ground up. A package imports only from floors below
// its own; what stands on one floor does not know its neighbours. docs/architecture.md has the
// picture.
var floors = [][]string{
	{"cpuset", "regular", "units"},
	{"bench"},
	{"contact", "hdr", "safe", "secret", "thread"},
	{"strictyaml", "verdict"},
	{"cgroup", "console", "docker", "ready", "stats"},
	{"hostusage", "measure"},
	{"slo"},
	{"elastic", "locations"},
	{"launch"},
	{
		"analysis", "capacity", "check", "contender", "event", "load", "machine", "profile", "results",
	},
	{"compare", "platform", "summary"},
	{"export", "metrics", "plain", "report", "runner", "tui", "worker"},
	{"app"},
	{"cli"},
}

// within are the floors inside of a room, for packages right below it; "" is the room's own
// package.
var within = map[string][][]string{
	"elastic":   {{"embedded"}, {"store"}},
	"locations": {{"dataset", "suites"}, {"oracle", "seed"}},
	"load":      {{"record", "wire"}, {"workload"}, {"fast", "portable"}, {""}},
}

// owners are the packages that alone may import a large dependency. Two load the same model: load
// paces by vegeta, export reads and writes its results.
var owners = map[string]string{
	"github.com/tsenart/vegeta/":     "load export",
	"github.com/moby/moby/":          "docker",
	"github.com/moby/patternmatcher": "contender",
	"github.com/moby/buildkit":       "contender",
	"github.com/olivere/elastic/":    "locations",
	"github.com/clipperhouse/uax29/": "elastic",
	"github.com/go-echarts/":         "report",
	"github.com/prometheus/":         "metrics",
	"github.com/spf13/":              "cli",
	"gopkg.in/yaml.v3":               "strictyaml",
	"github.com/HdrHistogram/":       "hdr",
	"charm.land/":                    "tui",
	"locbench/services/go-nethttp/":  "cli",
	"locbench/internal/testenv":      "",
}

func TestImportsPointDownward(t *testing.T) {
	packages := map[string]bool{}
	sources(t, func(path, importPath string) {
		room := roomOf(importPath)
		if room == "testenv" || strings.HasSuffix(importPath, "test") || strings.Contains(importPath, "/testdata/") {
			return // helpers of tests; no program imports them
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
			checkImport(t, room, imp)
			checkWithin(t, importPath, imp)
		}
	})
	if len(packages) < 20 {
		t.Errorf("%d packages only", len(packages))
	}
}

// sources calls f for each Go file below internal that is no test, whatever system it is for, with
// the import path of its package.
func sources(t *testing.T, f func(path, importPath string)) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f(path, "locbench/"+strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, room, imp string) {
	t.Helper()
	for prefix, owner := range owners {
		if strings.HasPrefix(imp, prefix) && !slices.Contains(strings.Fields(owner), room) {
			t.Errorf("%s imports %s, which only %q may", room, imp, owner)
		}
	}
	other := roomOf(imp)
	if other == "" || other == room {
		return
	}
	from, to := floorOf(room), floorOf(other)
	switch {
	case from < 0:
		t.Errorf("%s stands on no floor: give it one in this test and in the map of docs/architecture.md", room)
	case to < 0 && other != "testenv":
		t.Errorf("%s stands on no floor: give it one in this test and in the map of docs/architecture.md", other)
	case to >= from:
		t.Errorf("%s imports %s, which does not stand below it", room, other)
	}
	if room == "bench" && strings.Contains(imp, ".") {
		t.Errorf("bench imports %s: the vocabulary needs no library", imp)
	}
}

// checkWithin keeps the floors inside of a room.
func checkWithin(t *testing.T, importing, imp string) {
	t.Helper()
	room := roomOf(importing)
	rooms := within[room]
	if rooms == nil || roomOf(imp) != room {
		return
	}
	floor := func(importPath string) int {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(importPath, "locbench/internal/"+room), "/"), "/")
		return slices.IndexFunc(rooms, func(names []string) bool { return slices.Contains(names, name) })
	}
	if from, to := floor(importing), floor(imp); from < 0 || to < 0 || to >= from {
		t.Errorf("%s imports %s, which does not stand below it within %s", importing, imp, room)
	}
}

// roomOf is the name of a package right below internal, also for the packages within it.
func roomOf(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, "locbench/internal/")
	if !ok {
		return ""
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

func floorOf(room string) int {
	return slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

// TestKindsAreAskedForTheirTraits finds who decides by the name of a runtime or of a kind of store,
// outside of where each is at home: another one would be forgotten there.
func TestKindsAreAskedForTheirTraits(t *testing.T) {
	kinds := regexp.MustCompile(`^(Runtime(Auto|Docker|Process|URL)|Store(Auto|Embedded|External|Container|None))$`)
	at := map[string]bool{"bench": true, "elastic": true, "platform": true, "launch": true}
	files := 0
	sources(t, func(path, importPath string) {
		if at[roomOf(importPath)] {
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

// A doubt is a typed finding until it is printed: no struct of a program has doubts that are texts.
func TestNoBareDoubts(t *testing.T) {
	doubts := regexp.MustCompile(`^(doubts?|warnings?|notices?|notes|findings?)$|(Doubts?|Warnings?|Notices?|Notes|Findings?)$`)
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
					if ok && of.Name == "string" && doubts.MatchString(name.Name) {
						t.Errorf("%s: the field %s holds texts; make it bench.Findings, and sentences where they are printed", path, name.Name)
					}
				}
			}
			return true
		})
	})
}
