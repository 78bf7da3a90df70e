// Mutants changes one operator of a package at a time, runs the package's own plain tests on each
// change, and reports which changes no test noticed. It runs gremlins, and does not mutate by
// itself.
//
//	go run ./internal/testenv/mutants [-docs docs/testing.md] [-sample N] PACKAGE…
//
// With -sample it tests N of the mutants, chosen at random, the same ones each time for the same
// sources: an estimate in minutes where all of them take an hour.
// A mutant that behaves as the original does is equivalent: testdata/equivalent_mutants.txt of the
// package lists these, each with the reason.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

func main() {
	docs := flag.String("docs", "", "Markdown `FILE` whose table gets a row for each package")
	workers := flag.Int("workers", 2, "mutants tested at a time")
	sample := flag.Int("sample", 0, "test `N` mutants of each package, chosen at random; 0: all")
	flag.Parse()
	if err := run(flag.Args(), *docs, *workers, *sample); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(packages []string, docs string, workers, sample int) error {
	for _, pkg := range packages {
		pkg = filepath.ToSlash(filepath.Clean(pkg))
		tested, err := mutate(pkg, workers, sample > 0)
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
		all := len(tested)
		if sample > 0 {
			if tested, err = sampled(pkg, tested, sample); err != nil {
				return fmt.Errorf("%s: %w", pkg, err)
			}
		}
		known, err := readEquivalents(filepath.Join(pkg, "testdata", "equivalent_mutants.txt"))
		if err != nil {
			return err
		}
		sum := judge(tested, known)
		for _, m := range sum.unnoticed {
			fmt.Println(m)
		}
		for _, e := range known {
			if !e.found && sample == 0 {
				fmt.Printf("%s:%d: no unnoticed mutant is like this any more: take it out\n", e.path, e.line)
			}
		}
		row := sum.row(pkg)
		if sample > 0 {
			row = strings.Replace(row, fmt.Sprintf("| %d |", sum.made), fmt.Sprintf("| %d of %d |", sum.made, all), 1)
		}
		fmt.Println(header + row)
		if docs == "" {
			continue
		}
		if err := enter(docs, pkg, row); err != nil {
			return err
		}
	}
	return nil
}

// mutant is a change of one operator, and what became of it.
type mutant struct {
	File         string `json:"-"` // path from the module's root
	Text         string `json:"-"` // the source line, without its indentation
	Type, Status string
	Line, Column int
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d %s %s: %s", m.File, m.Line, m.Column, m.Type, m.Status, m.Text)
}

// sampled tests some of the mutants that gremlins found, one after the other.
func sampled(pkg string, all []mutant, n int) ([]mutant, error) {
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(n, len(all))]
	for i := range all {
		if all[i].Status == "RUNNABLE" {
			all[i].Status = "TIMED OUT" // to be tested
		}
	}
	return all, retry(pkg, all)
}

// mutate runs gremlins on the files of one package that are built on this system. A dry run tests
// nothing.
func mutate(pkg string, workers int, dry bool) ([]mutant, error) {
	out, err := os.CreateTemp("", "mutants-*.json")
	if err != nil {
		return nil, err
	}
	out.Close()
	defer os.Remove(out.Name())
	ignored, err := exec.Command("go", "list", "-f", `{{range .IgnoredGoFiles}}{{println .}}{{end}}`, "./"+pkg).Output()
	if err != nil {
		return nil, err
	}
	args := []string{"unleash", "--silent", "--workers", strconv.Itoa(workers),
		"--timeout-coefficient", "10", "--output", out.Name(), "--exclude-files", "/"}
	if dry {
		args = append(args, "--dry-run")
	}
	for file := range strings.Lines(string(ignored)) {
		args = append(args, "--exclude-files", "^"+regexp.QuoteMeta(strings.TrimSpace(file))+"$")
	}
	tools, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tools)
	cmd, err := apart(tools, append(args, "./"+pkg))
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, err
	}
	all, err := decode(content, pkg)
	if err != nil {
		return nil, err
	}
	if dry {
		return all, nil
	}
	return all, retry(pkg, all)
}

