package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/load/workload"
	"locbench/internal/text/secret"
	"locbench/internal/text/strictyaml"
)

const durationHint = "write from 100ms to 24h" // of a step

// mistake is a rule that a profile breaks: at which key, what is wrong, and what would be right. Where what is empty,
// it is the value itself.
type mistake struct{ path, value, what, hint string }

func (m mistake) Error() string {
	return strings.TrimSuffix(cmp.Or(m.what, "`"+m.path+"` is "+m.value)+"; "+m.hint, "; ")
}

// Validate says everything that is wrong with p, or nil when it can be run. Unlike Parse it wants the address of an
// external store.
func Validate(p bench.Profile) error {
	var failures []error
	for _, m := range mistakes(&p) {
		failures = append(failures, m)
	}
	if p.Store.NeedsURL() {
		failures = append(failures, errors.New(`it wants a real Elasticsearch 7. Name one:  --elastic http://127.0.0.1:9200
or let Docker start the official image:  --store container
or use the one inside locbench (it shares CPU with the client):  --store embedded`))
	}
	if len(failures) == 0 {
		return nil
	}
	return fmt.Errorf("profile %s: %w", p.Name, errors.Join(failures...))
}

// rules collects what is wrong.
type rules []mistake

// wrong reports a value.
func (r *rules) wrong(path string, value any, hint string) {
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		text = strconv.Quote(text)
	}
	*r = append(*r, mistake{path: path, value: text, hint: hint})
}

// when reports, where it is so, what cannot be seen in one value.
func (r *rules) when(so bool, path, what, hint string) {
	if so {
		*r = append(*r, mistake{path: path, what: what, hint: hint})
	}
}

// between reports n where it is not within the bounds.
func (r *rules) between(path string, n, low, high int) {
	if n < low || n > high {
		r.wrong(path, n, fmt.Sprintf("write from %d to %d", low, high))
	}
}

// mistakes are all rules that p breaks. Nothing is changed.
func mistakes(p *bench.Profile) []mistake {
	var r rules
	for _, o := range Options() {
		if o.wrong == nil {
			continue
		}
		if hint := o.wrong(p, false); hint != "" {
			r.wrong(o.Key, cmp.Or(o.get(p), "0"), hint)
		}
	}
	if !namePattern.MatchString(p.Name) || len(p.Name) > maxName {
		r.wrong("name", p.Name, "write small letters, digits, `-`, `_` and `.`, 60 at most: it becomes part of a folder's "+
			"name")
	}
	r.contenders(p)
	r.store(p.Store)
	r.data(p.Data)
	r.variables(p)
	r.requests(p)
	alone := len(p.Requests) > 0 && p.Requests[0].Session == ""
	r.when(p.Phases != nil && len(p.Requests) > 0 && !alone, "phases",
		"`phases` time a request that stands alone, and all are in sessions", "add one under `requests`, or remove `phases`")
	if p.Phases != nil {
		r.between("phases.requests", p.Phases.Requests, 1, maxPhased)
	}
	r.when(p.Protocol == bench.HTTP2 && p.Phases != nil,
		"protocol", "`protocol` is http/2, but `phases` are timed over HTTP/1.1", "remove one of the two")
	r.checks(p.Checks)
	r.steps(p)
	r.thresholds(p)
	return r
}

func (r *rules) contenders(p *bench.Profile) {
	for i, c := range p.Contenders {
		r.when(slices.Contains(p.Contenders[:i], c), fmt.Sprintf("contenders[%d]", i),
			fmt.Sprintf("duplicate contender %q", c), "list each once: `rounds` repeats them")
	}
}

func (r *rules) store(s bench.StoreSpec) {
	if !slices.Contains(bench.StoreKinds(), string(s.Kind)) {
		return // reported by its option
	}
	traits := s.Kind.Traits()
	kind := "a store of kind " + string(s.Kind)
	u, err := secret.ParseURL(s.URL)
	usable := err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.RawQuery+u.Fragment == ""
	switch byURL := s.Chosen().Traits().ByURL; {
	case s.URL == "":
	case !byURL:
		r.when(true, "store.url", kind+" has no url", "write `kind: external` or remove the url")
	case !usable:
		r.wrong("store.url", secret.Address(s.URL), "write a URL such as `http://10.0.0.5:9200`")
	}
	r.when(s.Image != "" && !traits.Container,
		"store.image", kind+" has no image", "write `kind: container` or remove the image")
	r.when(s.Latency != 0 && !traits.Latency,
		"store.latency", kind+" answers as fast as it can", "write `kind: embedded` or remove `latency`")
	r.when(s.P99 != 0 && !traits.Latency,
		"store.p99", kind+" answers as fast as it can", "write `kind: embedded` or remove `p99`")
	r.when(s.P99 != 0 && s.Latency == 0,
		"store.p99", "`p99` stands without a median", "add `latency`, for example `latency: 2ms`")
	if s.P99 != 0 && s.P99 < s.Latency {
		r.wrong("store.p99", units.Exact(s.P99), "the median is `latency`: write at least that")
	}
}

