package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/values"
)

// Request is a bench.Request made ready to be sent.
type Request struct {
	Index   int           // index in the mix
	Name    string        // name of the request
	Method  string        // method of the request
	Status  int           // expected status
	More    []int         // other expected statuses
	Timeout time.Duration // 0: the timeout of the step
	IsHead  bool

	Repeatable bool // see wire.Repeatable

	head, body []part // parts of the bytes on the wire
	saves      []save
	expected   []expected // values that its expectation names
	rejected   []int      // expected statuses that do not count as throughput
	think      bench.Think
	repeat     *bench.Repeat
	to         *origin
	follow     int      // redirects in a row that are followed
	again, get *Request // after a redirect: the same request, or GET; without the first line
	checked    bool     // its responses may be checked
	id, word   int      // slots of {id} and {language} of the data set; -1: not used
}

// Expects reports whether a status is expected.
func (r *Request) Expects(status int) bool {
	return status == r.Status || slices.Contains(r.More, status)
}

// Rejects reports whether a status is expected, but does not count as throughput.
func (r *Request) Rejects(status int) bool {
	return slices.Contains(r.rejected, status)
}

// Statuses returns the expected statuses in words: "200 or 404".
func (r *Request) Statuses() string {
	return bench.InWords(append([]int{r.Status}, r.More...))
}

// newRequest makes r ready as a request of an iteration.
func (m *Mix) newRequest(r bench.Request, u *iteration, plan Plan) (*Request, error) {
	made := &Request{
		Index: len(m.requests), Name: r.Name, Status: cmp.Or(r.ExpectStatus, http.StatusOK), More: r.MoreStatuses,
		Timeout: r.Timeout, IsHead: r.Method == http.MethodHead, think: r.Think, repeat: r.Repeat,
		Method: cmp.Or(r.Method, http.MethodGet), id: -1, word: -1,
		rejected: r.Rejections(),
		checked:  plan.Check != nil && (plan.Checks == nil || plan.Checks(r.Name)), follow: r.Follow,
	}
	made.Repeatable = wire.Repeatable(made.Method)
	if !strings.HasPrefix(r.Path, "/") && r.Link() == "" {
		return nil, fmt.Errorf("path %q: must start with a slash", r.Path)
	}
	c := composer{mix: m, iteration: u, request: made, spec: r, plan: plan}
	written, body, err := c.compose(strings.TrimSuffix(plan.BaseURL, "/"))
	if err != nil {
		return nil, err
	}
	c.split(made, written, body)
	if made.checked || r.Repeat != nil {
		if err := c.expectation(); err != nil {
			return nil, err
		}
	}
	for _, s := range r.Save {
		one, err := newSave(s, u.slot(s.Name), plan.Uses[s.Name])
		if err != nil {
			return nil, err
		}
		made.saves = append(made.saves, one)
	}
	if made.follow > 0 {
		c.hops(strings.TrimSuffix(written, body), body)
	}
	return made, nil
}

// composer makes the parts of a request.
type composer struct {
	mix       *Mix
	iteration *iteration
	request   *Request
	spec      bench.Request
	plan      Plan
	places    []part // places of the head, in the order of their placeholders
	cookies   string // the place of all cookies, with the name of their header; "": there is none
}

// placeholder matches a word that no escaping changes. It marks a place that net/http would change.
var placeholder = regexp.MustCompile(`xLocbenchPlace(\d+)x`)

