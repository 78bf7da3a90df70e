package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// guarded are functions for texts, files and names from outside, with the function to use instead,
// and the exceptions: a package, or a file in one.
var guarded = []struct {
	pkg, names, instead string
	but                 []string
}{
	{"os", "Open OpenFile ReadFile DirFS", "package safe: a pipe would hang, and a device has no end", []string{
		"text/safe", "testenv", "contender/docker/dockertest",
		// files of the system
		"run/machine", "host/cgroup", "host/hostusage", "bench/cpuset", "contender/launch", "host/limits",
		"contender/docker/engine.go", "contender/docker/in_container.go", "contender/processor.go",
		"app/reports.go", // folders
		// files of locbench's own
		"contender/process.go", "contender/lock.go",
	}},
	{"url", "Parse ParseRequestURI", "secret.ParseURL, whose errors repeat no password", []string{
		"text/secret", "contender/check/request.go", "text/contact/redirect.go",
	}},
	{
		"http", "ProxyFromEnvironment DefaultClient DefaultTransport Get Post Head",
		"secret.Proxy, whose errors repeat no password",
		[]string{"text/secret", "contender/docker/dockertest", "testenv"},
	},
	{
		"os", "Stdout Stderr", "the writers of console.Env, which let no control characters through",
		[]string{"testenv", "contender/docker/dockertest", "cli/pages"},
	},
	{"console", "Terminal", "the writers of console.Env, unless a terminal is drawn on with text from package safe", []string{
		"text/console", "app/options.go", "app/screens/screen.go", "cli/seed.go",
		"cli/serve.go", // a contender
	}},
	{"yaml", "NewDecoder Unmarshal", "package strictyaml", []string{"text/strictyaml"}},
}

// TestOutsideIsMetInOnePlace finds code that opens files, reads addresses or writes to the terminal
// without the safe function for it.
func TestOutsideIsMetInOnePlace(t *testing.T) {
	files := 0
	sources(t, func(path, importPath string) {
		files++
		pkg := strings.TrimPrefix(importPath, "github.com/locbench/locbench/internal/")
		file := pkg + path[strings.LastIndexByte(path, '/'):]
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, g := range guarded {
				within := func(but string) bool {
					return but == file || pkg == but || strings.HasPrefix(pkg, but+"/")
				}
				if x.Name == g.pkg && slices.Contains(strings.Fields(g.names), sel.Sel.Name) && !slices.ContainsFunc(g.but, within) {
					t.Errorf("%s: %s.%s: call %s", set.Position(sel.Pos()), g.pkg, sel.Sel.Name, g.instead)
				}
			}
			return true
		})
	})
	if files < 100 {
		t.Errorf("%d files read", files)
	}
}
