// Package targets reads vegeta's target files, in its HTTP format and in its JSON format, with
// vegeta's own readers. It reports the first mistake of a file: what vegeta rejects, or what it
// accepts and locbench cannot send.
package targets

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

const (
	// Most is the number of different targets that a file may have: as many as a profile has
	// requests.
	Most = 100

	maxFile   = 16 << 20 // bytes of a target file
	maxBody   = 64 << 20 // bytes of the file of a body, as of a request's `file`
	maxHeader = 50       // names of a target, as of a request in a profile
	maxText   = 64 << 10 // bytes of a body in the JSON format, as of a text in a profile
	maxWord   = 200      // bytes of a text from outside in a mistake
)

// bodyMark replaces the `@` before the file of a body: vegeta, which opens any file, opens none then.
// It is not a name of a header.
const bodyMark = "(body):"

// File is a target file.
type File struct {
	Base    string   // scheme and host of all targets: "http://127.0.0.1:8080"
	Targets []Target // the different ones, in the order of their first appearance
}

// Target is a request. Its texts are sent unchanged: braces in them are not variables.
type Target struct {
	Line     int // where it is first, from 1
	Weight   int // how often the file has it
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
		dir: filepath.Dir(path), allowed: allowed, lines: strings.SplitAfter(string(data)+"\n", "\n"),
		isJSON: strings.HasPrefix(strings.TrimSpace(string(data)), "{"), index: map[string]int{}, bodies: map[string]string{},
	}
	if err := r.read(); err != nil {
		return File{}, strictyaml.Mistakes{{File: name, Line: max(r.line, 1), What: err.Error()}}
	}
	return r.file, nil
}

// reader reads one target file.
type reader struct {
	dir     string   // of the file
	allowed []string // folders with bodies, in addition to dir
	file    File
	lines   []string // with their ends
	isJSON  bool
	line    int               // the one that is read, from 1
	index   map[string]int    // of the targets, by their content
	bodies  map[string]string // whole paths of files with bodies, by their paths in the file
}

func (r *reader) read() error {
	for i := range r.lines {
		r.line = i + 1
		if err := r.prepare(); err != nil {
			return err
		}
	}
	in := &lineReader{lines: r.lines}
	next, hint := vegeta.NewHTTPTargeter(in, nil, nil), "write `METHOD URL`, below it `NAME: VALUE` for each header, then "+
		"`@FILE` for a body, and an empty line between targets"
	if r.isJSON {
		next = vegeta.NewJSONTargeter(in, nil, nil)
		hint = `write one object in each line, such as {"method": "POST", "url": "http://127.0.0.1:8080/items", "body": "SGVsbG8="}` +
			", with the body in base64"
	}
	for {
		r.line = max(in.begun, 1)
		var t vegeta.Target
		err := next.Decode(&t)
		switch {
		case errors.Is(err, vegeta.ErrNoTargets) && len(r.file.Targets) == 0:
			return errors.New("no targets; write one, such as `GET http://127.0.0.1:8080/items`")
		case errors.Is(err, vegeta.ErrNoTargets):
			return nil
		case err != nil:
			r.line = in.begun
			return fmt.Errorf("vegeta: %s; %s", r.reason(err), hint)
		}
		for r.line < in.begun && !strings.HasPrefix(strings.TrimSpace(r.lines[r.line-1]), t.Method+" "+t.URL) {
			r.line++ // to the first line of the target: vegeta may have looked at the one after it
		}
		if err := r.add(t); err != nil {
			return err
		}
	}
}

// reason returns what vegeta says of a mistake without the text of the file, which may be secret.
func (r *reader) reason(err error) string {
	end := ":" // "bad header: LINE"
	if r.isJSON {
		end = " near offset " // "parse error: … near offset 7 of 'LINE'"
	}
	text, _, _ := strings.Cut(err.Error(), end)
	return safe.Line(text, maxWord)
}

// prepare checks a line before vegeta reads it, and replaces the name of a file.
func (r *reader) prepare() error {
	line := r.lines[r.line-1]
	name, isBody := strings.CutPrefix(strings.TrimSpace(line), "@")
	switch {
	case !utf8.ValidString(line):
		return errors.New("not UTF-8; write the file in UTF-8")
	case r.isJSON:
		return nil
	case len(line) > bufio.MaxScanTokenSize:
		return errors.New("a line of 64 KiB or more, at which vegeta ends; shorten it, or use the JSON format")
	case isBody:
		path, err := r.bodyFile(name)
		if err != nil {
			return err
		}
		r.bodies[name], r.lines[r.line-1] = path, bodyMark+name+"\n\n" // as for vegeta, the end of the target
	}
	return nil
}