// compose has net/http write the request once. Only the places remain to be filled in.
func (c *composer) compose(base string) (written, body string, err error) {
	path, query, hasQuery := strings.Cut(c.spec.Path, "?")
	address, err := c.replaced(path, inPath)
	if err != nil {
		return "", "", err
	}
	if link := c.spec.Link(); link != "" {
		address = "/" + address // net/http writes no other path
		if c.saves(link) {      // links of responses are not below the base URL
			base = c.mix.root
		}
	}
	if hasQuery {
		text, err := c.replaced(query, inQuery)
		if err != nil {
			return "", "", err
		}
		address += "?" + text
	}
	encoding := plain
	switch c.spec.Encoding {
	case bench.JSONBody:
		encoding = inJSON
	case bench.FormBody:
		encoding = inQuery
	}
	content, kind := c.plan.Files[c.spec.BodyFile], c.spec.Encoding.ContentType()
	if c.spec.BodyFile == "" {
		parts, err := c.parts(c.spec.Body, encoding)
		if len(c.spec.Multipart) > 0 {
			parts, kind, err = c.multipart()
		}
		if err != nil {
			return "", "", err
		}
		if content = []byte(cmp.Or(c.spec.Body, "any")); len(parts) == 0 || len(parts) == 1 && parts[0].kind == partText {
			content = []byte(textOf(parts))
		} else {
			c.request.body = parts
		}
	}
	req, err := newHTTPRequest(base+address, c.spec.Method, content)
	if err != nil {
		return "", "", err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for name, value := range c.spec.Header {
		if value, err = c.replaced(value, inHeader); err != nil {
			return "", "", err
		}
		req.Header.Set(name, value)
	}
	host := req.Header.Get("Host")
	if host != "" {
		req.Host = host
	}
	if placeholder.MatchString(host) {
		host = ""
	}
	c.request.to = newOrigin(c.mix.base, host)
	c.placeCookies(req.Header)
	if user := req.URL.User; user != nil && req.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return "", "", err
	}
	written = b.String()
	if c.cookies != "" {
		written = strings.Replace(written, "\r\nCookie: "+c.cookies, c.cookies, 1)
	}
	if c.spec.Link() != "" {
		written = strings.Replace(written, "/xLocbenchPlace0x", "xLocbenchPlace0x", 1)
	}
	return written, string(content), nil
}

// placeCookies adds the place of a user's cookies to the header Cookie. Without other cookies
// there, the place has the name of the header too, which is left out then if the user has none. An
// empty Cookie sends none.
func (c *composer) placeCookies(header http.Header) {
	given, has := header["Cookie"]
	if has && given[0] == "" {
		header.Del("Cookie")
		return
	}
	if !c.iteration.cookies && c.mix.cookies == nil {
		return
	}
	place, before := fmt.Sprintf("xLocbenchPlace%dx", len(c.places)), "; "
	if header.Set("Cookie", header.Get("Cookie")+place); !has {
		c.cookies, before = place, "\r\nCookie: "
	}
	c.places = append(c.places, part{kind: partCookies, text: before, slot: -1})
}

// split cuts what net/http wrote into parts of a request.
func (c *composer) split(r *Request, raw, body string) {
	length := "\r\nContent-Length: "
	before, after, hasLength := strings.Cut(raw, length+strconv.Itoa(len(body))+"\r\n")
	if len(r.body) > 0 && hasLength {
		r.head = c.headParts(r.head, before+length)
		r.head = append(r.head, part{kind: partLength, slot: -1})
		raw = strings.TrimSuffix("\r\n"+after, body)
	}
	r.head = joined(c.headParts(r.head, raw))
}

func textOf(parts []part) (text string) {
	for _, p := range parts {
		text += p.text
	}
	return text
}

// headParts appends the parts of a text with placeholders.
func (c *composer) headParts(head []part, text string) []part {
	from := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		n, err := strconv.Atoi(text[at[2]:at[3]])
		if err != nil || n >= len(c.places) {
			continue
		}
		head = append(head, part{text: text[from:at[0]]}, c.places[n])
		from = at[1]
	}
	return append(head, part{text: text[from:]})
}

// joined merges consecutive texts.
func joined(parts []part) (out []part) {
	for _, p := range parts {
		switch n := len(out) - 1; {
		case p.kind == partText && p.text == "":
		case p.kind == partText && n >= 0 && out[n].kind == partText:
			out[n].text += p.text
		default:
			out = append(out, p)
		}
	}
	return out
}

// replaced returns a text of the head with placeholders for its places.
func (c *composer) replaced(text string, e encoding) (string, error) {
	parts, err := c.parts(text, e)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.kind == partText {
			b.WriteString(p.text)
			continue
		}
		fmt.Fprintf(&b, "xLocbenchPlace%dx", len(c.places))
		c.places = append(c.places, p)
	}
	return b.String(), nil
}