func (r *rules) data(d bench.DataSpec) {
	generated := d.Cities != 0 || d.Vertices != 0 || d.Seed != 0
	r.when(d.Dir != "" && generated, "data",
		"data is both read (`dir`) and generated (`cities`, `vertices`, `seed`)", "keep one of the two")
	r.when(d.Dir == "" && generated && d.Cities == 0, "data", "`data.cities` is missing",
		"write `data: bundled`, `{dir: FOLDER}`, or how many to generate, `{cities: 100000}`")
}

func (r *rules) checks(c bench.CheckSpec) {
	for i, name := range c.Lifecycle {
		r.when(slices.Contains(c.Lifecycle[:i], name), fmt.Sprintf("checks.lifecycle[%d]", i),
			fmt.Sprintf("duplicate check %q", name), "list each once")
	}
	for i, suite := range c.Suites {
		r.when(strings.TrimSpace(suite) == "", fmt.Sprintf("checks.suites[%d]", i), "a suite has no name",
			"write the name of a bundled suite or the path of a YAML file")
	}
}

// placed is a request with the key under which a file has it.
type placed struct {
	bench.Request
	at string
}

// placedRequests are those of the mix.
func placedRequests(p *bench.Profile) (all []placed) {
	alone, in := 0, map[string]int{}
	for _, r := range p.Requests {
		at := fmt.Sprintf("requests[%d]", alone)
		if r.Session == "" {
			alone++
		} else {
			i := slices.IndexFunc(p.Sessions, func(s bench.Session) bool { return s.Name == r.Session })
			at = fmt.Sprintf("sessions[%d].requests[%d]", i, in[r.Session])
			in[r.Session]++
		}
		all = append(all, placed{r, at})
	}
	return all
}

func (r *rules) requests(p *bench.Profile) {
	r.when(len(p.Requests) == 0, "requests", "there are no requests", "write one at least, here or in a session")
	cities := slices.ContainsFunc(p.Requests, bench.Request.NamesCity)
	var known []string
	for _, v := range p.Variables {
		known = append(known, v.Name)
	}
	each := func(key string, all []bench.Request) {
		for i, req := range all {
			known = r.request(p, placed{req, fmt.Sprintf("%s[%d]", key, i)}, known)
		}
	}
	each("setup", p.Setup)
	names, session, within := map[string]bool{}, "", known
	for _, req := range placedRequests(p) {
		if req.Session == "" {
			r.between(req.at+".weight", req.Weight, 1, maxWeight)
			r.when(len(req.Save) > 0, req.at+".save", "nothing uses what a request that stands alone saves",
				"write it into a session, or into `setup` where all requests use it")
		}
		if req.Session == "" || req.Session != session {
			session, within = req.Session, known
		}
		within = r.request(p, req, within)
		r.when(names[req.Name], req.at+".name", fmt.Sprintf("duplicate request %q", req.Name), "give each a name of its own")
		names[req.Name] = true
		drawn := strings.Contains(req.Path, "{id}") && !slices.Contains(known, "id") && req.IDs.Distribution != fixed
		r.when(drawn && !cities && p.Store.Kind.Traits().None, req.at+".path", "`{id}` has no values: the ids of the data "+
			"set are those of cities, and this profile has no store", "write `variables: {id: {from: 1, to: 10000}}`, or list "+
			"them: `ids: [1, 2, 3]`")
	}
	for i, s := range p.Sessions {
		at := fmt.Sprintf("sessions[%d]", i)
		r.between(at+".weight", s.Weight, 1, maxWeight)
		r.when(names[s.Name], at+".name", fmt.Sprintf("duplicate name %q", s.Name), "give each request and session its own")
		names[s.Name] = true
	}
	each("teardown", p.Teardown)
}

