//go:build unix

package main

import (
	"go/ast"
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

// TestRules has the rules of the sources that no linter of .golangci.yml can express: what no line of some files
// matches.
func TestRules(t *testing.T) {
	const kinds = `\bbench\.(Runtime(Auto|Docker|Process|URL)|Need(Auto|Embedded|External|Container|None))\b`
	tests := regexp.MustCompile(`_test\.go$`)
	for name, rule := range map[string]struct {
		in, but string // patterns of paths; tests are not among them
		wrong   string // pattern of a line
		except  string // pattern of what is taken out of a line before
		instead string
	}{
		"no name of a runtime or need decides: it would forget a new one": {`^internal/`, `/(bench|elasticsearch|platform|launch)/[^/]*$`,
			`[!=]=.*` + kinds + `|` + kinds + `\)? [!=]=|^\s*case .*` + kinds, ``, "ask for what it is (Traits)"},
		"no struct has warnings as texts": {`^internal/`, `^$`, `^\t+(\w+, )*(warnings?|notices?|notes|caveats?|\w*(Warnings?|Notices?|Notes|Caveats?))(, \w+)* +\[\]string\b`,
			``, "use bench.Warnings, and make sentences when printing"},
		// Numbers with two digits, of CPUs in use, are "1.00 CPUs".
		"no number of CPUs without its noun": {`^internal/`, `^$`, `%(d|g|v|s) CPUs?\b`, `^\s*//.*`, "it may be 1: use units.CPUs or units.Plural"},
		// Words of the need elasticsearch and of its data, also as parts of names. A method Store of package atomic, and
		// the header no-store, are others.
		"these packages know needs, and not which ones there are": {
			`^internal/(analysis|app|bench|contender/platform|[f]igures|results|run|show)/|^internal/needs/(needs|kind|address)\.go$`, `^$`,
			`(?i:elastic|\b(city|cities|stores?)\b)|[a-z]Store\b|\bStore[A-Z]`, `\.(LoadOr)?Store\(|"no-store"`, "name the need"},
	} {
		t.Run(name, func(t *testing.T) {
			in, but, wrong, except := regexp.MustCompile(rule.in), regexp.MustCompile(rule.but), regexp.MustCompile(rule.wrong), regexp.MustCompile(rule.except)
			files := 0
			eachGo(t, func(path string) {
				if tests.MatchString(path) || !in.MatchString(path) || but.MatchString(path) {
					return
				}
				files++
				n := 0
				for line := range strings.Lines(readPage(t, path)) {
					if n++; wrong.MatchString(except.ReplaceAllString(line, "")) {
						t.Errorf("%s:%d: %s: %s", path, n, strings.TrimSpace(line), rule.instead)
					}
				}
			})
			testenv.Check(t, files > 50, "%d files", files)
		})
	}
}

// TestRules_Tests: plain tests are hermetic, and acceptance tests belong to a part, whose tag the linters see.
func TestRules_Tests(t *testing.T) {
	linters := regexp.MustCompile(`build-tags: \[acceptance, (.*)]`).FindStringSubmatch(readPage(t, ".golangci.yml"))
	testenv.Need(t, len(linters) == 2, "no tags")
	parts := strings.Split(linters[1], ", ")
	for _, part := range parts {
		testenv.Contains(t, readPage(t, ".ci/acceptance"), "\n"+part+"()")
	}
	part, test := regexp.MustCompile(`\b(`+strings.Join(parts, "|")+`)\b`), regexp.MustCompile(`(?m)^func Test\w+\(t \*testing.T\)`)
	set := token.NewFileSet()
	plain, acceptance := 0, 0
	eachGo(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		text := readPage(t, path)
		built, _, _ := strings.Cut(text, "\npackage ")
		if strings.Contains(built, "acceptance") {
			acceptance++
			testenv.Check(t, part.MatchString(built) || !test.MatchString(text), "%s belongs to no part: //go:build acceptance && PART", path)
			return
		}
		plain++
		file := testenv.Must(parser.ParseFile(set, filepath.Join(root, path), text, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			return hermetic(n, func(at ast.Node, what string) { t.Errorf("%s: %s", set.Position(at.Pos()), what) })
		})
	})
	testenv.Check(t, plain > 50 && acceptance > 50, "%d and %d files", plain, acceptance)
}

// eachGo calls f for each Go file, by its path in the repository.
func eachGo(t *testing.T, f func(path string)) {
	t.Helper()
	testenv.OK(t, fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			f(path)
		}
		return err
	}))
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
	if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "inVirtualTime" {
		return false
	}
	switch f, _ := call.Fun.(*ast.SelectorExpr); {
	case f == nil:
	case isCall(f, "synctest", "Test"):
		return false // time is virtual in there
	case isCall(f, "time", "Since"):
		found(call, "measures real time")
	case isCall(f, "exec", "Command", "CommandContext"):
		for _, arg := range call.Args {
			if text, ok := arg.(*ast.BasicLit); ok && (text.Value == `"go"` || text.Value == `"docker"`) {
				found(call, "runs "+text.Value)
			}
		}
	}
	return true
}

// isCall reports whether a function is one of these of a package.
func isCall(f *ast.SelectorExpr, pkg string, names ...string) bool {
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, f.Sel.Name)
}

// TestWorkflows holds that a workflow only calls scripts of .ci and targets of the Makefile, which
// run on any machine: a check that exists in a workflow alone cannot be repeated elsewhere.
func TestWorkflows(t *testing.T) {
	makefile := readPage(t, "Makefile")
	files := testenv.Must(filepath.Glob(root + "/.github/workflows/*.yml"))(t)
	testenv.Check(t, len(files) > 0, "no workflows")
	call := regexp.MustCompile(`^(?:sudo env "PATH=\$PATH" )?(?:(\.ci/[a-z0-9]+)|make ([a-z-]+))(?: \$\{\{ matrix\.[a-z]+ \}\})?$`)
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		testenv.OK(t, yaml.Unmarshal(testenv.Must(os.ReadFile(file))(t), &workflow))
		calls := 0
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if step.Run == "" {
					continue
				}
				calls++
				m := call.FindStringSubmatch(strings.TrimSpace(step.Run))
				testenv.Need(t, m != nil, "%s runs %q: move it to .ci or the Makefile", file, step.Run)
				info, err := os.Stat(filepath.Join(root, m[1]))
				testenv.Check(t, m[1] == "" || err == nil && info.Mode()&0o111 != 0, "%s calls %s, which is not a program", file, m[1])
				testenv.Check(t, m[2] == "" || strings.Contains(makefile, "\n"+m[2]+": "), "%s calls make %s, which the Makefile does not have", file, m[2])
			}
		}
		testenv.Check(t, calls > 0, "%s calls nothing", file)
	}
}
