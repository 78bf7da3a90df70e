package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Coverage counts blocks of statements. The expressions of a case and the values of package-level
// declarations are in none of them, so gremlins holds their mutants to be not covered, and does not
// test them. Its time limit includes compiling: on a busy machine a mutant may run into it that no
// test notices. retry tests both kinds.

// retry tests the mutants of a package that are in no block of statements, and those that timed
// out.
func retry(pkg string, all []mutant) error {
	outside := map[string]map[int]bool{} // file: offsets of all expressions outside blocks
	for i, m := range all {
		if m.Status != "NOT COVERED" && m.Status != "TIMED OUT" {
			continue
		}
		source, err := os.ReadFile(m.File)
		if err != nil {
			return err
		}
		if outside[m.File] == nil {
			if outside[m.File], err = outsideBlocks(m.File, source); err != nil {
				return err
			}
		}
		at := offset(source, m.Line, m.Column)
		if m.Status == "NOT COVERED" && !outside[m.File][at] {
			continue
		}
		changed, ok := change(source, at, m.Type)
		if !ok {
			return fmt.Errorf("%s:%d:%d: cannot repeat %s", m.File, m.Line, m.Column, m.Type)
		}
		if all[i].Status, err = test(pkg, m.File, changed); err != nil {
			return err
		}
	}
	return nil
}

// outsideBlocks returns the offsets of the operators in expressions of cases and in package-level
// declarations.
func outsideBlocks(path string, source []byte) (map[int]bool, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return nil, err
	}
	at := map[int]bool{}
	operators := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // has its own blocks
		case *ast.BinaryExpr:
			at[set.Position(n.OpPos).Offset] = true
		case *ast.UnaryExpr:
			at[set.Position(n.OpPos).Offset] = true
		}
		return true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				ast.Inspect(e, operators)
			}
		case *ast.GenDecl:
			ast.Inspect(n, operators)
		}
		return true
	})
	return at, nil
}

// offset returns the offset of a column, counted in bytes from 1, of a line.
func offset(source []byte, line, column int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(string(source[at:]), '\n') + 1
	}
	return at + column - 1
}

// mutations are the changes that gremlins makes, by kind; the longer operator of two comes first.
var mutations = map[string][][2]string{
	"CONDITIONALS_BOUNDARY": {{"<=", "<"}, {">=", ">"}, {"<", "<="}, {">", ">="}},
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}},
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
}

func change(source []byte, at int, kind string) ([]byte, bool) {
	for _, m := range mutations[kind] {
		if rest, ok := strings.CutPrefix(string(source[at:]), m[0]); ok {
			return []byte(string(source[:at]) + m[1] + rest), true
		}
	}
	return nil, false
}

// test runs the package's tests with a changed file.
func test(pkg, path string, changed []byte) (string, error) {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	original, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	file, list := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err == nil {
		err = errors.Join(os.WriteFile(file, changed, 0o600), os.WriteFile(list, overlay, 0o600))
	}
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-overlay", list, "-o", os.DevNull, "./"+pkg)
	if build.Run() != nil {
		return "NOT VIABLE", nil
	}
	tests := append(ownNamespace(), "go", "test", "-failfast", "-timeout", "1m", "-overlay", list, "./"+pkg)
	if exec.Command(tests[0], tests[1:]...).Run() != nil {
		return "KILLED", nil
	}
	return "LIVED", nil
}
