// Package targets reads vegeta's target files, in its HTTP format and in its JSON format. vegeta's
// own reader parses each target. This package finds the lines, and reports what vegeta would
// reject, ignore or send otherwise than it reads: all mistakes at once, each with its line and
// what would be right.
package targets

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	// Most is the number of different targets that a file may have: as many as a profile has
	// requests.
	Most = 100

	maxFile   = 16 << 20 // bytes of a target file
	maxHeader = 50       // names of a target, as of a request in a profile
	maxText   = 64 << 10 // bytes of a body in the JSON format, as of a text in a profile
)

// File is a target file.
type File struct {
	Base    string   // scheme and host of all targets: "http://127.0.0.1:8080"
	Targets []Target // the different ones, in the order of their first appearance
}

// Target is a request. Its texts are sent unchanged: braces in them are not variables.
type Target struct {
	Line     int            // where it is first, from 1
	Parts    map[string]int // lines of its parts: "file", "header.Accept"
	Weight   int            // how often the file has it
	Method   string
	Path     string            // path and query, percent-encoded
	Header   map[string]string // one value for each name, which is in its canonical form
	Body     string
	BodyFile string // whole path of the file with the body; "": Body
}

// Read reads a target file, which has a name in mistakes. Its bodies are in its folder or in
// allowed ones. The error is a [strictyaml.Mistakes] if the file could be read.
func Read(path, name string, allowed ...string) (File, error) {
	data, err := safe.ReadFile(path, maxFile)
	if err != nil {
		return File{}, err
	}
	return Parse(path, name, data, allowed...)
}

// Parse reads the content of the target file at path.
func Parse(path, name string, data []byte, allowed ...string) (File, error) {
	r := &reader{
		Collector: strictyaml.Collector{File: name}, dir: filepath.Dir(path), allowed: allowed, hosts: map[string]bool{},
		index: map[string]int{}, known: map[string]int{}, bodies: map[string]string{},
	}
	r.read(data)
	if err := r.Err(); err != nil {
		return File{}, err
	}
	return r.file, nil
}

// reader reads one target file.
type reader struct {
	strictyaml.Collector
	dir     string   // of the file
	allowed []string // folders with bodies, in addition to dir
	file    File
	first   int               // line of the first target with a host
	hosts   map[string]bool   // other hosts, each reported once
	index   map[string]int    // of the targets, by their content
	known   map[string]int    // the same, by their text in the file
	bodies  map[string]string // whole paths of files with bodies, by their paths in the file
	many    bool              // it has reported too many targets
}

func (r *reader) read(data []byte) {
	if at := invalidAt(data); at >= 0 {
		r.Add(1+bytes.Count(data[:at], []byte("\n")), "not UTF-8", "write the file in UTF-8")
		return
	}
	text, marked := strings.CutPrefix(string(data), "\ufeff")
	if marked {
		r.Add(1, "a byte order mark, which vegeta takes for a part of the first method", "save the file without it")
	}
	lines := strings.Split(text, "\n")
	if isJSON(lines) {
		r.json(lines)
	} else {
		r.http(lines)
	}
	if len(r.file.Targets) == 0 && r.Err() == nil {
		r.Add(1, "no targets", "write one, such as `GET http://127.0.0.1:8080/items`")
	}
}

// invalidAt returns where data is not UTF-8, or -1.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// isJSON reports whether the first line with a target is JSON.
func isJSON(lines []string) bool {
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line[0] == '{' || line[0] == '['
		}
	}
	return false
}

// place is where a target is in the file.
type place struct {
	line  int
	parts map[string]int // see Target
}

// part returns the line of a part, or else of the target.
func (p place) part(name string) int { return cmp.Or(p.parts[name], p.line) }

// repeated counts a target again that the file has in the same text. It returns false for a new
// one.
func (r *reader) repeated(text string) bool {
	i, again := r.known[text]
	if again {
		r.file.Targets[i].Weight++
	}
	return again
}

// add adds a target that vegeta has read from text. body is the path of its file, "" without one.
func (r *reader) add(text string, t vegeta.Target, p place, body string) {
	one := Target{Line: p.line, Parts: p.parts, Weight: 1, Method: t.Method, Body: string(t.Body)}
	path, user, _ := r.address(t.URL, p.line)
	one.Path, one.Header = path, r.header(t, p)
	if user != nil { // net/http, by which vegeta sends, makes a header of it
		const name = "Authorization"
		if one.Header[name] != "" {
			r.Add(p.part("header."+name), "the URL has a user, and the target an "+name, "keep one of the two")
		}
		password, _ := user.Password()
		one.Header[name] = "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
	}
	const elsewhere = "write it to a file, and name that by `@FILE` in the HTTP format"
	switch {
	case body != "":
		one.BodyFile = r.bodyFile(body, p.part("file"))
	case !utf8.ValidString(one.Body):
		r.Add(p.line, "a body that is not text", elsewhere)
	case len(bench.Literal(one.Body)) > maxText:
		r.Add(p.line, "a body of more than "+strictyaml.FormatBytes(maxText), elsewhere)
	}
	key := one.key()
	i, again := r.index[key]
	switch {
	case again:
		r.file.Targets[i].Weight++
	case len(r.file.Targets) < Most:
		i = len(r.file.Targets)
		r.file.Targets = append(r.file.Targets, one)
		r.index[key] = i
	default:
		r.tooMany(p.line)
		return
	}
	r.known[text] = i
}

func (r *reader) tooMany(line int) {
	if !r.many {
		r.many = true
		r.Add(line, fmt.Sprintf("more than %d different targets", Most), "put what differs into a file of values and write "+
			"one request in a profile: `get: /items/{item}` with `variables: {item: {file: items.csv, column: item}}`")
	}
}

// key returns a text that only equal targets have.
func (t Target) key() string {
	parts := []string{t.Method, t.Path, t.Body, t.BodyFile}
	for _, name := range slices.Sorted(maps.Keys(t.Header)) {
		parts = append(parts, name, t.Header[name])
	}
	return fmt.Sprintf("%q", parts)
}