// request reports what is wrong with one, where the variables of these names are known. It returns those that are
// known after it.
func (r *rules) request(p *bench.Profile, req placed, known []string) []string {
	at := req.at
	if !slices.Contains(methods, req.Method) {
		r.wrong(at+".method", req.Method, "one of: "+strings.Join(methods, ", "))
	}
	r.path(at, req.Request, known)
	r.header(at, req.Request)
	r.places(at, req.Request, known)
	r.expected(at+".expect", req.Request, known)
	for _, status := range append([]int{req.ExpectStatus}, req.MoreStatuses...) {
		r.between(at+".expect.status", status, 200, 599)
	}
	r.ids(at+".ids", req.IDs)
	if err := workload.CheckBody(req.BodyFile); err != nil {
		r.when(true, at+".file", err.Error(), "write the path of a file, as it is seen from the profile")
	}
	for _, s := range req.Save {
		of := at + ".save." + s.Name
		r.when(!variableName.MatchString(s.Name), of, fmt.Sprintf("%q is not the name of a variable", s.Name),
			"write letters, digits and `_`, and no digit first")
		r.when(slices.ContainsFunc(p.Variables, func(v bench.Variable) bool { return v.Name == s.Name }), of,
			fmt.Sprintf("%q is a variable already", s.Name), "save it under another name")
		if err := workload.CheckSave(s); err != nil {
			r.when(true, of, err.Error(), "")
		}
		known = append(slices.Clip(known), s.Name)
	}
	return known
}

// places reports variables that nobody knows, in whatever is filled in.
func (r *rules) places(at string, req bench.Request, known []string) {
	texts := []struct{ key, text string }{{at + ".path", req.Path}, {at + ".body", req.Body}}
	if req.Encoding != bench.PlainText {
		texts[1].key = at + "." + string(req.Encoding)
	}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		value := req.Header[name]
		texts = append(texts, struct{ key, text string }{at + ".header." + name, value})
	}
	for _, of := range texts {
		for _, place := range bench.Parts(of.text) {
			name, _ := workload.Column(place.Name)
			ofData := of.key == at+".path" && (name == "id" || name == "language")
			r.when(name != "" && !ofData && !slices.Contains(known, name), of.key,
				fmt.Sprintf("`%s`: there is no variable %q here", place.Text, name),
				hintOf(name, known)+fmt.Sprintf("; write `{%s}` if that text is to be sent", place.Text))
			typed := place.Type == "" || place.Type == bench.TypeNumber || place.Type == bench.TypeJSON
			r.when(!typed, of.key, fmt.Sprintf("`%s`: there is no type %q", place.Text, place.Type),
				"write `:number`, `:json`, or no type for a text")
		}
	}
}

// expected reports variables where none are filled in.
func (r *rules) expected(at string, req bench.Request, known []string) {
	text, _ := json.Marshal(req.Expect)
	for _, place := range bench.Parts(string(text)) {
		name, _ := workload.Column(place.Name)
		r.when(name != "" && slices.Contains(known, name), at, fmt.Sprintf("`%s` is not filled in here", place.Text),
			"expect what is the same in all answers, such as `present: [id]`")
	}
}

func hintOf(name string, known []string) string {
	if hint := strictyaml.Suggest(name, "known here", known); hint != "" {
		return hint
	}
	return fmt.Sprintf("write it under `variables`, for example `{%s: {from: 1, to: 10000}}`", name)
}

func (r *rules) path(at string, req bench.Request, known []string) {
	r.when(len(req.Path) > 8000, at+".path", "the path is too long", "write 8000 bytes at most")
	if !strings.HasPrefix(req.Path, "/") {
		r.wrong(at+".path", req.Path, "begin it with `/`: the host is that of the contender")
	}
	outside := func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' }
	if strings.ContainsFunc(req.Path, outside) {
		r.wrong(at+".path", req.Path, "write letters other than ASCII, blanks and `#` as %-escapes, such as `%20`")
	}
	for _, part := range bench.Parts(req.Path) {
		if part.Name == "" && strings.ContainsAny(part.Text, "{}") && braces.MatchString(req.Path) {
			r.wrong(at+".path", req.Path, fmt.Sprintf("`%s` is not the name of a variable: write it as `%%7B…%%7D` if it is to "+
				"be sent", braces.FindString(part.Text)))
		}
	}
	for _, of := range []struct {
		key, name string
		given     bool
	}{{"ids", "id", req.IDs.Distribution != ""}, {"languages", "language", len(req.Languages) > 0}} {
		r.when(of.given && !strings.Contains(req.Path, "{"+of.name+"}"), at+"."+of.key,
			fmt.Sprintf("`%s` are given, but the path has no `{%s}`", of.key, of.name),
			fmt.Sprintf("write `{%s}` into the path or remove `%s`", of.name, of.key))
		r.when(of.given && slices.Contains(known, of.name), at+"."+of.key,
			fmt.Sprintf("`%s` are given, and `variables` has %q", of.key, of.name), "keep one of the two")
	}
	for i, language := range req.Languages {
		if !languagePattern.MatchString(language) {
			r.wrong(fmt.Sprintf("%s.languages[%d]", at, i), language, "write a language such as `cs`")
		}
	}
}

