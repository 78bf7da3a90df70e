//go:build unix

package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/testenv"
)

// packageTests are the tests of a part in one package.
type packageTests struct {
	dir   string // below the root, such as ./internal/contender/docker
	names []string
}

// testsOf finds the tests of parts below root: those in files that are built here with the tag
// acceptance and the part's, but not with acceptance alone.
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
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		if built, err := builtWith(path, "acceptance"); built || err != nil {
			return err
		}
		for _, part := range parts {
			if !part.Tagged() {
				continue
			}
			built, err := builtWith(path, "acceptance", part.Name)
			if err != nil {
				return err
			}
			if built {
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				found[part.Name] = add(found[part.Name], "./"+filepath.ToSlash(filepath.Dir(path)), testsIn(file))
			}
		}
		return nil
	})
	return found, err
}

// builtWith reports whether a file is built here with those tags.
func builtWith(path string, tags ...string) (bool, error) {
	here := build.Default
	here.BuildTags = tags
	return here.MatchFile(filepath.Dir(path), filepath.Base(path))
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
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
