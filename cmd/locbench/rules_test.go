//go:build unix

package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/locbench/locbench/internal/testenv"
)

// TestRules has the rules of the sources that no linter of .golangci.yml can express.
func TestRules(t *testing.T) {
	set := token.NewFileSet()
	var product, plain, acceptance []*ast.File
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		switch path = filepath.ToSlash(path); {
		case strings.HasSuffix(path, "_test.go") && needs(file, "acceptance"):
			acceptance = append(acceptance, file)
		case strings.HasSuffix(path, "_test.go"):
			plain = append(plain, file)
		case strings.HasPrefix(path, "../../internal/"):
			product = append(product, file)
		}
		return nil
	})
	testenv.OK(t, err)
	for _, part := range testenv.Parts {
		if tag := regexp.MustCompile(`build-tags: .*\b` + part.Name + `\b`); part.Tagged() && !tag.MatchString(readPage(t, ".golangci.yml")) {
			t.Errorf("the linters do not see the part %s: add its tag to .golangci.yml", part.Name)
		}
	}
	for name, rule := range map[string]struct {
		of    []*ast.File
		check func(n ast.Node, found func(ast.Node, string)) (deeper bool)
	}{
		"no name of a runtime or store decides": {product, decidesByName},
		"no struct has warnings as texts":       {product, warningsAsText},
		"no number of CPUs without its noun":    {product, countsCPUs},
		"plain tests are hermetic":              {plain, hermetic},
		"acceptance tests belong to a part":     {acceptance, belongsToPart},
	} {
		t.Run(name, func(t *testing.T) {
			if len(rule.of) < 50 {
				t.Errorf("%d files read", len(rule.of))
			}
			for _, file := range rule.of {
				ast.Inspect(file, func(n ast.Node) bool {
					return rule.check(n, func(at ast.Node, what string) { t.Errorf("%s: %s", set.Position(at.Pos()), what) })
				})
			}
		})
	}
}

var ofCPUs = regexp.MustCompile(`%(d|g|v|s) CPUs?\b`)

// countsCPUs finds formats of a number of CPUs that may be 1: units.CPUs and units.Plural know that.
// Numbers with two digits, of CPUs in use, are "1.00 CPUs".
func countsCPUs(n ast.Node, found func(ast.Node, string)) bool {
	if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && ofCPUs.MatchString(text.Value) {
		found(n, "a number of CPUs may be 1: use units.CPUs or units.Plural")
	}
	return true
}

var kinds = regexp.MustCompile(`^(Runtime(Auto|Docker|Process|URL)|Need(Auto|Embedded|External|Container|None))$`)

// decidesByName finds code that compares the name of a runtime or of the origin of a need: it would
// forget a new one.
func decidesByName(n ast.Node, found func(ast.Node, string)) bool {
	var compared []ast.Expr
	switch n := n.(type) {
	case *ast.File:
		return !slices.Contains([]string{"bench", "store", "elasticsearch", "platform", "launch"}, n.Name.Name) // they define and open them
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			compared = []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		compared = n.List
	}
	for _, expr := range compared {
		ast.Inspect(expr, func(n ast.Node) bool {
			if name, ok := n.(*ast.SelectorExpr); ok && kinds.MatchString(name.Sel.Name) {
				found(name, "decides by bench."+name.Sel.Name+": ask for what it is (Traits)")
			}
			return true
		})
	}
	return true
}

var warnings = regexp.MustCompile(`^(warnings?|notices?|notes|caveats?)$|(Warnings?|Notices?|Notes|Caveats?)$`)

// warningsAsText: a warning is a typed value until it is printed.
func warningsAsText(n ast.Node, found func(ast.Node, string)) bool {
	structure, ok := n.(*ast.StructType)
	if !ok {
		return true
	}
	for _, field := range structure.Fields.List {
		if list, ok := field.Type.(*ast.ArrayType); ok && nameOf(list.Elt) == "string" &&
			slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return warnings.MatchString(name.Name) }) {
			found(field, "has texts; use bench.Warnings, and make sentences when printing")
		}
	}
	return true
}

// hermetic finds tests that run the real programs go and docker, or measure real time.
func hermetic(n ast.Node, found func(ast.Node, string)) bool {
	if f, ok := n.(*ast.FuncDecl); ok && (f.Recv != nil || strings.HasPrefix(f.Name.Name, "Benchmark")) {
		return false // fakes and benchmarks measure, and expect nothing
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	switch nameOf(call.Fun) {
	case "synctest.Test", "inVirtualTime":
		return false // time is virtual in there
	case "time.Since":
		found(call, "measures real time")
	case "exec.Command", "exec.CommandContext":
		for _, arg := range call.Args {
			if text, ok := arg.(*ast.BasicLit); ok && (text.Value == `"go"` || text.Value == `"docker"`) {
				found(call, "runs "+text.Value)
			}
		}
	}
	return true
}

// belongsToPart finds tests with the tag acceptance and none of a part: they never run.
func belongsToPart(n ast.Node, found func(ast.Node, string)) bool {
	file, ok := n.(*ast.File)
	if !ok || slices.ContainsFunc(testenv.Parts, func(p testenv.Part) bool { return p.Tagged() && needs(file, p.Name) }) {
		return false
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && strings.HasPrefix(f.Name.Name, "Test") {
			found(f, "belongs to no part: //go:build acceptance && PART")
		}
	}
	return false
}

// nameOf returns the name of a function or type, or "" for another expression.
func nameOf(expr ast.Expr) string {
	switch x := expr.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return nameOf(x.X) + "." + x.Sel.Name
	}
	return ""
}

// needs reports whether a file is not built without a tag.
func needs(file *ast.File, tag string) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if expr, err := constraint.Parse(comment.Text); err == nil && group.Pos() < file.Package {
				return expr.Eval(func(string) bool { return true }) && !expr.Eval(func(t string) bool { return t != tag })
			}
		}
	}
	return false
}

// TestWorkflows holds that a workflow only calls scripts of .ci and targets of the Makefile, which
// run on any machine: a check that exists in a workflow alone cannot be repeated elsewhere.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	testenv.OK(t, err)
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	call := regexp.MustCompile(`^(?:sudo env "PATH=\$PATH" )?(?:(\.ci/[a-z0-9]+)|make ([a-z-]+))(?: \$\{\{ matrix\.[a-z]+ \}\})?$`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		testenv.OK(t, err)
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal(content, &workflow); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		calls := 0
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if step.Run == "" {
					continue
				}
				calls++
				m := call.FindStringSubmatch(strings.TrimSpace(step.Run))
				switch {
				case m == nil:
					t.Errorf("%s runs %q: move it to .ci or the Makefile", file, step.Run)
				case m[1] != "":
					if info, err := os.Stat("../../" + m[1]); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s calls %s, which is not a program", file, m[1])
					}
				case !strings.Contains(string(makefile), "\n"+m[2]+": "):
					t.Errorf("%s calls make %s, which the Makefile does not have", file, m[2])
				}
			}
		}
		if calls == 0 {
			t.Errorf("%s calls nothing", file)
		}
	}
}
