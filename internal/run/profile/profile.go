// Package profile reads benchmarks from YAML (profiles/*.yaml and files of users) into
// bench.Profile.
//
// A profile decides the results together with the machine. profiles/locations.yaml explains every
// key. All mistakes of a file are reported at once with their lines (package strictyaml). Other
// parts of locbench check whether a contender, suite or data folder exists and a need responds.
package profile

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile/targets"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

//go:embed profile.schema.json
var ownSchema string

// Schema is the JSON Schema of profiles. TestKeys of package cli compares it with what is read.
var Schema = kinds.WithNeeds(ownSchema)

// ErrUnknown is wrapped by the error of Load when no profile and no file has the name.
var ErrUnknown = errors.New("unknown profile")

// Load reads the bundled profile called name (<name>.yaml in bundled), or else the file name.
//
// The file names files in its own folder and below, or in the allowed folders.
func Load(name string, bundled fs.FS, allowed ...string) (bench.Profile, error) {
	return LoadWith(name, bundled, "", allowed...)
}

// LoadWith is Load with the requests of vegeta's target file in place of the profile's requests and
// sessions, unless targets is "". The needs, data and checks of a bundled profile are for its own
// requests: they are left out, as in a profile without these keys. Mistakes in a request have the
// name of the target file.
func LoadWith(name string, bundled fs.FS, targets string, allowed ...string) (bench.Profile, error) {
	with := instead{targets: targets, allowed: allowed}
	data, err := Text(name, bundled)
	if err != nil {
		return bench.Profile{}, err
	}
	if Bundled(name, bundled) {
		name, with.alone = "profiles/"+name+".yaml", true
	}
	return parse(name, data, with)
}

// Text returns the text of a profile that Load reads.
func Text(name string, bundled fs.FS) ([]byte, error) {
	if Bundled(name, bundled) {
		return fs.ReadFile(bundled, name+".yaml")
	}
	data, err := strictyaml.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown(name, bundled)
	}
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return data, nil
}

