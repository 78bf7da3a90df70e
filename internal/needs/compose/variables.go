package compose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/template"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

var (
	// place is a dollar, with what compose may read as a variable after it.
	place      = regexp.MustCompile(`\$(?:\$|([A-Za-z_]\w*)|\{[^{}]*\}|)`)
	wholePlace = regexp.MustCompile(`^\$\{([A-Za-z_]\w*)(?::[-+?][^$]*)?\}$`)
)

// maxVariables is the most of a file with variables that is read, in bytes.
const maxVariables = 1 << 20

// assignment is a line of such a file.
var assignment = regexp.MustCompile(`^\s*(?:export\s+)?[^\s=:#]+\s*[=:]\s*(.*?)\s*$`)

// places returns a text with its variables as ${NAME}. It reports those that neither compose nor
// locbench reads, or of which compose would keep nothing without a word.
func places(v strictyaml.Value, text string) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		switch m := place.FindStringSubmatch(found); {
		case m[1] != "":
			return "${" + m[1] + "}"
		case found != "$$" && !wholePlace.MatchString(found):
			v.Mistake(fmt.Sprintf("locbench does not read %s in a text", clip(found)), placesHint)
		}
		return found
	})
}

// variablesOf returns the variables of a text, and those that have to be set.
func variablesOf(text string) (all, needed []string) {
	for _, found := range place.FindAllString(text, -1) {
		if m := wholePlace.FindStringSubmatch(found); m != nil {
			if all = append(all, m[1]); found == "${"+m[1]+"}" {
				needed = append(needed, m[1])
			}
		}
	}
	return all, needed
}

// Filler fills variables of locbench into texts, as compose does, and hides the secrets among them.
type Filler struct {
	Getenv  func(string) string
	Hide    func(...string)
	missing []string
	wrong   error
}

// Text fills them into a text.
func (f *Filler) Text(text string) string {
	names, needed := variablesOf(text)
	for _, name := range names {
		f.Hide(f.Getenv(name))
	}
	for _, name := range needed {
		if f.Getenv(name) == "" && !slices.Contains(f.missing, name) {
			f.missing = append(f.missing, name)
		}
	}
	out, err := template.SubstituteWithOptions(text, func(name string) (string, bool) {
		value := f.Getenv(name)
		return value, value != ""
	}, template.WithoutLogging)
	f.wrong = cmp.Or(f.wrong, err)
	return out
}

func (f *Filler) words(words []string) (all []string) {
	for _, word := range words {
		all = append(all, f.Text(word))
	}
	return all
}

func (f *Filler) variables(given map[string]string) map[string]string {
	all := map[string]string{}
	for _, name := range sorted(given) {
		if all[name] = f.Text(given[name]); secret.Name(name) && !strings.Contains(given[name], "{{") {
			f.Hide(all[name])
		}
	}
	return all
}

// Err names all variables that are missing.
func (f *Filler) Err() error {
	if f.missing != nil {
		return fmt.Errorf("environment variable unset or empty: %s", strings.Join(f.missing, ", "))
	}
	if f.wrong != nil {
		return errors.New(safe.Line(f.wrong.Error(), 300))
	}
	return nil
}

// Environ returns the environment of a service whose variables are filled in, and hides its secrets.
func (s Service) Environ(f *Filler) (map[string]string, error) {
	env := map[string]string{}
	for _, file := range s.EnvFile {
		read, err := readVariables(file, func(name string) (string, bool) {
			value := cmp.Or(f.Getenv(name), s.Environment[name]) // in the order of compose
			return value, value != ""
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(env, read)
	}
	maps.Copy(env, s.Environment)
	for name, value := range env {
		if secret.Name(name) {
			f.Hide(value)
		}
	}
	f.Hide(s.login(env).Password)
	return env, nil
}

// readVariables reads the lines of a file as compose does. A line of which compose would lose
// something is an error, with its number.
func readVariables(file string, lookup func(name string) (string, bool)) (map[string]string, error) {
	text, err := safe.ReadFile(file, maxVariables)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\uFEFF"), "\n") {
		wrong := func(what string) error { return fmt.Errorf("%s:%d: %s", file, i+1, what) }
		if m := assignment.FindStringSubmatch(line); m != nil {
			if what := lostIn(m[1]); what != "" {
				return nil, wrong(what)
			}
		}
		var missing string
		read, err := dotenv.UnmarshalWithLookup(strings.TrimSuffix(line, "\r")+"\n", func(name string) (string, bool) {
			value, ok := lookup(name)
			if !ok {
				value, ok = all[name]
			}
			if !ok && strings.Contains(line, "${"+name+"}") || !ok && !strings.ContainsAny(line, "=:") {
				missing = name
			}
			return value, ok
		})
		switch {
		case err != nil && strings.Contains(err.Error(), "unterminated"):
			return nil, wrong("close the quotes on this line")
		case err != nil:
			return nil, wrong("expected a line NAME=VALUE")
		case missing != "":
			return nil, wrong("environment variable unset or empty: " + missing)
		case len(read) > 1:
			return nil, wrong("compose drops what is after the closing quote; put all of it in the quotes")
		}
		maps.Copy(all, read)
	}
	return all, nil
}

// lostIn says what compose would lose of a value in a file; "": nothing.
func lostIn(value string) string {
	switch {
	case strings.HasPrefix(value, "'"):
		return ""
	case strings.HasPrefix(value, `"`):
		value = strings.ReplaceAll(value, `\$`, "$$")
	case strings.Contains(value, " #"):
		return "compose drops the value from ` #` on; put it in quotes"
	}
	for _, found := range place.FindAllString(value, -1) {
		if found != "$$" && !wholePlace.MatchString(found) {
			return fmt.Sprintf("compose reads %s as a variable; put the value in single quotes, or write ${NAME}", clip(found))
		}
	}
	return ""
}
