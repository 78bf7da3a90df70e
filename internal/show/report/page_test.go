package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestPage(t *testing.T) {
	var p pageWriter
	p.put(`<b title="{}">{}</b>`, `" onload='x'`, "<i>&{}")
	p.put("{}", 3)
	p.optional("<p>{}</p>", "")
	p.every("<i>{}</i>", []string{"a", "<"})
	want := `<b title="&#34; onload=&#39;x&#39;">&lt;i&gt;&amp;{}</b>3<i>a</i><i>&lt;</i>`
	testenv.Equal(t, p.String(), want)
}

// TestPage_EveryPlaceHasItsValue compares the places of each HTML text with the values given to it,
// and finds a place outside of text and quotes, where escaping would not be enough.
func TestPage_EveryPlaceHasItsValue(t *testing.T) {
	files, err := filepath.Glob("page*.go")
	testenv.Need(t, err == nil && len(files) >= 3, "%v, %v", files, err)
	values := map[string]func(args int) int{
		"put": func(args int) int { return args - 1 }, "optional": func(int) int { return 1 }, "every": func(int) int { return 1 },
	}
	calls := 0
	for _, file := range files {
		set := token.NewFileSet()
		tree := testenv.Must(parser.ParseFile(set, file, nil, 0))(t)
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || values[method.Sel.Name] == nil || file == "page_test.go" {
				return true
			}
			text, literal := constant(call.Args[0])
			if !literal {
				return true // within put, optional and every
			}
			calls++
			at := set.Position(call.Pos())
			got, want := strings.Count(text, "{}"), values[method.Sel.Name](len(call.Args))
			testenv.Check(t, got == want, "%s: %d places, %d values", at, got, want)
			testenv.Contains(t, text, "!={}", "!<{}", "!<script")
			return true
		})
	}
	testenv.Check(t, calls >= 70, "%d calls found", calls)
}

// constant returns the text of a literal, or of several that are added.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, both := constant(e.Y)
		return left + right, ok && both
	}
	return "", false
}
