package secret

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
)

// Event returns a copy of e without secrets. e itself does not change.
func (m Masker) Event(e bench.Event) bench.Event {
	if e == nil {
		return nil
	}
	return walk{text: m.within}.of(e).(bench.Event)
}

// Run returns a copy of a run's record without secrets.
func (m Masker) Run(r bench.Run) bench.Run { return walk{text: m.within}.of(r).(bench.Run) }

// kept are fields whose text is not prose and must not change. A password that happens to be part
// of such a text is not recognizable.
var kept = []string{"HDR", "ID", "File", "Dir", "Image", "ImageID", "Contents", "Hash", "Like"}

// keptTypes are types that only hold names, by which things find each other.
var keptTypes = []reflect.Type{
	reflect.TypeFor[time.Time](), reflect.TypeFor[bench.Trial](), reflect.TypeFor[bench.TrialEntry](),
	reflect.TypeFor[bench.Selection](),
}

var textType = reflect.TypeFor[string]()

// doors are fields of texts in which secrets have names or places.
var doors = []string{"URL", "Path", "Body", "Request"}

// walk copies values, and replaces each text in them by what it returns for it and the secrets that
// its names and places show, which are apart or may overlap.
type walk struct {
	text    func(text string, secrets []span) string
	unnamed bool // what is expected of responses: a resumed run has to know it
}

func (w walk) of(v any) any { return w.copy(reflect.ValueOf(v), false).Interface() }

