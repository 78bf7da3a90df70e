package profile

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

var (
	token           = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, section 5.6.2
	braces          = regexp.MustCompile(`\{[^{}]*\}?`)
	languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// placed is a request with its path in a file, such as requests[0].
type placed struct {
	bench.Request
	at string
}

// placedRequests returns the requests of the mix.
func placedRequests(p *bench.Profile) (all []placed) {
	single, in := 0, map[string]int{}
	for _, r := range p.Requests {
		at := fmt.Sprintf("requests[%d]", single)
		if r.Session == "" {
			single++
		} else {
			i := slices.IndexFunc(p.Sessions, func(s bench.Session) bool { return s.Name == r.Session })
			list := "requests"
			if r.SetUp {
				list = "setup"
			}
			at = fmt.Sprintf("sessions[%d].%s", i, list)
			in[at]++
			at = fmt.Sprintf("%s[%d]", at, in[at]-1)
		}
		all = append(all, placed{r, at})
	}
	return all
}

func (r *rules) requests(p *bench.Profile) {
	r.when(len(p.Requests) == 0, "requests", "no requests", "write at least one, here or in a session")
	var known []string
	for _, v := range p.Variables {
		known = append(known, v.Name)
	}
	names := map[string]bool{} // unique, since expectations are looked up by name
	named := func(at, name string) {
		r.when(names[name], at+".name", fmt.Sprintf("duplicate request %q", name), "give each its own name")
		names[name] = true
	}
	each := func(key string, all []bench.Request) {
		for i, req := range all {
			at := fmt.Sprintf("%s[%d]", key, i)
			r.when(req.Pace > 0, at+".pace", "`pace` has no effect in "+key, "remove it: these requests are sent once")
			r.when(len(req.Success) > 0, at+".success", "`success` has no effect in "+key,
				"remove it: no request of "+key+" is throughput")
			known = r.request(p, placed{req, at}, known)
			named(at, req.Name)
		}
	}
	each("setup", p.Setup)
	session, within := "", known
	for _, req := range placedRequests(p) {
		if req.Session == "" {
			r.when(len(req.Save) > 0, req.at+".save", "a single request's `save` is never used",
				"move it into a session, or into `setup` for all requests")
		}
		if req.Session == "" || req.Session != session {
			session, within = req.Session, known
		}
		r.when(req.SetUp && len(req.Success) > 0, req.at+".success", "`success` has no effect in setup",
			"remove it: no request of setup is throughput")
		r.when(req.SetUp && req.Think.Max > 0, req.at+".think", "`think` has no effect in setup",
			"remove it: nothing of setup is measured")
		before := within
		within = r.request(p, req, before)
		named(req.at, req.Name)
	}
	for i, s := range p.Sessions {
		at := fmt.Sprintf("sessions[%d]", i)
		r.bounds(at+".", &s)
		r.when(names[s.Name], at+".name", fmt.Sprintf("duplicate name %q", s.Name), "give each its own name")
		names[s.Name] = true
	}
	each("teardown", p.Teardown)
}

// request reports the mistakes of a request with known variables, and adds those that it saves.
func (r *rules) request(p *bench.Profile, req placed, known []string) []string {
	at := req.at
	r.bounds(at+".", &req.Request)
	if hint := wrongMethod(req.Method); hint != "" {
		r.wrong(at+".method", req.Method, hint)
	}
	r.path(p, at, req.Request, known)
	r.header(at, req.Request)
	r.places(p, at, req.Request, known)
	r.unfilled(at+".expect", req.Request, known)
	for _, status := range append([]int{req.ExpectStatus}, req.MoreStatuses...) {
		r.between(at+".expect.status", status, 200, 599)
	}
	for _, status := range req.Success {
		r.when(!slices.Contains(req.Expected(), status), at+".success", fmt.Sprintf("%d is not an expected status", status),
			fmt.Sprintf("add it to `expect`, such as `expect: {status: %s}`",
				strings.ReplaceAll(fmt.Sprint(append(req.Expected(), status)), " ", ", ")))
	}
	r.repeat(at, req.Request)
	r.ids(at+".ids", req.IDs)
	if err := values.CheckBody(req.BodyFile); err != nil {
		r.when(true, at+".file", err.Error(), "write the path of a file, relative to the profile")
	}
	r.multipart(at, req.Request)
	for _, s := range req.Save {
		of := at + ".save." + s.Name
		r.when(!variableName.MatchString(s.Name), of, fmt.Sprintf("%q is not the name of a variable", s.Name),
			"write letters, digits and `_`; the first is not a digit")
		r.when(slices.ContainsFunc(p.Variables, func(v bench.Variable) bool { return v.Name == s.Name }), of,
			fmt.Sprintf("%q is already a variable", s.Name), "save it under another name")
		if err := workload.CheckSave(s); err != nil {
			r.when(true, of, err.Error(), "")
		}
		known = append(slices.Clip(known), s.Name)
	}
	return known
}

// places reports unknown variables in the path, the body, the headers and the expectations, and those
// that follow the clock where a response is expected to have them.
func (r *rules) places(p *bench.Profile, at string, req bench.Request, known []string) {
	path, body, expect := at+".path", at+".body", at+".expect"
	if req.Encoding != bench.PlainText {
		body = at + "." + string(req.Encoding)
	}
	texts := [][2]string{{path, req.Path}, {body, req.Body}} // by key
	for _, f := range req.Multipart {
		texts = append(texts, [2]string{at + ".multipart." + f.Name, f.Value + f.FileName})
	}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		texts = append(texts, [2]string{at + ".header." + name, req.Header[name]})
	}
	for _, text := range req.ExpectedTexts() {
		texts = append(texts, [2]string{expect, text})
	}
	for _, of := range texts {
		key, inPath, verb := of[0], of[0] == path, "send"
		if key == expect {
			verb = "expect"
		}
		for _, place := range bench.Parts(of[1]) {
			if req.Encoding == bench.FormBody && key == body && place.Name == "" {
				place.Text, _ = url.QueryUnescape(place.Text)
			}
			r.unplaced(p, key, place)
			name, _ := values.Column(place.Name)
			hint, ofData := noData(p, req, place.Name), place.Name == "id" || place.Name == "language"
			switch saved := savedBy(p, name, req); {
			case name == "" || slices.Contains(known, name):
			case ofData && (inPath && hint == "" || key == expect && bench.HasPlace(req.Path, name)):
			case saved != "":
				r.when(true, key, fmt.Sprintf("`%s` has no value here: the request %q saves it", place.Text, saved),
					"send that one before, in the same session or in `setup`")
			case inPath && ofData:
				r.when(true, key, fmt.Sprintf("`{%s}` has no values: no need of this profile has data for it", name), hint)
			default:
				r.when(true, key, fmt.Sprintf("`%s`: no variable %q here", place.Text, name),
					fmt.Sprintf("%s; to %s that text, write `{%s}`", hintOf(name, known), verb, place.Text))
			}
			raw := place.Type == bench.TypeRaw
			r.when(raw && !inPath, key, fmt.Sprintf("`%s` is not in a path", place.Text),
				"leave `:raw` out: it is for parts of a path that are not escaped")
			r.when(!raw && place.Type != "" && place.Type != bench.TypeNumber && place.Type != bench.TypeJSON, key,
				fmt.Sprintf("`%s`: unknown type %q", place.Text, place.Type), "write `:number`, `:json`, `:raw` in a path, or no type for a text")
			clock := func(v bench.Variable) bool {
				return v.Name == name && (v.Make == bench.GenerateNow || v.Make == bench.GenerateUnix)
			}
			r.when(key == expect && slices.ContainsFunc(p.Variables, clock), key, fmt.Sprintf("`%s` is the time, which has passed", place.Text),
				"expect something else, such as `present: [created]`")
		}
	}
}

