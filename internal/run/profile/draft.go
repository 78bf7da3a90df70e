package profile

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

const (
	standardOutput   = "-"
	maxInput         = 1000 // bytes of an input for a draft
	draftName        = "my-api"
	schemaFile       = "profile.schema.json" // next to the profile
	draftGet         = "/"
	draftIDs         = "1..10000"
	draftToken       = "token"
	draftConnections = "64"
	draftBase        = "http://127.0.0.1:8080"
	draftWarmUp      = 16 // connections of the warm-up, at most
	draftBodyHint    = `write JSON such as {"item": "{item:number}"}`
)

// Draft holds what a user types in for a profile of their API.
type Draft struct {
	Get         string // "PATH" or "PATH FROM..TO": the values of the variables
	Post        string // "PATH" or "PATH JSON"
	Login       string // "PATH", or "PATH TOKEN" with a JSON path, cookie:NAME or header:NAME
	Connections string // the most; the steps rise to it
}

// New writes a profile for the user's API to the new file, and its schema next to it; "-" is
// standard output, and "" a file in the working folder. Without a request in d it sends GET /.
func New(env console.Env, file string, d Draft) error {
	file = cmp.Or(file, draftName+".yaml")
	if err := free(file); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if d.Get == "" && d.Post == "" {
		d.Get = draftGet
	}
	return write(env, file, d)
}

// free returns an error for a file that exists, or whose name is not that of a profile.
func free(file string) error {
	if file == standardOutput {
		return nil
	}
	if err := checkInput(file); err != nil {
		return err
	}
	if ext := filepath.Ext(file); ext != ".yaml" && ext != ".yml" {
		return fmt.Errorf("%s: write a name that ends with .yaml, or - for standard output", file)
	}
	if _, err := os.Lstat(file); err == nil {
		return exists(file)
	}
	return nil
}

func exists(file string) error { return fmt.Errorf("%s already exists: choose another name", file) }

func write(env console.Env, file string, d Draft) error {
	name := file
	if file == standardOutput {
		name = draftName + ".yaml"
	}
	text, next, err := d.text(name)
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if file == standardOutput {
		_, err := env.Stdout.Write(text)
		return err
	}
	took, err := comparisonTime(text)
	if err != nil {
		return err
	}
	if err := safe.CreateFile(file, text); errors.Is(err, fs.ErrExist) {
		return console.WithCode(console.ExitUsage, exists(file))
	} else if err != nil {
		return fmt.Errorf("write profile %s: %w", file, err)
	}
	fmt.Fprintln(env.Stdout, file)
	if err := Schema.Leave(filepath.Dir(file), schemaFile); err != nil {
		env.Warn(err)
	}
	fmt.Fprintln(env.Stderr, "Comments explain each key; "+schemaFile+" is for editors.")
	fmt.Fprintln(env.Stderr, took+" Next:")
	for i, command := range next {
		fmt.Fprintf(env.Stderr, "  %d. %s\n", i+1, command)
	}
	return nil
}

var endsPattern = regexp.MustCompile(`^(-?\d{1,18})\.\.(-?\d{1,18})$`)

//go:embed draft.yaml.tmpl
var draftTemplate string

// draftForm is a profile in which texts are in quotes, which Go and YAML write alike.
var draftForm = template.Must(template.New("draft").Parse(draftTemplate))

// draftText is what the form of a draft is filled in with.
type draftText struct {
	Schema, Title, Get, Post, Login string
	Variables                       []string // all with the values in Range
	Range, Body                     string
	Token                           loginToken
	Statuses                        string // expected of Post
	WarmUp, Connections             int
	Steps                           []int
	Next                            []string // commands
}

// loginToken is where the response to a login has the token, and how requests carry it.
type loginToken struct {
	Save     string // a path in JSON, or a map with another source
	Header   string // a map
	Statuses string // expected of the login
}

// text returns the draft as a valid profile with comments, and the commands at its end, which name file.
func (d Draft) text(file string) (text []byte, next []string, err error) {
	for _, input := range []string{file, d.Get, d.Post, d.Login, d.Connections} {
		if err := checkInput(input); err != nil {
			return nil, nil, err
		}
	}
	t := draftText{
		Schema: strictyaml.Named(schemaFile), Title: nameOf(file),
		Statuses: strings.ReplaceAll(fmt.Sprint(usualStatuses(http.MethodPost)), " ", ", "),
	}
	if err = d.ofRequests(&t); err == nil {
		err = t.steps(d.Connections)
	}
	if err != nil {
		return nil, nil, err
	}
	t.Next = nextCommands(file, t.Login != "")
	var out bytes.Buffer
	if err := draftForm.Execute(&out, t); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), t.Next, t.check(file, out.Bytes())
}