// parts returns the parts of a template. In JSON, a place with a type includes the quotes around
// it.
func (c *composer) parts(text string, e encoding) (parts []part, err error) {
	all := bench.Parts(text)
	for i := range all {
		if all[i].Type == "" || e != inJSON || i == 0 || i == len(all)-1 {
			continue
		}
		before, quoted := strings.CutSuffix(all[i-1].Text, `"`)
		after, ends := strings.CutPrefix(all[i+1].Text, `"`)
		if quoted && ends {
			all[i-1].Text, all[i+1].Text = before, after
		}
	}
	for i, p := range all {
		if p.Name == "" {
			parts = append(parts, part{text: p.Text})
			continue
		}
		how := e
		if p.Type != "" {
			how = plain
		}
		if i == 0 && e == inPath {
			how = asLink
		}
		made, err := c.place(p, how)
		if err != nil {
			return nil, fmt.Errorf("`%s`: %w", p.Text, err)
		}
		parts = append(parts, made)
	}
	return joined(parts), nil
}

// place returns the part that fills in a variable: one saved in the setup or in this session, one
// of the profile, or one of the data set.
func (c *composer) place(p bench.Part, e encoding) (part, error) {
	if value, ok := c.plan.Life.JSON[p.Name]; ok && p.Type == bench.TypeJSON {
		return part{text: value}, nil
	}
	if link, ok := c.plan.Life.Links[p.Name]; ok && e == asLink {
		return part{kind: partAsIs, text: link, slot: -1}, nil
	}
	if value, ok := c.plan.Life.saved(p.Name); ok {
		if e == asLink {
			return part{}, errors.New("the setup saved no link")
		}
		if p.Type == bench.TypeRaw {
			return part{kind: partAsIs, text: value, slot: -1}, nil
		}
		return part{text: string(e.append(nil, []byte(value)))}, nil
	}
	if c.iteration.saves(p.Name) && p.Type == bench.TypeJSON {
		return part{kind: partJSON, slot: c.iteration.slot(p.Name)}, nil
	}
	if c.iteration.saves(p.Name) {
		return part{kind: partSaved, slot: c.iteration.slot(p.Name), encoding: e}, nil
	}
	name, column, ofRow := strings.Cut(p.Name, ".")
	for _, v := range c.plan.Variables {
		if v.Name != name {
			continue
		}
		drawn, err := c.mix.variable(v, c.plan)
		if err != nil {
			return part{}, err
		}
		row := v.File != "" && v.Column == ""
		if ofRow != row && !(row && values.IsJSONFile(v.File)) { // a list of values has no columns
			return part{}, errors.New("write NAME.COLUMN for a variable that is a row of a file, and NAME for any other")
		}
		return drawn.part(c.iteration.drawn(drawn), cmp.Or(v.Column, column), e)
	}
	switch p.Name {
	case "id":
		v, err := c.mix.ids(c.spec.IDs, c.plan.IDs, c.spec.Name)
		if err != nil {
			return part{}, err
		}
		c.request.id = c.iteration.drawn(v)
		return v.part(c.request.id, "", e)
	case "language":
		if len(c.spec.Languages) == 0 {
			return part{}, errors.New("the request has no languages")
		}
		v := c.mix.own("language of "+c.spec.Name, func() *variable {
			return &variable{kind: partItem, items: c.spec.Languages, size: int64(len(c.spec.Languages)), draw: bench.DrawInTurn}
		})
		c.request.word = c.iteration.drawn(v)
		return v.part(c.request.word, "", e)
	}
	return part{}, errors.New("variable not found")
}

// saves reports whether a variable is saved, by the setup or in this session.
func (c *composer) saves(name string) bool {
	_, ok := c.plan.Life.saved(name)
	return ok || c.iteration.saves(name)
}

// newHTTPRequest returns a request with a body for a URL.
func newHTTPRequest(address, method string, body []byte) (*http.Request, error) {
	req, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		// The URL in a url.Error may hold a password.
		if whole, ok := errors.AsType[*url.Error](err); ok {
			err = whole.Err
		}
		return nil, fmt.Errorf("path: %w", err)
	}
	req.Header.Set("User-Agent", "locbench")
	return req, nil
}