// noData returns where the values for {id} or {language} may come from, or "" if the request has
// them.
func noData(p *bench.Profile, req bench.Request, name string) string {
	switch {
	case name == "id" && !kinds.Provided(p.Needs).Data && req.IDs.Distribution != fixed:
		return "write `variables: {id: {from: 1, to: 10000}}`, or list ids: `ids: [1, 2, 3]`"
	case name == "language" && len(req.Languages) == 0:
		return "write `variables: {language: {list: [cs, de]}}`, or list them here: `languages: [cs, de]`"
	}
	return ""
}

// savedBy returns the other request that saves a value under a name, or "".
func savedBy(p *bench.Profile, name string, not bench.Request) string {
	for _, r := range p.Every() {
		if r.Name != not.Name && slices.ContainsFunc(r.Save, func(s bench.Save) bool { return s.Name == name }) {
			return r.Name
		}
	}
	return ""
}

// unfilled reports variables where an expectation fills in nothing.
func (r *rules) unfilled(at string, req bench.Request, known []string) {
	for _, place := range req.UnfilledPlaces() {
		name, _ := values.Column(place.Name)
		where := "in `" + place.Key + "`"
		if place.InKey {
			where = "in a key"
		}
		r.when(slices.Contains(known, name), at, fmt.Sprintf("`%s` is %s, where nothing is filled in", place.Text, where),
			"move it into a value; to expect that text, give the variable another name")
	}
}

func hintOf(name string, known []string) string {
	if hint := strictyaml.Suggest(name, "known here", known); hint != "" {
		return hint
	}
	return fmt.Sprintf("add it to `variables`, such as `{%s: {from: 1, to: 10000}}`", name)
}

// link reports a path that begins with a variable whose values cannot be paths.
func (r *rules) link(p *bench.Profile, at, name string, known []string) {
	variable, _ := values.Column(name)
	i := slices.IndexFunc(p.Variables, func(v bench.Variable) bool { return v.Name == variable })
	ofData := !slices.Contains(known, variable) && (name == "id" || name == "language")
	r.when(ofData || i >= 0 && (p.Variables[i].Range != nil || p.Variables[i].Make != ""), at+".path",
		fmt.Sprintf("`{%s}` is not a path", name), "start it with `/`: the host is the contender's")
}