func (r *rules) header(at string, req bench.Request) {
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		value := req.Header[name]
		key := at + ".header." + name
		r.when(!token.MatchString(name), key, fmt.Sprintf("%q is not the name of a header", name),
			"write letters, digits and `-`, for example `Accept`")
		control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
		r.when(strings.ContainsFunc(value, control), key, fmt.Sprintf("the header %s has more than one line", name),
			"write a value of one line")
	}
}

func (r *rules) ids(at string, d bench.IDSpec) {
	n := len(d.Fixed)
	if !slices.Contains([]string{"", uniform, zipf, fixed}, d.Distribution) {
		r.wrong(at, d.Distribution, "one of: uniform, zipf, fixed")
	}
	r.when(d.Distribution == fixed && (n == 0 || n > maxFixedIDs), at, fmt.Sprintf("%d ids are given", n),
		fmt.Sprintf("write from 1 to %d: `[3067696, 2950159]`", maxFixedIDs))
	r.when(d.Distribution != fixed && n > 0, at+".fixed", "a list of ids is given, but they are drawn "+d.Distribution,
		"write `distribution: fixed` or remove the list")
	r.when(d.Distribution != zipf && d.Exponent != 0, at+".exponent",
		"an exponent is given, but ids are drawn "+d.Distribution, "write `distribution: zipf` or remove the exponent")
	if d.Distribution == zipf && !(d.Exponent > 1 && d.Exponent <= 10) {
		r.wrong(at+".exponent", d.Exponent, "write a number above 1, up to 10")
	}
}

// asked are the names of what a step may ask alone.
func asked(p *bench.Profile) (names []string) {
	for _, r := range p.Requests {
		if r.Session == "" {
			names = append(names, r.Name)
		}
	}
	for _, s := range p.Sessions {
		names = append(names, s.Name)
	}
	return names
}

// lasts says whether a step may be that long.
func lasts(d bench.Duration) bool { return d >= minDuration && d <= maxDuration }

func (r *rules) steps(p *bench.Profile) {
	if len(p.Steps) > maxSteps {
		r.when(true, "steps", "there are too many steps", fmt.Sprintf("write at most %d", maxSteps))
		return
	}
	measured, ladder, turned := false, false, false
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		if !lasts(s.Duration) {
			r.wrong(at+".duration", units.Exact(s.Duration), durationHint)
			s.Duration = minDuration
		}
		if s.Request != "" && len(p.Requests) > 0 && !slices.Contains(asked(p), s.Request) {
			r.wrong(at+".request", s.Request, fmt.Sprintf("name one of the requests or sessions, such as %q", asked(p)[0]))
		}
		r.when(s.PeakShare > 0 && !ladder, at, "no step before it can find the peak",
			"put measured steps with connections before it, for example `2..64 doubling`")
		for _, err := range s.AtPeak(1).Validate() {
			r.when(true, at, fmt.Sprintf("step %d (%s): %v", i+1, s.Name, err), "")
		}
		if err := s.CheckTurns(); p.Turns > 0 && err != nil && !turned {
			turned = true
			r.when(true, "turns", fmt.Sprintf("`turns` do not fit step %d (%s): %v", i+1, s.Name, err),
				"remove `turns`, or run such steps in a profile of their own")
		}
		measured = measured || !s.WarmUp
		ladder = ladder || !s.WarmUp && s.Connections > 0
	}
	r.when(!measured, "steps", "no step is measured", "add one that is not a warm-up, for example `64`")
}

func (r *rules) thresholds(p *bench.Profile) {
	for i, t := range p.Thresholds {
		at := fmt.Sprintf("thresholds[%d]", i)
		if _, err := ParseObjective(t.Objective); err != nil {
			r.when(true, at+".objective", err.Error(), "")
		}
		if !slices.Contains([]bench.Scope{"", bench.ScopeLeg, bench.ScopeRun}, t.Stop) {
			r.wrong(at+".stop", string(t.Stop), "one of: leg, run")
		}
		n := len(p.Steps)
		there := t.FromStep >= 0 && t.FromStep <= n
		r.when(n > 0 && !there, at, fmt.Sprintf("from_step is %d, and there are %d steps", t.FromStep, n),
			"warm-ups count: write the number of a step, or leave it out")
		measured := func(s bench.Step) bool { return !s.WarmUp }
		r.when(n > 0 && there && !slices.ContainsFunc(p.Steps[max(t.FromStep-1, 0):], measured), at,
			"no step is judged by it", "all from there on are warm-ups: write a smaller `from_step`")
	}
}

// methods are those that a request may have.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}
