package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestPlainSuiteIsHermetic finds test files without the tag acceptance that break a promise of `go
// test ./...`: they need a real part, build a program, or assert durations. It also finds
// acceptance tests that belong to no part.
func TestPlainSuiteIsHermetic(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		switch acceptance, part := tagsOf(file); {
		case !acceptance:
			for _, found := range unhermetic(set, file) {
				t.Error(found)
			}
		case part == "" && hasTests(file):
			t.Errorf("%s: its tests belong to no part: //go:build acceptance && PART, with a part of testenv.Parts that has tests", path)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files read, %v", files, err)
	}
}

// TestUnhermeticIsFound: each of these mistakes is found, and allowed code is not.
func TestUnhermeticIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		found  int
	}{
		"engine's client":     {`import _ "github.com/moby/moby/client"`, 1},
		"engine of tests":     {`import _ "github.com/locbench/locbench/internal/contender/docker/dockertest"`, 1},
		"browser":             {`import _ "github.com/chromedp/chromedp"`, 1},
		"terminal":            {`import _ "github.com/creack/pty"`, 1},
		"locbench":            {`func f() { testenv.Locbench(nil) }`, 1},
		"go build":            {`func f() { exec.Command("go", "build") }`, 1},
		"go in context":       {`func f() { exec.CommandContext(ctx, "go", "list") }`, 1},
		"docker":              {`func f() { exec.Command("docker", "ps") }`, 1},
		"since, compared":     {`func f() { if time.Since(t0) > time.Second { } }`, 1},
		"since, kept":         {`func f() { took := time.Since(t0); if took < bound { } }`, 1},
		"difference":          {`func f() { took := end.Sub(begin); _ = bound >= took }`, 1},
		"declared":            {`func f() { var took = time.Since(t0); if took.Seconds() < 1 { } }`, 1},
		"virtual time":        {`func f() { synctest.Test(t, func(t *testing.T) { if time.Since(t0) > time.Second { } }) }`, 0},
		"deadline of waiting": {`func f() { for time.Now().Before(deadline) { } }`, 0},
		"other comparisons":   {`func f() { took := time.Since(t0); t.Log(took); if n > 3 { } }`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, "x_test.go", "package x\n"+test.source, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if got := unhermetic(set, file); len(got) != test.found {
				t.Errorf("found %q, want %d", got, test.found)
			}
		})
	}
}

// tagsOf reports whether a file is built with the tag acceptance alone, and of which part it is.
func tagsOf(file *ast.File) (acceptance bool, part string) {
	for _, group := range file.Comments {
		if group.Pos() >= file.Package {
			break
		}
		for _, comment := range group.List {
			if !constraint.IsGoBuild(comment.Text) {
				continue
			}
			expr, err := constraint.Parse(comment.Text)
			if err != nil {
				continue
			}
			holds := func(without string) bool { return expr.Eval(func(tag string) bool { return tag != without }) }
			acceptance = holds("") && !holds("acceptance")
			for _, p := range testenv.Parts {
				if acceptance && p.Tagged() && !holds(p.Name) {
					part = p.Name
				}
			}
		}
	}
	return acceptance, part
}

func hasTests(file *ast.File) bool {
	return slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
		f, ok := decl.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name != "TestMain" && strings.HasPrefix(f.Name.Name, "Test")
	})
}

// realParts are imports that need something real.
var realParts = []string{
	"github.com/moby/moby/", "github.com/chromedp/", "github.com/creack/pty", "github.com/locbench/locbench/internal/contender/docker/dockertest",
}

// unhermetic returns the forbidden code of a plain test file.
func unhermetic(set *token.FileSet, file *ast.File) (found []string) {
	say := func(n ast.Node, what string) { found = append(found, set.Position(n.Pos()).String()+": "+what) }
	for _, imp := range file.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		if slices.ContainsFunc(realParts, func(p string) bool { return strings.HasPrefix(path, p) }) {
			say(imp, path+" is for acceptance tests")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if called(n, "synctest", "Test") {
				return false // time is virtual in there
			}
			for _, program := range []string{`"go"`, `"docker"`} {
				if (called(n, "exec", "Command") || called(n, "exec", "CommandContext")) && slices.ContainsFunc(n.Args, func(arg ast.Expr) bool {
					literal, ok := arg.(*ast.BasicLit)
					return ok && literal.Value == program
				}) {
					say(n, "runs "+program)
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "testenv" && n.Sel.Name == "Locbench" {
				say(n, "starts locbench as a process")
			}
		case *ast.FuncDecl:
			measured := durationsIn(n)
			ast.Inspect(n, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && called(call, "synctest", "Test") {
					return false
				}
				if compared, ok := n.(*ast.BinaryExpr); ok && isOrder(compared.Op) && (measured(compared.X) || measured(compared.Y)) {
					say(compared, "compares a measured duration with a bound")
				}
				return true
			})
		}
		return true
	})
	return found
}

// durationsIn returns a function that reports whether an expression is a duration measured in f: a
// call of time.Since or of a Sub, or a variable with such a value.
func durationsIn(f *ast.FuncDecl) func(ast.Expr) bool {
	names := map[string]bool{}
	measured := func(expr ast.Expr) (is bool) {
		ast.Inspect(expr, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				is = is || called(n, "time", "Since") || ok && sel.Sel.Name == "Sub" && len(n.Args) == 1
			case *ast.Ident:
				is = is || names[n.Name]
			case *ast.FuncLit:
				return false
			}
			return !is
		})
		return is
	}
	keep := func(left, right ast.Expr) {
		if name, ok := left.(*ast.Ident); ok && measured(right) {
			names[name.Name] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					keep(n.Lhs[i], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i := range n.Values {
				keep(n.Names[i], n.Values[i])
			}
		}
		return true
	})
	return measured
}

func isOrder(op token.Token) bool {
	return op == token.LSS || op == token.LEQ || op == token.GTR || op == token.GEQ
}

// called reports whether a call is of pkg.name.
func called(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}