func (r *rules) path(p *bench.Profile, at string, req bench.Request, known []string) {
	r.when(len(req.Path) > 8000, at+".path", "the path is too long", "write at most 8000 bytes")
	if link := req.Link(); link != "" {
		r.link(p, at, link, known)
	} else if !strings.HasPrefix(req.Path, "/") {
		r.wrong(at+".path", req.Path, "start it with `/`: the host is the contender's")
	}
	outside := func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '#' }
	for _, part := range bench.Parts(req.Path) {
		if m := unplaced.FindStringSubmatch(part.Text); m != nil && !bench.HasPlace("{"+m[1]+"."+m[2]+"}", m[1]+"."+m[2]) {
			continue // see unplaced
		}
		if part.Name == "" && strings.ContainsFunc(part.Text, outside) {
			r.wrong(at+".path", req.Path, "percent-encode non-ASCII letters, spaces and `#`, such as `%20`")
		}
		if part.Name == "" && strings.ContainsAny(part.Text, "{}") && braces.MatchString(req.Path) {
			text := braces.FindString(part.Text)
			what := "is not the name of a variable"
			if name, _ := values.Column(strings.Trim(text, "{} ")); slices.Contains(known, name) {
				what = "is a text: for the value of the variable, write `{" + strings.Trim(text, "{} ") + "}`"
			}
			r.wrong(at+".path", req.Path, fmt.Sprintf("`%s` %s; to send it, write `%%7B…%%7D`", text, what))
		}
	}
	for _, of := range []struct {
		key, name string
		given     bool
	}{{"ids", "id", req.IDs.Distribution != ""}, {"languages", "language", len(req.Languages) > 0}} {
		in := bench.HasPlace(req.Path, of.name)
		r.when(of.given && !in, at+"."+of.key,
			fmt.Sprintf("`%s` are given, but the path has no `{%s}`", of.key, of.name),
			fmt.Sprintf("write `{%s}` into the path or remove `%s`", of.name, of.key))
		r.when(of.given && in && slices.Contains(known, of.name), at+"."+of.key,
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
		what, hint := contender.WrongHeader(name, req.Header[name])
		r.when(what != "", at+".header."+name, what, hint)
	}
}

func (r *rules) ids(at string, d bench.IDSpec) {
	n := len(d.Fixed)
	r.when(d.Distribution == fixed && (n == 0 || n > maxFixedIDs), at, fmt.Sprintf("%d ids given", n),
		fmt.Sprintf("write from 1 to %d: `[3067696, 2950159]`", maxFixedIDs))
	r.when(d.Distribution != fixed && n > 0, at+".fixed", "a list of ids is given, but they are drawn "+d.Distribution,
		"write `distribution: fixed` or remove the list")
	r.when(d.Distribution != zipf && d.Exponent != 0, at+".exponent",
		"an exponent is given, but ids are drawn "+d.Distribution, "write `distribution: zipf` or remove the exponent")
	if d.Distribution == zipf && !(d.Exponent > 1 && d.Exponent <= 10) {
		r.wrong(at+".exponent", d.Exponent, "write a number above 1, up to 10")
	}
}

// wrongMethod returns what is wrong with a method; "" if nothing is. Any token is one (RFC 9110, 9.1).
func wrongMethod(method string) (hint string) {
	upper := strings.ToUpper(method)
	switch {
	case len(method) > maxMethod || !token.MatchString(method):
		return fmt.Sprintf("write up to %d letters, such as `GET` or `PURGE`", maxMethod)
	case method == http.MethodConnect:
		return "write another one: CONNECT opens a tunnel, which has no responses to measure"
	case method != upper && slices.Contains(methods, upper):
		return fmt.Sprintf("write `%s`: services tell `%s` and `%s` apart", upper, upper, method)
	}
	return ""
}

const maxMethod = 40 // bytes

// unplaced matches a column in braces whose name no place can have, such as {user.Price (EUR)}.
var unplaced = regexp.MustCompile(`(?:^|[^{])\{([A-Za-z_][A-Za-z0-9_]*)\.([^{}"\\]{1,200})\}`)

// unplaced reports columns of a file in a text of a request that look like places and are none.
func (r *rules) unplaced(p *bench.Profile, key string, of bench.Part) {
	for _, m := range unplaced.FindAllStringSubmatch(of.Text, -1) {
		name, column := m[1], m[2]
		i := slices.IndexFunc(p.Variables, func(v bench.Variable) bool { return v.Name == name && v.File != "" && v.Column == "" })
		place := "{" + name + "." + column + "}"
		if parts := bench.Parts(place); of.Name != "" || i < 0 || len(parts) == 1 && parts[0].Name != "" {
			continue // a place, another text, or {{user.name}}
		}
		own := cmp.Or(strings.ToLower(regexp.MustCompile(`^[A-Za-z]*`).FindString(column)), "value")
		r.when(true, key, fmt.Sprintf("`%s` is not filled in", place),
			fmt.Sprintf("write `%s: {file: %s, column: %q}` and `{%s}`", own, filepath.Base(p.Variables[i].File), column, own))
	}
}
