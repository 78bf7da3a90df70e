package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile/targets"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

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
