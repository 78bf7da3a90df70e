package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

const (
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
	Targets     string // vegeta's target file, in place of Get, Post and Login
}

var endsPattern = regexp.MustCompile(`^(-?\d{1,18})\.\.(-?\d{1,18})$`)

// text returns the draft as a valid profile with comments, and the commands at its end, which name file.
func (d Draft) text(file string) (text []byte, next []string, err error) {
	for _, input := range []string{file, d.Get, d.Post, d.Login, d.Connections, d.Targets} {
		if err := checkInput(input); err != nil {
			return nil, nil, err
		}
	}
	if d.Targets != "" {
		return d.ofTargets(file)
	}
	get, ids := cut(d.Get)
	post, body := cut(d.Post)
	login, where := cut(d.Login)
	if get == "" && post == "" {
		return nil, nil, errors.New("no request: write a path to GET or to POST")
	}
	var t draftText
	t.head(nameOf(file))
	t.variables(ids, []string{get, post, login, body}, login != "")
	var token loginToken
	if login != "" {
		token = t.token(where)
		t.setup(login, token)
	}
	t.requests(get, post, body, token)
	t.steps(d.Connections)
	next = nextCommands(file, draftBase, login != "")
	t.next(next)
	if t.err != nil {
		return nil, nil, t.err
	}
	return t.Bytes(), next, t.check(file, body)
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

// draftText is the text of a draft so far, and the first error.
type draftText struct {
	bytes.Buffer
	err error
}

func (t *draftText) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// line writes one or more lines.
func (t *draftText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// pair writes a key with a value that the user typed, quoted by the YAML encoder.
func (t *draftText) pair(before, key string, value any) {
	text, err := strictyaml.Encode(map[string]any{key: value})
	if err != nil {
		t.fail("%s: %w", key, err)
	}
	t.WriteString(before)
	t.Write(text)
}

func (t *draftText) head(name string) {
	t.WriteString(strictyaml.Named(schemaFile))
	t.line(`# Benchmark of your API, created by 'locbench profiles new'. All keys: profiles/locations.yaml in
# locbench's sources.

# Name in tables and reports.`)
	t.pair("", "title", name)
	t.line(`
# Contenders to run, unless named on the command line (or --target URL).
# contenders: [my-service]

# Two contenders or more are interleaved where memory allows it: 8 rounds, and small differences show. For a first
# look use --rounds 1; one after the other: interleave: off.
# rounds: 8
# interleave: auto

# Limits for contenders that locbench starts. Missing keys: no limit.
# limits: {cpus: 1.5, memory: 512MiB}

# What they need, started in a container and restored for each trial; {{.Needs.db.URL}} in their service.yaml.
# needs: {db: {image: "postgres:17", environment: {POSTGRES_PASSWORD: "${PGPASSWORD}"}, seed: [schema.sql]}}`)
}

// variables writes the variables in texts, all with the same values, except the token of a login.
func (t *draftText) variables(ids string, texts []string, login bool) {
	var names []string
	for _, text := range texts {
		for _, p := range bench.Parts(text) {
			name, _ := values.Column(p.Name)
			if name != "" && !slices.Contains(names, name) && (!login || name != draftToken) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		if ids != "" {
			t.fail("%q is not used: the path has no {item}; leave it out, or write a path such as /items/{item} %s",
				ids, draftIDs)
		}
		return
	}
	m := endsPattern.FindStringSubmatch(cmp.Or(ids, draftIDs))
	if m == nil {
		t.fail("%q is not a range of ids: write FROM..TO, such as %s", ids, draftIDs)
		return
	}
	from, err1 := strconv.ParseInt(m[1], 10, 64)
	to, err2 := strconv.ParseInt(m[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil || from > to {
		t.fail("%q is an empty range: write FROM..TO, such as %s", ids, draftIDs)
	}
	t.line(`
# Values of {%s}, a new one per request. Other kinds: {list: [lamp, chair]}, the column of a file
# ({file: ids.csv, column: id}), uuid, now, sequence. "draw: zipf" draws some values far more often.
variables:`, names[0])
	for _, name := range names {
		t.pair("  ", name, strictyaml.JSON(fmt.Sprintf("{from: %d, to: %d}", from, to)))
	}
}

// loginToken is where the response to a login has the token, and how requests carry it.
type loginToken struct {
	save         any // a path in JSON, or a map with another source
	header, text string
	statuses     string // expected of the login
}

// token reads "data.token", "cookie:NAME" or "header:NAME".
func (t *draftText) token(where string) loginToken {
	place := "{" + draftToken + "}"
	token := loginToken{cmp.Or(where, draftToken), "Authorization", "Bearer " + place, "[200, 201]"}
	source, name, ok := strings.Cut(where, ":")
	if !ok && !strings.Contains(where, " ") {
		return token
	}
	switch from := bench.Source(source); {
	case name == "" || strings.ContainsAny(name, " :"):
	case from == bench.FromCookie:
		token = loginToken{header: "Cookie", text: name + "=" + place, statuses: "[200, 201, 204, 302, 303]"}
	case from == bench.FromHeader:
		token = loginToken{header: name, text: place, statuses: "[200, 201, 204]"}
	}
	if token.save != nil {
		t.fail("%q is not the place of a token in a response: write a path in its JSON such as data.token, cookie:NAME or header:NAME",
			where)
	}
	token.save = strictyaml.Inline{V: map[string]string{source: name}}
	return token
}

func (t *draftText) setup(path string, token loginToken) {
	t.line(`
# Sent once per start of the service, before the load. ${PASSWORD} is an environment variable, masked in all output.
# "save" takes the token from the response: a path in its JSON, {header: NAME} or {cookie: NAME}. In place of "json",
# "form: {user: me, password: …}" sends a form.
setup:`)
	t.pair("  - ", "post", path)
	t.line(`    json: {user: me, password: "${PASSWORD}"}
    expect: {status: %s}
    save:`, token.statuses)
	t.pair("      ", draftToken, token.save)
}

func (t *draftText) requests(get, post, body string, token loginToken) {
	t.line(`
# The mix; shares add up to 100%%. A response with another status than "expect" is an error.
# More methods: head, put, patch, delete, options.
requests:`)
	share, other := "100%", "100%"
	if get != "" && post != "" {
		share, other = "90%", "10%"
	}
	header := func() {
		if token.header != "" {
			t.pair("    ", "header", strictyaml.Inline{V: map[string]string{token.header: token.text}})
		}
	}
	if get != "" {
		t.pair("  - ", "get", get)
		t.line("    share: %s", share)
		header()
		t.line("    expect: {status: 200}")
	}
	if post == "" {
		return
	}
	t.pair("  - ", "post", post)
	t.line("    share: %s", other)
	header()
	if body != "" {
		if err := json.Unmarshal([]byte(body), new(any)); err != nil {
			t.fail("%.200q is not JSON (%w): %s", body, err, draftBodyHint)
			return
		}
		t.pair("    ", "json", strictyaml.JSON(body))
	}
	t.line("    expect: {status: %s}", strings.ReplaceAll(fmt.Sprint(usualStatuses(http.MethodPost)), " ", ", "))
}

func (t *draftText) steps(most string) {
	n, err := strconv.Atoi(cmp.Or(most, draftConnections))
	if err != nil || n < 1 || n > bench.MaxConnections {
		t.fail("%q is not a number of connections: write from 1 to %d", most, bench.MaxConnections)
		return
	}
	t.line(`
# Request timeout; later responses are errors.
timeout: 10s

# Steps with more errors are excluded from comparison.
max_errors: 1%%

# Connections; each sends its next request when it has a response. Warm-ups are shown, not measured; this one
# lasts while compilers of a runtime are at work, at most a minute. The last step has one rate for all contenders, which
# each sustains: half of the highest throughput of the slowest one.
step_duration: 2s
steps:
  - %d warm-up for 3s or longer`, min(n, draftWarmUp))
	for _, part := range []int{16, 4, 1} { // of the most connections
		if c := n / part; c > 0 {
			t.line("  - %d", c)
		}
	}
	t.line("  - {rate: 50%% of lowest peak, connections: %d}", n)
	t.line(`
# Conditions for each measured step; "locbench run" exits with code 4 if one is missed.
# thresholds:
#   - p99<50ms,errors<0.1%%`)
}

func (t *draftText) next(commands []string) {
	t.line("\n# Next:")
	for _, command := range commands {
		t.line("#   %s", command)
	}
}

// nextCommands returns the commands to continue with once file is written, for the service at base.
func nextCommands(file, base string, login bool) []string {
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

// check parses the draft and compares its body with the input, which YAML may read otherwise.
func (t *draftText) check(file, body string) error {
	p, err := t.parse(file)
	if err != nil || body == "" {
		return err
	}
	sent := p.Requests[len(p.Requests)-1].Body
	typed, _ := jsonpath.Decode([]byte(body))
	if read, err := jsonpath.Decode([]byte(sent)); err != nil || !reflect.DeepEqual(typed, read) {
		return fmt.Errorf("%.200q would be sent as %.200q: rewrite it, or put it into a file later, "+
			"with `file: order.json` in the profile", body, sent)
	}
	return nil
}

// parse parses the draft. The user does not see the lines: the error has each mistake once.
func (t *draftText) parse(file string) (bench.Profile, error) {
	p, err := Parse(file, t.Bytes())
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
	return p, err
}