// apart returns a command that runs gremlins, installed in tools, where the system has them in a
// PID namespace, and each of its go commands in another: a mutant of what ends processes may end
// every process that it sees.
func apart(tools string, args []string) (*exec.Cmd, error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	install := exec.Command(goCommand, "install", gremlins)
	install.Env, install.Stderr = append(os.Environ(), "GOBIN="+tools), os.Stderr
	if err := install.Run(); err != nil {
		return nil, err
	}
	namespace := ownNamespace()
	script := "#!/bin/sh\nexec " + strings.Join(namespace, " ") + " '" + goCommand + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o700); err != nil {
		return nil, err
	}
	all := slices.Concat(namespace, []string{filepath.Join(tools, "gremlins")}, args)
	cmd := exec.Command(all[0], all[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd, nil
}

// ownNamespace returns the words that make a command run in its own PID namespace; nil
// if the system has none.
func ownNamespace() []string {
	namespace := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Getuid() != 0 {
		namespace = append(namespace, "--user", "--map-current-user")
	}
	if exec.Command(namespace[0], append(namespace[1:], "true")...).Run() != nil {
		return nil
	}
	return namespace
}

func decode(content []byte, pkg string) ([]mutant, error) {
	var result struct {
		Files []struct {
			Name      string   `json:"file_name"`
			Mutations []mutant `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(content, &result); err != nil {
		return nil, err
	}
	var all []mutant
	for _, file := range result.Files {
		path := filepath.Join(pkg, file.Name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		lines := bytes.Split(source, []byte("\n"))
		for _, m := range file.Mutations {
			if m.Line < 1 || m.Line > len(lines) {
				return nil, fmt.Errorf("%s has no line %d", path, m.Line)
			}
			m.File, m.Text = path, string(bytes.TrimSpace(lines[m.Line-1]))
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b mutant) int {
		return strings.Compare(fmt.Sprintf("%s:%06d:%06d:%s", a.File, a.Line, a.Column, a.Type),
			fmt.Sprintf("%s:%06d:%06d:%s", b.File, b.Line, b.Column, b.Type))
	})
	return all, nil
}

// equivalent is a line of testdata/equivalent_mutants.txt:
//
//	FILE TYPE SOURCE LINE — reason
type equivalent struct {
	path       string
	line       int
	file, kind string
	text       string
	found      bool
}

func readEquivalents(path string) ([]*equivalent, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*equivalent
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		mutation, reason, ok := cutLast(line, " — ")
		fields := strings.SplitN(mutation, " ", 3)
		if !ok || len(fields) != 3 || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: want FILE TYPE SOURCE LINE — reason", path, i+1)
		}
		all = append(all, &equivalent{path: path, line: i + 1, file: fields[0], kind: fields[1], text: strings.TrimSpace(fields[2])})
	}
	return all, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

type summary struct {
	made, killed, equivalent, lived, notReached int
	unnoticed                                   []mutant
}

// judge counts.
func judge(tested []mutant, known []*equivalent) summary {
	var s summary
	for _, m := range tested {
		switch m.Status {
		case "NOT VIABLE", "SKIPPED": // does not compile
			continue
		case "KILLED":
			s.killed++
		default:
			i := slices.IndexFunc(known, func(e *equivalent) bool {
				return e.file == filepath.Base(m.File) && e.kind == m.Type && e.text == m.Text
			})
			switch {
			case i >= 0:
				known[i].found = true
				s.equivalent++
			case m.Status == "NOT COVERED":
				s.notReached++
				s.unnoticed = append(s.unnoticed, m)
			default:
				s.lived++
				s.unnoticed = append(s.unnoticed, m)
			}
		}
		s.made++
	}
	return s
}

const header = "| package | made | equivalent | killed | lived | not reached | killed of those not equivalent |\n" +
	"|---|---|---|---|---|---|---|\n"

func (s summary) row(pkg string) string {
	share := 100.0
	if n := s.made - s.equivalent; n > 0 {
		share = 100 * float64(s.killed) / float64(n)
	}
	return fmt.Sprintf("| `%s` | %d | %d | %d | %d | %d | %.0f%% |",
		strings.TrimPrefix(pkg, "internal/"), s.made, s.equivalent, s.killed, s.lived, s.notReached, share)
}

// enter puts the package's row into the table of the file, in place of its row of an earlier run.
func enter(path, pkg, row string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(content), header)
	if !ok {
		return fmt.Errorf("%s has no table of mutants", path)
	}
	rows := map[string]string{}
	for strings.HasPrefix(rest, "| `") {
		line, after, _ := strings.Cut(rest, "\n")
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		rows[name], rest = line, after
	}
	rows[strings.TrimPrefix(pkg, "internal/")] = row
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		table.WriteString(rows[name] + "\n")
	}
	return os.WriteFile(path, []byte(before+header+table.String()+rest), 0o644)
}
