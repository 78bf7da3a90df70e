//go:build unix

package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"locbench/internal/testenv"
)

// packageTests are the tests of a part in one package.
type packageTests struct {
	dir   string // below the root, such as ./internal/docker
	names []string
}

// testsOf finds the tests of parts below root: those in files that are built with the part's tag,
// and not without. Files for other systems have none here.
func testsOf(root string, parts []testenv.Part) (map[string][]packageTests, error) {
	found := map[string][]packageTests{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") || !namedForThis(filepath.Base(path)) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if part.Tagged() && isOf(file, part.Name) {
				found[part.Name] = add(found[part.Name], "./"+filepath.ToSlash(filepath.Dir(path)), testsIn(file))
			}
		}
		return nil
	})
	return found, err
}

func add(all []packageTests, dir string, names []string) []packageTests {
	if len(names) == 0 {
		return all
	}
	i := slices.IndexFunc(all, func(p packageTests) bool { return p.dir == dir })
	if i < 0 {
		return append(all, packageTests{dir: dir, names: names})
	}
	all[i].names = append(all[i].names, names...)
	return all
}

func testsIn(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// isOf says whether a file is built here with the tags acceptance and part, and not without part.
func isOf(file *ast.File, part string) bool {
	for _, group := range file.Comments {
		if group.Pos() >= file.Package {
			return false
		}
		for _, comment := range group.List {
			if !constraint.IsGoBuild(comment.Text) {
				continue
			}
			expr, err := constraint.Parse(comment.Text)
			if err != nil {
				return false
			}
			with := func(tags ...string) bool {
				return expr.Eval(func(tag string) bool { return systemTag(tag) || slices.Contains(tags, tag) })
			}
			return with("acceptance", part) && !with("acceptance")
		}
	}
	return false
}

func systemTag(tag string) bool {
	return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "unix" || tag == "cgo" || strings.HasPrefix(tag, "go1.")
}

// namedForThis says whether the name of a test file is of this system, or of none.
func namedForThis(base string) bool {
	words := strings.Split(strings.TrimSuffix(base, "_test.go"), "_")
	last := words[len(words)-1]
	return len(words) == 1 || !slices.Contains([]string{"windows", "darwin", "linux"}, last) || last == runtime.GOOS
}
