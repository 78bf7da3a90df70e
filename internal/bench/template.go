package bench

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// places matches the places of a template in requests and in the environment of contenders: ${NAME}
// for the environment of locbench ($${NAME} is the text ${NAME}), and {word} for a variable
// ({{word}} is the text {word}). Other braces, such as those of JSON, are text.
var places = regexp.MustCompile(
	`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\{\{` + word + `\}\}|\{(` + word + `)\}`)

// word is a variable, its column (words with a blank or a dot between them), and its type.
const word = `[A-Za-z_][A-Za-z0-9_]*(?:\.[\pL\pN_-]+(?:[ .][\pL\pN_-]+)*)?(?::[a-z]+)?`

// EnvNames returns the environment variables in texts, as ${NAME}, each once, in order.
func EnvNames(texts ...string) (names []string) {
	for _, text := range texts {
		for _, m := range places.FindAllStringSubmatch(text, -1) {
			if m[1] != "" && !strings.HasPrefix(m[0], "$$") && !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// FillEnv fills in ${NAME}, with the empty text for a variable that is not set, and replaces
// $${NAME} by ${NAME}.
func FillEnv(text string, getenv func(string) string) string { return fillPlaces(text, getenv, false) }

func fillPlaces(text string, getenv func(string) string, literal bool) string {
	return places.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, "$$"):
			return s[1:]
		case strings.HasPrefix(s, "$"):
			value := getenv(s[2 : len(s)-1])
			if literal { // a value is not a template
				value = LiteralBraces(value)
			}
			return value
		}
		return s
	})
}

// Part is a piece of a template: a text, or a place for a value.
type Part struct {
	Text string // the text, or the place as written: "{item:number}"
	Name string // name of the variable: "item", "user.name"; "": a text
	Type Type
}

// Type is the form of a value in JSON.
type Type string

// The types. A value without a type is part of a string.
const (
	TypeNumber Type = "number" // a number, which replaces the quotes around the place
	TypeJSON   Type = "json"   // any JSON, which replaces the quotes around the place: true, null, a list, an object
	TypeRaw    Type = "raw"    // a part of a path or query, which is not escaped
)

// Parts splits a template into its texts and places.
func Parts(text string) (parts []Part) {
	add := func(s string) {
		if n := len(parts); n > 0 && parts[n-1].Name == "" {
			parts[n-1].Text += s
		} else if s != "" {
			parts = append(parts, Part{Text: s})
		}
	}
	first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if first < 0 || last < first { // bodies of several MiB without a place are usual
		add(text)
		return parts
	}
	from := 0
	for _, m := range places.FindAllStringSubmatchIndex(text, -1) {
		add(text[from:m[0]])
		switch place := text[m[0]:m[1]]; {
		case m[4] >= 0:
			name, kind, _ := strings.Cut(text[m[4]:m[5]], ":")
			parts = append(parts, Part{Text: place, Name: name, Type: Type(kind)})
		case strings.HasPrefix(place, "{{"):
			add(place[1 : len(place)-1])
		default:
			add(place)
		}
		from = m[1]
	}
	add(text[from:])
	return parts
}

// Literal returns the template of a header or a body that is text: no part of it is a place.
func Literal(text string) string {
	return places.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '{' {
			return "{" + s + "}"
		}
		return "$" + s
	})
}

// LiteralBraces returns the template of a header or a body in which only ${NAME} is filled in.
func LiteralBraces(text string) string {
	return places.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '{' {
			return "{" + s + "}"
		}
		return s
	})
}

// Escaped escapes the texts of a template; places stay unchanged.
func Escaped(text string, escape func(string) string) string {
	var out strings.Builder
	from := 0
	for _, m := range places.FindAllStringIndex(text, -1) {
		out.WriteString(escape(text[from:m[0]]))
		place := text[m[0]:m[1]]
		if strings.HasPrefix(place, "{{") {
			place = escape(place[1 : len(place)-1])
		}
		out.WriteString(place)
		from = m[1]
	}
	out.WriteString(escape(text[from:]))
	return out.String()
}

// Filled returns the request with the environment filled in to header and body, escaped for the
// encoding of the body.
func (r Request) Filled(getenv func(string) string) Request {
	header := make(map[string]string, len(r.Header))
	for name, value := range r.Header {
		header[name] = fillPlaces(value, getenv, true)
	}
	if r.Header != nil {
		r.Header = header
	}
	r.Body = fillPlaces(r.Body, func(name string) string {
		switch value := getenv(name); r.Encoding {
		case FormBody:
			return url.QueryEscape(value)
		case JSONBody:
			return inJSON(value)
		default:
			return value
		}
	}, true)
	r.Multipart = slices.Clone(r.Multipart)
	for i, f := range r.Multipart {
		r.Multipart[i].Value = fillPlaces(f.Value, getenv, true)
		r.Multipart[i].FileName = fillPlaces(f.FileName, getenv, true)
	}
	return r
}

// inJSON returns a text escaped for a JSON string, without the quotes.
func inJSON(text string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // does not fail for a string
	return strings.TrimSuffix(out.String()[1:], "\"\n")
}

// Link returns the variable at the beginning of the path, which is a whole path then, or a URL of
// the contender; "" if the path begins with a text.
func (r Request) Link() (name string) {
	if parts := Parts(r.Path); len(parts) > 0 {
		name = parts[0].Name
	}
	return name
}

// EnvNames returns the environment variables in header and body.
func (r Request) EnvNames() []string { return EnvNames(r.texts()[1:]...) }

// Places returns the places of a request, in order, with repetitions.
func (r Request) Places() []Part { return placesIn(r.texts()...) }

// placesIn returns the places of templates, in order, with repetitions.
func placesIn(texts ...string) (places []Part) {
	for _, text := range texts {
		places = append(places, slices.DeleteFunc(Parts(text), func(p Part) bool { return p.Name == "" })...)
	}
	return places
}

// texts returns the templates of the request: path, body, header.
func (r Request) texts() []string {
	texts := []string{r.Path, r.Body}
	for _, f := range r.Multipart {
		texts = append(texts, f.Value, f.FileName)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		texts = append(texts, r.Header[name])
	}
	return texts
}
