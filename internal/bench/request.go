package bench

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Request is one kind of request: of the mix, of a session, or of setup and teardown. Path, header and
// body may hold {name} for a variable; see Parts.
type Request struct {
	Name         string            `json:"name"`
	Session      string            `json:"session,omitempty"` // that it is a part of; "": it stands alone
	Weight       int               `json:"weight"`            // share = weight / sum of all weights; 0 in a session
	Method       string            `json:"method"`
	Path         string            `json:"path"`
	Header       map[string]string `json:"header,omitempty"`
	Body         string            `json:"body,omitempty"`
	BodyFile     string            `json:"body_file,omitempty"` // is sent in place of Body, as it is
	Encoding     Encoding          `json:"encoding,omitempty"`  // of the body
	IDs          IDSpec            `json:"ids"`
	Languages    []string          `json:"languages,omitempty"`     // {language} goes round through these
	ExpectStatus int               `json:"expect_status"`           // any other status is an error
	MoreStatuses []int             `json:"more_statuses,omitempty"` // but these
	// what else its responses must be, as in a check suite
	Expect  map[string]any `json:"expect,omitempty"`
	Timeout Duration       `json:"timeout_ns,omitempty"` // 0: that of the profile
	Save    []Save         `json:"save,omitempty"`       // values that its response has for requests after it
	Think   Think          `json:"think,omitzero"`       // before it is sent
}

// ExpectsStatus reports whether a status is one of the expected ones.
func (r Request) ExpectsStatus(status int) bool {
	return status == cmp.Or(r.ExpectStatus, http.StatusOK) || slices.Contains(r.MoreStatuses, status)
}

// NamesCity says whether the request is one of the locations service's for cities or regions.
func (r Request) NamesCity() bool {
	return strings.HasPrefix(r.Path, "/city/") || strings.HasPrefix(r.Path, "/region/")
}

// Checks says whether more is expected of a response than its status.
func (r Request) Checks() bool { return len(r.Expect) > 0 }

// Encoding is how variables are written into a body.
type Encoding string

// The encodings. Plain text has the values as they are.
const (
	PlainText Encoding = ""
	JSONBody  Encoding = "json"
	FormBody  Encoding = "form"
)

// ContentType returns what the encoding is called in a header; "" for plain text.
func (e Encoding) ContentType() string {
	switch e {
	case JSONBody:
		return "application/json"
	case FormBody:
		return "application/x-www-form-urlencoded"
	}
	return ""
}

// IDSpec says how {id} is drawn from the ids of the data set, always from a recorded seed.
type IDSpec struct {
	Distribution string  `json:"distribution"`       // fixed, uniform, zipf
	Fixed        []int64 `json:"fixed,omitempty"`    // fixed: these, in turn
	Exponent     float64 `json:"exponent,omitempty"` // zipf: s > 1
}

// Session is a number of requests that one user makes, in the order in which Profile.Requests has those
// that name it.
type Session struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"` // next to those of the requests that stand alone
}

// Think is how long a user waits before a request: drawn evenly between two times, which may be the
// same.
type Think struct {
	Min Duration `json:"min_ns"`
	Max Duration `json:"max_ns"`
}

// Source is the part of a response from which a value is saved.
type Source string

// The sources.
const (
	FromJSON   Source = "json"   // Of is a path, as in check suites
	FromHeader Source = "header" // Of is its name
	FromCookie Source = "cookie" // Of is its name
	FromRegex  Source = "regex"  // Of is matched with the body; the first group is the value, or the whole match
)

// Save is a value that a response has for the requests after it.
type Save struct {
	Name string `json:"name"` // of the variable
	From Source `json:"from"`
	Of   string `json:"of"`
}

// Variable is a value that is new in each request that stands alone and in each session. Exactly one of
// Range, List, File and Make is set.
type Variable struct {
	Name     string    `json:"name"`
	Range    *Range    `json:"range,omitempty"`
	List     []string  `json:"list,omitempty"`
	File     string    `json:"file,omitempty"`     // CSV with a header, or JSON lines (.jsonl, .ndjson)
	Column   string    `json:"column,omitempty"`   // of File; "": the variable is a row, and {name.column} its values
	Make     Generator `json:"make,omitempty"`     //
	Length   int       `json:"length,omitempty"`   // of GenerateString
	Draw     Draw      `json:"draw,omitempty"`     // of Range, List and File
	Exponent float64   `json:"exponent,omitempty"` // of DrawZipf: > 1
}

// Range is the whole numbers from one to another, both included.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Draw is how a variable takes its values.
type Draw string

// The ways to draw. In turn and once continue through all steps of a contender's life; once ends the load when there is no
// value left.
const (
	DrawRandom Draw = "random"
	DrawZipf   Draw = "zipf" // the first value is the most frequent one
	DrawInTurn Draw = "in_turn"
	DrawOnce   Draw = "once"
)

// Generator makes values.
type Generator string

// The generators. All but the clock's follow from the seed.
const (
	GenerateUUID     Generator = "uuid"     // version 4
	GenerateNow      Generator = "now"      // RFC 3339, UTC, with milliseconds
	GenerateUnix     Generator = "unix"     // milliseconds since 1970
	GenerateSequence Generator = "sequence" // 1, 2, 3 …, through all steps of a contender's life
	GenerateString   Generator = "string"   // letters and digits
)

// DataFile is a file that requests take values or a body from, as it was when the run began.
type DataFile struct {
	File string `json:"file"`
	Hash string `json:"hash"` // SHA-256, in hexadecimal digits
}

// Every returns all requests of a profile, also those of setup and teardown.
func (p Profile) Every() []Request { return slices.Concat(p.Setup, p.Requests, p.Teardown) }

// DrawsIDs says whether a request asks for ids of the data set.
func (p Profile) DrawsIDs() bool {
	own := slices.ContainsFunc(p.Variables, func(v Variable) bool { return v.Name == "id" })
	return !own && slices.ContainsFunc(p.Requests, func(r Request) bool {
		return strings.Contains(r.Path, "{id}") && len(r.IDs.Fixed) == 0
	})
}

// LongestTimeout returns the longest timeout of a profile's requests.
func (p Profile) LongestTimeout() time.Duration {
	longest := p.Timeout
	for _, r := range p.Requests {
		longest = max(longest, r.Timeout)
	}
	return longest
}
