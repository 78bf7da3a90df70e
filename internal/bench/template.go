package bench

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// places matches what is filled in, in headers, bodies and the environment of contenders: ${NAME}
// by the environment of locbench ($${NAME} is the text ${NAME}), and {word} by a value of a
// request ({{word}} is the text {word}). Other braces, such as those of JSON, are what they are.
var places = regexp.MustCompile(
	`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// EnvNames are the variables of the environment that texts name as ${NAME}, each once, in order.
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

// Words are the {word} of a text, each with its braces.
func Words(text string) (words []string) {
	for _, m := range places.FindAllStringSubmatch(text, -1) {
		if m[3] != "" {
			words = append(words, m[0])
		}
	}
	return words
}

// FillEnv fills in ${NAME}, with the empty text for a variable that is not set, and makes a text of
// $${NAME}.
func FillEnv(text string, getenv func(string) string) string { return fillPlaces(text, getenv, false) }

func fillPlaces(text string, getenv func(string) string, words bool) string {
	return places.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, "$$"):
			return s[1:]
		case strings.HasPrefix(s, "$"):
			return getenv(s[2 : len(s)-1])
		case words && strings.HasPrefix(s, "{{"):
			return s[1 : len(s)-1]
		}
		return s
	})
}

// Filled is the request with its header and body filled in, ready to be sent but for its path.
func (r Request) Filled(getenv func(string) string) Request {
	header := make(map[string]string, len(r.Header))
	for name, value := range r.Header {
		header[name] = fillPlaces(value, getenv, true)
	}
	if r.Header != nil {
		r.Header = header
	}
	r.Body = fillPlaces(r.Body, getenv, true)
	return r
}

// EnvNames are the variables of the environment that its header and body name.
func (r Request) EnvNames() []string {
	texts := []string{r.Body}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		texts = append(texts, r.Header[name])
	}
	return EnvNames(texts...)
}