// ofRequests fills in the requests, the variables in them, and the login.
func (d Draft) ofRequests(t *draftText) error {
	var ids, body, where string
	t.Get, ids = cut(d.Get)
	t.Post, body = cut(d.Post)
	t.Login, where = cut(d.Login)
	if t.Get == "" && t.Post == "" {
		return errors.New("no request: write a path to GET or to POST")
	}
	if t.Body = body; body != "" {
		if err := json.Unmarshal([]byte(body), new(any)); err != nil {
			return fmt.Errorf("%.200q is not JSON (%w): %s", body, err, draftBodyHint)
		}
	}
	if t.Login != "" {
		if err := t.token(where); err != nil {
			return err
		}
	}
	for _, p := range bench.Parts(t.Get + " " + t.Post + " " + t.Login + " " + body) {
		name, _ := values.Column(p.Name)
		if name != "" && !slices.Contains(t.Variables, name) && (t.Login == "" || name != draftToken) {
			t.Variables = append(t.Variables, name)
		}
	}
	if len(t.Variables) == 0 {
		if ids != "" {
			return fmt.Errorf("%q is not used: the path has no {item}; leave it out, or write a path such as /items/{item} %s", ids, draftIDs)
		}
		return nil
	}
	m := endsPattern.FindStringSubmatch(cmp.Or(ids, draftIDs))
	if m == nil {
		return fmt.Errorf("%q is not a range of ids: write FROM..TO, such as %s", ids, draftIDs)
	}
	from, err1 := strconv.ParseInt(m[1], 10, 64)
	to, err2 := strconv.ParseInt(m[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil || from > to {
		return fmt.Errorf("%q is an empty range: write FROM..TO, such as %s", ids, draftIDs)
	}
	t.Range = fmt.Sprintf("{from: %d, to: %d}", from, to)
	return nil
}

// token fills in the token at "data.token", "cookie:NAME" or "header:NAME".
func (t *draftText) token(where string) error {
	place := "{" + draftToken + "}"
	header := func(name, text string) string { return fmt.Sprintf("{%q: %q}", name, text) }
	source, name, ok := strings.Cut(where, ":")
	if !ok && !strings.Contains(where, " ") {
		t.Token = loginToken{strconv.Quote(cmp.Or(where, draftToken)), header("Authorization", "Bearer "+place), "[200, 201]"}
		return nil
	}
	t.Token.Save = header(source, name)
	switch from := bench.Source(source); {
	case name == "" || strings.ContainsAny(name, " :"):
	case from == bench.FromCookie:
		t.Token.Header, t.Token.Statuses = header("Cookie", name+"="+place), "[200, 201, 204, 302, 303]"
		return nil
	case from == bench.FromHeader:
		t.Token.Header, t.Token.Statuses = header(name, place), "[200, 201, 204]"
		return nil
	}
	return fmt.Errorf("%q is not the place of a token in a response: write a path in its JSON such as data.token, cookie:NAME or header:NAME",
		where)
}

func (t *draftText) steps(most string) error {
	n, err := strconv.Atoi(cmp.Or(most, draftConnections))
	if err != nil || n < 1 || n > bench.MaxConnections {
		return fmt.Errorf("%q is not a number of connections: write from 1 to %d", most, bench.MaxConnections)
	}
	t.Connections, t.WarmUp = n, min(n, draftWarmUp)
	for _, part := range []int{16, 4, 1} { // of the most connections
		if c := n / part; c > 0 {
			t.Steps = append(t.Steps, c)
		}
	}
	return nil
}

// cut splits text at its first blank.
func cut(text string) (path, rest string) {
	path, rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	return path, strings.TrimSpace(rest)
}

// checkInput returns an error for a text that is too long or has control characters.
func checkInput(text string) error {
	if len(text) > maxInput {
		return fmt.Errorf("%.40q… is too long: write at most %d bytes", text, maxInput)
	}
	if safe.Line(text, maxInput) != text {
		return fmt.Errorf("%.200q has control or invisible characters: write one line without them", text)
	}
	return nil
}

// nextCommands returns the commands to continue with once file is written.
func nextCommands(file string, login bool) []string {
	const base = draftBase
	try := safe.Shell([]string{"locbench", "try", file, "--target", base})
	run := safe.Shell([]string{"locbench", "run", "--profile", file, "--target", base})
	two := safe.Shell([]string{"locbench", "run", "--profile", file,
		"--target", "old=" + base, "--target", "new=http://127.0.0.1:8081"})
	if login {
		try, run, two = "PASSWORD=… "+try, "PASSWORD=… "+run, "PASSWORD=… "+two
	}
	return []string{safe.Shell([]string{"locbench", "profiles", "validate", file}), try, run, two}
}

// comparisonTime says how long the profile in text takes to compare two contenders in containers,
// which start more slowly than processes.
func comparisonTime(text []byte) (string, error) {
	p, err := Parse("", text)
	if err != nil {
		return "", err
	}
	p.Contenders = []bench.Selection{{Contender: "old"}, {Contender: "new"}}
	p.Runtime = bench.RuntimeDocker
	p, _ = Settle(p, 0)
	return fmt.Sprintf("Two versions take about %s%s: %s.", units.Approx(event.Total(p)), event.WithoutBuilds, units.Plural(p.Rounds, "interleaved round")), nil
}

// check parses the draft and compares its body with the input, which YAML may read otherwise. The
// user does not see the lines: the error has each mistake once.
func (t *draftText) check(file string, text []byte) error {
	p, err := Parse(file, text)
	if all, ok := errors.AsType[strictyaml.Mistakes](err); ok {
		var texts []string
		for _, m := range all {
			text := strings.TrimSuffix(m.What+"; "+m.Hint, "; ")
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		err = errors.New(strings.Join(texts, "\n"))
	}
	if err != nil || t.Body == "" {
		return err
	}
	sent := p.Requests[len(p.Requests)-1].Body
	typed, _ := jsonpath.Decode([]byte(t.Body))
	if read, err := jsonpath.Decode([]byte(sent)); err != nil || !reflect.DeepEqual(typed, read) {
		return fmt.Errorf("%.200q would be sent as %.200q: rewrite it, or put it into a file later, "+
			"with `file: order.json` in the profile", t.Body, sent)
	}
	return nil
}