// bodyFile returns the whole path of the file of a body: in the folder of the target file, or in
// the working folder, as for vegeta. If both have such a file, either may be meant.
func (r *reader) bodyFile(name string) (string, error) {
	path := name
	if near := filepath.Join(r.dir, name); !filepath.IsAbs(name) {
		here, _ := os.Stat(name)
		there, err := os.Stat(near)
		if err == nil || here == nil {
			path = near
		}
		if err == nil && here != nil && !os.SameFile(here, there) {
			return "", fmt.Errorf("`@%s` is two files: in the folder of this file, and in the working folder, which vegeta takes; "+
				"write the whole path of the one that you mean", safe.Line(name, maxWord))
		}
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if what, hint := strictyaml.Outside("@"+name, whole, r.dir, r.allowed); what != "" {
		return "", errors.New(what + "; " + hint)
	}
	f, err := safe.Open(whole)
	if err != nil {
		return "", fmt.Errorf("`@%s`: %s; write the path of a file from the folder of this file, or from the working folder",
			safe.Line(name, maxWord), safe.Line(err.Error(), maxWord))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxBody {
		return "", fmt.Errorf("`@%s` is larger than 64 MiB; shorten it", safe.Line(name, maxWord))
	}
	return whole, nil
}

// add adds a target that vegeta has read.
func (r *reader) add(t vegeta.Target) error {
	one := Target{Method: t.Method, Header: map[string]string{}, Body: string(t.Body)}
	if all := t.Header[strings.TrimSuffix(bodyMark, ":")]; len(all) == 1 && r.bodies[all[0]] != "" {
		one.BodyFile = r.bodies[all[0]]
		delete(t.Header, strings.TrimSuffix(bodyMark, ":"))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Header)) {
		canonical, values := textproto.CanonicalMIMEHeaderKey(name), t.Header[name]
		if before, again := one.Header[canonical]; again {
			values = append([]string{before}, values...)
		}
		if len(values) > 1 && !Repeats(canonical) {
			return fmt.Errorf("the header %q is given twice; write one, with commas between its values", safe.Line(name, maxWord))
		}
		one.Header[canonical] = strings.Join(values, "; ")
	}
	if err := r.address(&one, t.URL); err != nil {
		return err
	}
	switch {
	case len(one.Header) > maxHeader:
		return fmt.Errorf("%d headers; write at most %d", len(one.Header), maxHeader)
	case !utf8.ValidString(one.Body) || len(bench.Literal(one.Body)) > maxText:
		return errors.New("a body that is not text, or has more than 64KiB; write it to a file, and name that by `@FILE` in the HTTP format")
	}
	key := fmt.Sprintf("%#v", one)
	i, again := r.index[key]
	switch {
	case again:
		r.file.Targets[i].Weight++
	case len(r.file.Targets) == Most:
		return fmt.Errorf("more than %d different targets; put what differs into a file of values and write one request in a "+
			"profile: `get: /items/{item}` with `variables: {item: {file: items.csv, column: item}}`", Most)
	default:
		r.index[key] = len(r.file.Targets)
		one.Line, one.Weight = r.line, 1
		r.file.Targets = append(r.file.Targets, one)
	}
	return nil
}

// address fills in path and query of a URL, as vegeta sends them, and its user. Its host must be
// that of the other targets.
func (r *reader) address(t *Target, raw string) error {
	if strings.Contains(raw, " ") { // vegeta sends it, as %20
		return errors.New("the URL has a blank; write it as %20, and no version of HTTP after the URL")
	}
	u, err := secret.ParseURL(raw)
	if err != nil {
		return err
	}
	if !secret.IsHTTP(u) {
		return errors.New("the URL has no scheme and host; write a whole one, such as `http://127.0.0.1:8080/items`")
	}
	base := u.Scheme + "://" + strings.ToLower(u.Host)
	base = strings.TrimSuffix(base, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	if r.file.Base == "" {
		r.file.Base = base
	}
	if base != r.file.Base {
		return fmt.Errorf("another host than %s: %s; write one file for each: all requests go to the contender, or to --target URL",
			safe.Line(r.file.Base, maxWord), safe.Line(base, maxWord))
	}
	if t.Path = Encoded(u.RequestURI(), "{}"); u.User != nil { // net/http, by which vegeta sends, makes a header of it
		if t.Header["Authorization"] != "" {
			return errors.New("the URL has a user, and the target an Authorization; keep one of the two")
		}
		password, _ := u.User.Password()
		t.Header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return nil
}

// Encoded escapes what a path of a profile may not have, and more letters. vegeta does the same with
// braces in the path, and sends the query unchanged, which means the same to the service.
func Encoded(path, more string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(more, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Repeats reports whether a header that is given several times is one with all values, joined by "; ":
// commas would be part of a cookie (RFC 6265, 5.4).
func Repeats(name string) bool { return strings.EqualFold(name, "Cookie") }

// lineReader gives vegeta one line at a time: then the line is known at which vegeta ends.
type lineReader struct {
	lines []string
	begun int    // how many of them
	rest  string // of the last one
}

// Read reads a line, or a part of it.
func (l *lineReader) Read(p []byte) (n int, err error) {
	if l.rest == "" {
		if l.begun == len(l.lines) {
			return 0, io.EOF
		}
		l.rest = l.lines[l.begun]
		l.begun++
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