// Bundled reports whether a name is that of a bundled profile, and not of a file.
func Bundled(name string, bundled fs.FS) bool {
	return !strings.ContainsAny(name, `/\`) && slices.Contains(names(bundled), name)
}

// IsFile reports whether a name is that of a YAML file.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// FileOf returns the YAML file in the working folder that a name without its ending may mean; "" if
// there is none.
func FileOf(name string) string {
	for _, file := range []string{name + ".yaml", name + ".yml"} {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func unknown(name string, bundled fs.FS) error {
	if strings.ContainsAny(name, `/\`) || IsFile(name) {
		return fmt.Errorf("%w: no file %s", ErrUnknown, name)
	}
	names, hint := names(bundled), ""
	if file := FileOf(name); file != "" {
		return fmt.Errorf("%w %q; did you mean the file %s?", ErrUnknown, name, file)
	}
	if near := strictyaml.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%w %q%s (bundled: %s; or the path of a YAML file)",
		ErrUnknown, name, hint, strings.Join(names, ", "))
}

// List reads all bundled profiles, sorted by name, and returns the readable ones with any error.
func List(bundled fs.FS) ([]bench.Profile, error) {
	var list []bench.Profile
	var failures []error
	for _, name := range names(bundled) {
		if p, err := Load(name, bundled); err != nil {
			failures = append(failures, err)
		} else {
			list = append(list, p)
		}
	}
	return list, errors.Join(failures...)
}

func names(bundled fs.FS) []string {
	files, _ := fs.Glob(bundled, "*.yaml") // the pattern is well formed: no other error is possible
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".yaml")
	}
	slices.Sort(files)
	return files
}

// Parse reads a profile. Mistakes carry the name file; without its folder and extension it is also
// the profile's name, unless data has one. The error is a strictyaml.Mistakes.
func Parse(file string, data []byte, allowed ...string) (bench.Profile, error) {
	return parse(file, data, instead{allowed: allowed})
}

// One is the only request of a run without a profile, in the words of the command line.
type One struct {
	Method  string   // "": GET, or POST with a body
	Headers []string // "NAME: VALUE"; ${NAME} in a value is an environment variable
	Body    string   // a text, or @FILE
}

// Given returns the options of which o has a value, such as "--method".
func (o One) Given() (options []string) {
	for name, given := range map[string]bool{
		"--method": o.Method != "", "--header": len(o.Headers) > 0, "--body": o.Body != "",
	} {
		if given {
			options = append(options, name)
		}
	}
	slices.Sort(options)
	return options
}

// oneName is the name of the profile that is made for a request.
const oneName = "request"

// oneText is that profile: short steps, since two targets take eight rounds of them.
const oneText = `name: ` + oneName + `
requests: [{get: /}]
checks: {lifecycle: none, suites: []}
step_duration: 2s
steps: [8 warm-up for 1s or longer, 1, 8, 64]
`

// Profile returns a profile that sends only this request, to a path with its query.
func (o One) Profile(path string) (bench.Profile, error) {
	p, err := Parse(oneName, []byte(oneText))
	if err != nil {
		return p, err
	}
	r := bench.Request{Weight: 1, Path: targets.Encoded(path, `{}"<>`), Method: o.Method}
	if r.Header, err = o.Header(); err != nil {
		return p, err
	}
	content, err := o.body(&r)
	if err != nil {
		return p, err
	}
	if kind := kindOf(content); kind != "" && headerName(r.Header, "Content-Type") == "" {
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		r.Header["Content-Type"] = kind
	}
	if upper := strings.ToUpper(o.Method); slices.Contains(methods, upper) {
		r.Method = upper
	}
	if r.Method == "" {
		r.Method = http.MethodGet
		if o.Body != "" {
			r.Method = http.MethodPost
		}
	}
	if hint := wrongMethod(r.Method); hint != "" {
		return p, console.Usagef("--method %s: %s", safe.Shell([]string{o.Method}), hint)
	}
	r.Name = r.Method + " " + path
	r.Name = strings.ToValidUTF8(r.Name[:min(len(r.Name), maxRequestName)], "")
	all := bench.All2xx()
	r.ExpectStatus, r.MoreStatuses = all[0], all[1:]
	p.Requests, p.Title = []bench.Request{r}, r.Name
	for _, m := range mistakes(&p) {
		return p, console.Usagef("%s: %w", cmp.Or(strings.Join(o.Given(), ", "), "--target"), m)
	}
	return p, nil
}

// Header returns the headers; no part of a value is a variable.
func (o One) Header() (all map[string]string, err error) {
	for i, text := range o.Headers {
		name, value, ok := strings.Cut(text, ":")
		if name = strings.TrimSpace(name); !ok || name == "" { // the text may be a secret
			return nil, console.Usagef("--header, number %d: write 'NAME: VALUE', with a colon", i+1)
		}
		if all == nil {
			all = map[string]string{}
		}
		given := headerName(all, name)
		value = bench.LiteralBraces(strings.Trim(value, " \t"))
		switch {
		case given == "":
			all[name] = value
		case targets.Repeats(given):
			all[given] += "; " + value
		default:
			return nil, console.Usagef("--header %s: given twice; write one value, such as 'a, b'", name)
		}
	}
	return all, nil
}

// headerName returns the name under which all has a header; "" if it has not.
func headerName(all map[string]string, name string) string {
	for key := range all {
		if strings.EqualFold(key, name) {
			return key
		}
	}
	return ""
}

const sniffed = 1 << 20 // bytes of a file by which its content type is guessed

// body sets the body of r, and returns its content, or the beginning of that.
func (o One) body(r *bench.Request) (content []byte, err error) {
	wrong := func(what string) error {
		return console.Usagef("--body %s: %s", safe.Line(safe.Shell([]string{o.Body}), 200), what)
	}
	file, isFile := strings.CutPrefix(o.Body, "@")
	switch {
	case !isFile:
		if info, err := os.Stat(o.Body); err == nil && info.Mode().IsRegular() {
			name := safe.Shell([]string{o.Body})
			return nil, console.Usagef("--body %s is the name of a file: write @%[1]s to send that file", name)
		}
		r.Body = bench.LiteralBraces(o.Body)
		return []byte(o.Body), nil
	case file == "-":
		return nil, wrong("write the name of a file: the body is sent many times")
	}
	if r.BodyFile, err = filepath.Abs(file); err != nil {
		return nil, wrong(err.Error())
	}
	f, err := safe.Open(r.BodyFile)
	if err != nil {
		return nil, wrong(err.Error())
	}
	defer f.Close()
	if content, err = io.ReadAll(io.LimitReader(f, sniffed)); err != nil {
		return nil, wrong(err.Error())
	}
	return content, nil
}

// formPattern matches a form: names and values, percent-encoded.
var formPattern = regexp.MustCompile(`^[^\s=&{}\[\]"<>]+=[^\s&{}"<>]*(&[^\s=&{}"<>]+=[^\s&{}"<>]*)*$`)

// kindOf returns the content type of a body that is a JSON object, a JSON list or a form; "" for
// any other.
func kindOf(content []byte) string {
	text := bytes.TrimSpace(content)
	switch {
	case len(text) == 0:
		return ""
	case (text[0] == '{' || text[0] == '[') && (len(content) == sniffed || json.Valid(text)):
		return bench.JSONBody.ContentType()
	case formPattern.Match(text):
		return bench.FormBody.ContentType()
	}
	return ""
}
