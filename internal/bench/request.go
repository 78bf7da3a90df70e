package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"
)

// Request is one kind of request: of the mix, of a session, or of setup and teardown. Path, header
// and body may contain {name} for a variable; see Parts.
type Request struct {
	Name    string            `json:"name" yaml:"name" strict:"min=1,max=100"`
	Session string            `json:"session,omitempty"`                               // session that it belongs to; "": a single request
	Weight  int               `json:"weight" yaml:"weight" strict:"min=1,max=1000000"` // share = weight / sum of all weights; 0 in a session
	Method  string            `json:"method" yaml:"method"`
	Path    string            `json:"path" yaml:"path"`
	Header  map[string]string `json:"header,omitempty" yaml:"header" strict:"max=50"`
	Body    string            `json:"body,omitempty" yaml:"body"`
	// file that is sent, unchanged, in place of Body
	BodyFile string `json:"body_file,omitempty" yaml:"file" strict:"path,min=1,max=1000"`
	// fields of a multipart body in place of Body
	Multipart []Field  `json:"multipart,omitempty" yaml:"multipart"`
	Encoding  Encoding `json:"encoding,omitempty"` // encoding of the body
	IDs       IDSpec   `json:"ids" yaml:"ids"`
	// values for {language}, one after the other
	Languages    []string `json:"languages,omitempty" yaml:"languages" strict:"min=1,max=100"`
	ExpectStatus int      `json:"expect_status"`           // any other status is an error
	MoreStatuses []int    `json:"more_statuses,omitempty"` // other statuses that are expected
	// expected statuses that count as throughput; empty: all below 400, or all if none is
	Success []int `json:"success,omitempty" yaml:"success" strict:"min=1,max=100"`
	// further expectations of its responses, as in a check suite
	Expect  Expectation `json:"expect,omitempty"`
	Timeout Duration    `json:"timeout_ns,omitempty" yaml:"timeout" strict:"min=1ms,max=1h"` // 0: that of the profile
	// values of its response for later requests
	Save []Save `json:"save,omitempty" yaml:"save"`
	// redirects in a row that are followed, each as a request; 0: none
	Follow int      `json:"follow,omitempty"`
	Think  Think    `json:"think,omitzero" yaml:"think"`                           // think time before it is sent
	Repeat *Repeat  `json:"repeat,omitempty" yaml:"repeat"`                        // nil: it is sent once
	Pace   Duration `json:"pace_ns,omitempty" yaml:"pace" strict:"min=1ms,max=1h"` // of a single request; see Session
	// it is of the setup of its session: sent once for each user before a step, and in no result
	SetUp bool `json:"setup,omitempty"`
}

// Checks reports whether the request has expectations other than the status.
func (r Request) Checks() bool { return len(r.Expect) > 0 }

// Encoding is how values of variables are escaped in a body.
type Encoding string

// The encodings. Values in plain text are not escaped.
const (
	PlainText Encoding = ""
	JSONBody  Encoding = "json"
	FormBody  Encoding = "form"
)

// ContentType returns the media type of the encoding; "" for plain text.
func (e Encoding) ContentType() string {
	switch e {
	case JSONBody:
		return "application/json"
	case FormBody:
		return "application/x-www-form-urlencoded"
	}
	return ""
}

// IDSpec says how {id} is drawn from the ids of the data set, with a recorded seed.
type IDSpec struct {
	Distribution string  `json:"distribution" yaml:"distribution" strict:"required,oneof=uniform|zipf|fixed"` // fixed, uniform, zipf
	Fixed        []int64 `json:"fixed,omitempty" yaml:"fixed"`                                                // fixed: these, one after the other
	Exponent     float64 `json:"exponent,omitempty" yaml:"exponent"`                                          // zipf: s > 1
}

// Session is what one user sends in sequence: the requests of Profile.Requests that name it.
type Session struct {
	Name   string `json:"name" yaml:"name" strict:"required,min=1,max=80"`
	Weight int    `json:"weight" yaml:"weight" strict:"min=1,max=1000000"` // relative to those of the other sessions and the single requests
	// the least time from the start of an iteration to that of the user's next one; 0: none. A step
	// with a rate has no pace.
	Pace Duration `json:"pace_ns,omitempty" yaml:"pace" strict:"min=1ms,max=1h"`
}

// Think is the think time before a request, drawn uniformly between two times, which may be equal.
type Think struct {
	Min Duration `json:"min_ns"`
	Max Duration `json:"max_ns"`
}

// Source is the part of a response from which a value is saved.
type Source string

// The sources.
const (
	FromJSON   Source = "json"   // Of is a path, as in check suites; `[*]` is an element drawn at random
	FromHeader Source = "header" // Of is the name of the header
	FromCookie Source = "cookie" // Of is the name of the cookie
	FromRegex  Source = "regex"  // Of is matched against the body; the value is the first group, or else the whole match
)

// Save is a value of a response that later requests use.
type Save struct {
	Name string `json:"name"` // name of the variable
	From Source `json:"from"`
	Of   string `json:"of"`
	// regular expression that cuts the value out of what From and Of name, as FromRegex does
	Regex string `json:"regex,omitempty"`
}

// Draws reports whether the value is drawn from the elements of lists.
func (s Save) Draws() bool { return s.From == FromJSON && strings.Contains(s.Of, "[*]") }