// copy copies values with text, and shares all others with the original. door: secrets have names or
// places in a text.
func (w walk) copy(v reflect.Value, door bool) reflect.Value {
	t := v.Type()
	if form, ok := v.Interface().(bench.NeedForm); ok {
		return reflect.ValueOf(w.form(form))
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if v.IsNil() || !holdsText(t.Elem()) {
			return v
		}
	}
	switch v.Kind() {
	case reflect.String:
		if t != textType { // named types have fixed values: phases, states, kinds
			return v
		}
		var parts []span
		if door {
			parts = find(v.String())
		}
		return reflect.ValueOf(w.text(v.String(), parts))
	case reflect.Pointer:
		out := reflect.New(t.Elem())
		out.Elem().Set(w.copy(v.Elem(), door))
		return out
	case reflect.Interface:
		if !v.IsNil() {
			return w.copy(v.Elem(), door).Convert(t)
		}
	case reflect.Slice:
		out, words := reflect.MakeSlice(t, v.Len(), v.Len()), make([]string, v.Len())
		for i := range words {
			words[i], _ = v.Index(i).Interface().(string)
		}
		for i, word := range w.args(words) {
			if item := v.Index(i); words[i] == "" {
				out.Index(i).Set(w.copy(item, door))
			} else {
				out.Index(i).Set(reflect.ValueOf(word))
			}
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(t, v.Len())
		for k, value := range v.Seq2() {
			name, _ := k.Interface().(string)
			text, isText := value.Interface().(string)
			switch {
			case !isText || w.unnamed:
				out.SetMapIndex(k, w.copy(value, door))
			case slices.ContainsFunc(kept, func(key string) bool { return strings.EqualFold(key, name) }):
				out.SetMapIndex(k, reflect.ValueOf(w.text(text, nil)))
			default:
				out.SetMapIndex(k, reflect.ValueOf(w.named(name, text)))
			}
		}
		return out
	case reflect.Struct:
		if slices.Contains(keptTypes, t) {
			return v
		}
		if f, ok := v.Interface().(bench.Field); ok {
			f.Value = w.named(f.Name, f.Value)
			return reflect.ValueOf(f)
		}
		out := reflect.New(t).Elem()
		out.Set(v)
		for i := range v.NumField() {
			f := t.Field(i)
			if f.IsExported() && f.Tag.Get("json") != "-" && !slices.Contains(kept, f.Name) && holdsText(f.Type) {
				inner := walk{w.text, f.Name == "Expect"}
				out.Field(i).Set(inner.copy(v.Field(i), slices.Contains(doors, f.Name)))
			}
		}
		return out
	}
	return v
}

// named walks the value with a name, all of which may be secret.
func (w walk) named(name, value string) string {
	parts := find(value)
	if Name(name) {
		parts = append(parts, span{to: len(value)})
	}
	return w.text(value, parts)
}

// args walks a command line: an option and its value may be two words.
func (w walk) args(argv []string) []string {
	out, at := make([]string, len(argv)), 1
	parts := find("\x00" + strings.Join(argv, "\x00"))
	for i, arg := range argv {
		var own []span
		for _, x := range parts {
			if x.from >= at && x.to <= at+len(arg) {
				own = append(own, span{x.from - at, x.to - at, x.user})
			}
		}
		out[i] = w.text(arg, own)
		at += len(arg) + 1
	}
	return out
}

// form walks the form of a need. One that does not change keeps its text, of which a run has the hash.
func (w walk) form(form bench.NeedForm) bench.NeedForm {
	var of any
	d := json.NewDecoder(bytes.NewReader(form.JSON()))
	d.UseNumber() // exact
	if d.Decode(&of) != nil {
		return form
	}
	before, _ := json.Marshal(of) // it was JSON
	out, err := json.Marshal(w.of(&of))
	if err != nil || bytes.Equal(before, out) {
		return form
	}
	return bench.FormFrom(out)
}

// holdsText reports whether a type may contain text. It is false for numbers, for example.
func holdsText(t reflect.Type) bool {
	return slices.Contains([]reflect.Kind{
		reflect.String, reflect.Interface, reflect.Map, reflect.Slice, reflect.Struct, reflect.Pointer,
	}, t.Kind())
}

// envPlace matches the place of a variable of the environment, and $${NAME}, which is a text.
var envPlace = regexp.MustCompile(`\$?` + variable)

// around masks a secret value but for its places of variables, which a resumed run fills in again. What is
// around these is masked, and returned, if it is long enough to be more than a part of words.
func around(v string) (masked string, secrets []string) {
	at, all := 0, append(envPlace.FindAllStringIndex(v, -1), []int{len(v), len(v)})
	for _, m := range all {
		if strings.HasPrefix(v[m[0]:m[1]], "$$") {
			continue
		}
		switch part := v[at:m[0]]; {
		case part == v:
			return maskedList(v), []string{v}
		case len(part) >= minLength:
			masked, secrets = masked+Mask, append(secrets, part)
		default:
			masked += part
		}
		masked += v[m[0]:m[1]]
		at = m[1]
	}
	return masked, secrets
}

// plainPair is a setting of a pool or a time limit in a connection string: no other is shown, as a cookie has
// pairs, too.
var plainPair = regexp.MustCompile(`(?i)^\s*(?:(?:max(?:imum)?|min(?:imum)?) pool ?size|pooling|multiplexing|max auto prepare|` +
	`(?:connect|connection|command|idle) (?:idle )?(?:timeout|lifetime)|timeout)=(?:[0-9]{1,6}|true|false)\s*$`)

// maskedList returns Mask, with the plain pairs of a list such as a connection string without quotes:
// "***;Maximum Pool Size=2". By them a reader sees how two secrets differ.
func maskedList(v string) string {
	out := Mask
	pairs := strings.Split(strings.TrimSuffix(v, ";"), ";")
	for _, pair := range pairs {
		if !strings.Contains(pair, "=") || len(pairs) < 2 || strings.ContainsAny(v, "\"'{}\n") {
			return Mask
		}
		if plainPair.MatchString(pair) {
			out += ";" + pair
		}
	}
	return out
}

// Saved returns the names of the values from responses that are secrets: those from a cookie or a
// secret header, those with a secret name here or in the response, and those that a request uses
// where a secret is.
func Saved(requests []bench.Request) map[string]bool {
	used := map[string]bool{}
	for _, r := range requests {
		for name, value := range r.Header {
			use(used, value, Name(name))
		}
		use(used, r.Path, false)
		use(used, r.Body, false)
		for _, f := range r.Multipart {
			use(used, f.Value, Name(f.Name))
		}
	}
	all := map[string]bool{}
	for _, r := range requests {
		for _, s := range r.Save {
			of := s.From == bench.FromCookie || s.From == bench.FromHeader && Name(s.Of) ||
				s.From == bench.FromJSON && assigned(s.Of[strings.LastIndexByte(s.Of, '.')+1:])
			if of || Name(s.Name) || used[s.Name] {
				all[s.Name] = true
			}
		}
	}
	return all
}

// use adds the variables in a template that are in the place of a secret; whole: all are.
func use(all map[string]bool, template string, whole bool) {
	secrets := find(template)
	if whole {
		secrets = []span{{to: len(template)}}
	}
	for _, x := range secrets {
		for _, p := range bench.Parts(template[x.from:x.to]) {
			if p.Name != "" {
				all[p.Name] = true
			}
		}
	}
}

// IsToken reports whether a value of an unknown kind, such as a cookie, is credentials rather than a word
// or a number.
func IsToken(v string) bool {
	if len(v) < 12 || strings.Trim(v, digits) == "" {
		return false
	}
	mixed := strings.ContainsFunc(v[1:], unicode.IsUpper) && strings.ToUpper(v) != v
	return len(v) >= 20 || mixed || strings.ContainsAny(v, digits+"=")
}
