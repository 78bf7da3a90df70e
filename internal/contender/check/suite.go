package check

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Schema is the JSON Schema of suites. TestKeys of package cli compares it with what is read.
//
//go:embed suite.schema.json
var Schema strictyaml.Schema

// Suite is a set of HTTP checks, grouped by endpoint; docs/suites.md has its YAML form.
type Suite struct {
	Name   string
	Groups []Group
}

// Group holds the checks of one endpoint group: "get", "search", …
type Group struct {
	Name   string
	Checks []Check
}

// Check is one request and its expected response.
type Check struct {
	Name    string // unique within its group
	Request Request
	Expect  Expect
	Timeout time.Duration // 0: Options.Timeout
}

// Len returns the number of checks.
func (s *Suite) Len() (n int) {
	for _, g := range s.Groups {
		n += len(g.Checks)
	}
	return n
}

// GroupNames returns the names of the groups, in the order of the file.
func (s *Suite) GroupNames() (names []string) {
	for _, g := range s.Groups {
		names = append(names, g.Name)
	}
	return names
}

// SuiteNames returns the names of the bundled suites, sorted.
func SuiteNames() (names []string) {
	entries, _ := kinds.Suites.ReadDir("suites") // it is embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// bundledSuite returns the file of a bundled suite; nil if there is none of that name.
func bundledSuite(name string) []byte {
	data, _ := kinds.Suites.ReadFile("suites/" + name + ".yaml")
	return data
}

// IsFile reports whether a suite is named by its path: a text with a slash, or one that ends in
// .yaml or .yml.
func IsFile(nameOrPath string) bool {
	end := filepath.Ext(nameOrPath)
	return strings.ContainsAny(nameOrPath, `/\`) || end == ".yaml" || end == ".yml"
}

// LoadSuite reads a bundled suite by its name, or a file by its path; see IsFile. Its schemas are
// in its folder or in allowed ones. Mistakes in the file are a strictyaml.Mistakes.
func LoadSuite(nameOrPath string, allowed ...string) (*Suite, error) {
	if IsFile(nameOrPath) {
		data, err := strictyaml.ReadFile(nameOrPath)
		if err != nil {
			return nil, fmt.Errorf("read suite: %w", err)
		}
		return ParseSuite(nameOrPath, data, allowed...)
	}
	data := bundledSuite(nameOrPath)
	if data == nil {
		return nil, fmt.Errorf("no bundled suite %q (%s); for a file, write its path", safe.Line(nameOrPath, 60),
			strictyaml.Suggest(nameOrPath, "bundled", SuiteNames()))
	}
	return ParseSuite("suites/"+nameOrPath+".yaml", data)
}

// ParseSuite reads a suite. Mistakes are a strictyaml.Mistakes, with file as the file's name.
func ParseSuite(file string, data []byte, allowed ...string) (*Suite, error) {
	s := new(Suite)
	if err := strictyaml.DecodeFrom(file, data, s, strictyaml.Options{Allowed: allowed}, func(strictyaml.Value) {}); err != nil {
		return nil, err
	}
	return s, nil
}