// Variable is a value drawn for each iteration. Exactly one of Range, List, File and Make is set.
type Variable struct {
	Name  string   `json:"name"`
	Range *Range   `json:"range,omitempty"`
	List  []string `json:"list,omitempty" yaml:"list" strict:"min=1,max=100000"`
	// CSV with a header, a JSON list (.json), or JSON lines (.jsonl, .ndjson)
	File string `json:"file,omitempty" yaml:"file" strict:"path,min=1,max=1000"`
	// column of File; "": the variable is a row, with the values {name.column}
	Column   string    `json:"column,omitempty" yaml:"column" strict:"min=1,max=200"`
	Make     Generator `json:"make,omitempty"`
	Length   int       `json:"length,omitempty" yaml:"string" strict:"min=1,max=1000"`             // length of a generated string
	Draw     Draw      `json:"draw,omitempty" yaml:"draw" strict:"oneof=random|zipf|in_turn|once"` // how to draw from Range, List or File
	Exponent float64   `json:"exponent,omitempty" yaml:"exponent"`                                 // exponent of DrawZipf, above 1
}

// Range is a range of integers, both ends included.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Draw is how the values of a variable are drawn.
type Draw string

// The ways to draw. DrawInTurn and DrawOnce continue through all steps of a trial. DrawOnce ends
// the load after the last value.
const (
	DrawRandom Draw = "random"
	DrawZipf   Draw = "zipf" // the first value is the most frequent one
	DrawInTurn Draw = "in_turn"
	DrawOnce   Draw = "once"
)

// Generator makes values.
type Generator string

// The generators. All except GenerateNow and GenerateUnix depend only on the seed.
const (
	GenerateUUID     Generator = "uuid"     // version 4
	GenerateNow      Generator = "now"      // RFC 3339, UTC, with milliseconds
	GenerateUnix     Generator = "unix"     // milliseconds since 1970
	GenerateSequence Generator = "sequence" // 1, 2, 3 …, through all steps of a trial
	GenerateString   Generator = "string"   // letters and digits
)

// DataFile is a file with values or a body of requests, at the start of the run.
type DataFile struct {
	File string `json:"file"`
	Hash string `json:"hash"` // SHA-256, hexadecimal
}

// Every returns all requests of a profile, including setup and teardown.
func (p Profile) Every() []Request { return slices.Concat(p.Setup, p.Requests, p.Teardown) }

// DrawsIDs reports whether a request uses ids of the data set.
func (p Profile) DrawsIDs() bool {
	own := slices.ContainsFunc(p.Variables, func(v Variable) bool { return v.Name == "id" })
	return !own && slices.ContainsFunc(p.Requests, func(r Request) bool {
		return HasPlace(r.Path, "id") && len(r.IDs.Fixed) == 0 && !p.saves("id", r.Session)
	})
}

// saves reports whether the setup or a session saves a value under a name.
func (p Profile) saves(name, session string) bool {
	is := func(s Save) bool { return s.Name == name }
	return slices.ContainsFunc(p.Setup, func(r Request) bool { return slices.ContainsFunc(r.Save, is) }) ||
		session != "" && slices.ContainsFunc(p.Requests, func(r Request) bool {
			return r.Session == session && slices.ContainsFunc(r.Save, is)
		})
}

// HasPlace reports whether a template has a place for a variable.
func HasPlace(text, variable string) bool {
	return slices.ContainsFunc(Parts(text), func(p Part) bool { return p.Name == variable })
}

// MaxKeptRequests is how many requests a step may keep. A results file has about 200 bytes of each.
const MaxKeptRequests = 10_000

// KeptRequest is a single request of a step, with its measured times.
type KeptRequest struct {
	Request string `json:"request"` // name of the kind of request
	// when its latency starts, on the clock, since the start of the measured interval (of its first
	// slice); negative in the lead-in
	Start   time.Duration `json:"start_ns"`
	Latency time.Duration `json:"latency_ns"` // to the last byte of the response, or to the error
	// open loop: delay from scheduled to sent, which is part of Latency
	Lag      time.Duration `json:"lag_ns,omitempty"`
	Status   int           `json:"status,omitempty"`   // status of the response; 0: no complete response
	Error    ErrorKind     `json:"error,omitempty"`    // why it is an error; "": it is not
	Rejected bool          `json:"rejected,omitempty"` // the status is expected, but not throughput: not a success
	Bytes    int64         `json:"bytes,omitempty"`    // length of the body, or of the part that was received
}

// Compare orders kept requests by their starts.
func (k KeptRequest) Compare(other KeptRequest) int { return cmp.Compare(k.Start, other.Start) }

// Document is one document of a data set, in the form of a bulk request.
type Document struct {
	ID      string
	Routing string // "" unless a dump sets it
	Source  []byte // JSON on one line; valid only until the next document
}

// AppendAction appends the line before the document in a bulk request: {"create":{"_id":"1"}}.
func (d *Document) AppendAction(b []byte, op string) []byte {
	b = append(b, `{"`...)
	b = append(b, op...)
	b = append(b, `":{"_id":`...)
	b = appendJSONString(b, d.ID)
	if d.Routing != "" {
		b = append(b, `,"routing":`...)
		b = appendJSONString(b, d.Routing)
	}
	return append(b, "}}\n"...)
}

func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // does not fail for a string
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Index is one index of a data set.
type Index struct {
	Name    string // the alias that contenders use
	Mapping []byte // JSON body of PUT /<index>: mappings, and settings nested below "index"
	Count   int64  // documents
}

// DataSet is the content of a need. Its methods are safe for concurrent use.
type DataSet interface {
	// Info describes the set. Its hash changes when a document or a mapping changes.
	Info() DataInfo
	// Indices returns the indices in the order in which to fill them.
	Indices() []Index
	// Documents streams the documents of one index, always in the same order, up to the first error.
	// Each is a valid JSON object.
	Documents(index string) iter.Seq2[Document, error]
	// IDs returns the values of {id}, in the order of Documents.
	IDs(ctx context.Context) ([]int64, error)
}
