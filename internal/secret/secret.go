// Package secret masks passwords, tokens and keys before anything leaves the process: what stands under a name such as DB_PASSWORD, the
// user info of addresses, and every place where a value that is known to be secret occurs in other text, such as a line of a log.
//
// It knows secrets by their names and their places, not by their looks: one that stands in the open under a harmless name is not found.
package secret

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"locbench/internal/bench"
)

// Mask stands for what was taken out.
const Mask = "***"

// minLength is from which length on a value is looked for in other text: a shorter one would be found in too many words.
const minLength = 6

// words in a name say that what it names is secret.
var words = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "SECRET", "KEY", "CREDENTIAL", "AUTHORIZATION", "COOKIE"}

// Name tells whether what stands under this name (of a variable, a header, an option) is secret.
func Name(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "_PASS") || strings.HasSuffix(name, "-PASS") || name == "PASS" ||
		slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

var (
	userInfo = regexp.MustCompile(`://[^\s/?#"'<>]*@`)
	// In addresses a shorter list: ?keyword=… and ?key=… ask for what is looked for.
	query = regexp.MustCompile(`(?i)([?&;][a-z0-9_.-]*(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|credential|signature)[a-z0-9_.-]*=)[^&;\s"'#<>]+`)
)

// Masker knows some secrets. Its zero value knows none and masks what names and places give away.
type Masker struct{ replace *strings.Replacer }

// New makes a masker that knows values. Those of less than six characters are masked in their own places alone.
func New(values ...string) Masker {
	var all []string
	for _, v := range values {
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:], base64.StdEncoding.EncodeToString([]byte(v))} {
			if len(form) >= minLength && form != Mask && !slices.Contains(all, form) {
				all = append(all, form)
			}
		}
	}
	if len(all) == 0 {
		return Masker{}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be the beginning of another
	var pairs []string
	for _, v := range all {
		pairs = append(pairs, v, Mask)
	}
	return Masker{strings.NewReplacer(pairs...)}
}

// Text masks known values, user info and secret queries of addresses.
func (m Masker) Text(s string) string {
	if m.replace != nil {
		s = m.replace.Replace(s)
	}
	if strings.Contains(s, "://") && strings.Contains(s, "@") {
		s = userInfo.ReplaceAllString(s, "://"+Mask+"@")
	}
	if strings.Contains(s, "=") && strings.ContainsAny(s, "?&;") {
		s = query.ReplaceAllString(s, "${1}"+Mask)
	}
	return s
}

// Args masks a command line: what follows an option with a secret name, in the same word or the next one, and assignments to such a
// variable.
func (m Masker) Args(argv []string) []string {
	out := make([]string, len(argv))
	next := false
	for i, arg := range argv {
		name, value, assigned := strings.Cut(arg, "=")
		option := strings.HasPrefix(arg, "-")
		switch {
		case next && !option:
			out[i] = Mask
		case assigned && value != "" && !strings.ContainsAny(name, "/?& ") && Name(name):
			out[i] = name + "=" + Mask
		default:
			out[i] = m.Text(arg)
		}
		next = option && !assigned && Name(name)
	}
	return out
}

// Of finds the secrets of a run and its contenders. A value with a template in it is none: what fills it in is found where it comes from.
func Of(run bench.Run, services []bench.Service) (values []string) {
	add := func(vs ...string) {
		for _, v := range vs {
			if v != "" && v != Mask && !strings.Contains(v, "{{") {
				values = append(values, v)
			}
		}
	}
	named := func(all map[string]string) {
		for k, v := range all {
			if Name(k) {
				add(v)
				if _, bare, ok := strings.Cut(v, " "); ok { // "Bearer …", "Basic …"
					add(bare)
				}
			}
		}
	}
	for _, address := range append([]string{run.Profile.Store.URL, run.Target}, run.Command...) {
		if _, value, ok := strings.Cut(address, "="); ok && strings.HasPrefix(address, "-") {
			address = value
		}
		add(ofURL(address)...)
	}
	for i, arg := range run.Command {
		name, value, assigned := strings.Cut(arg, "=")
		if !strings.HasPrefix(arg, "-") || !Name(name) {
			continue
		}
		if assigned {
			add(value)
		} else if i+1 < len(run.Command) && !strings.HasPrefix(run.Command[i+1], "-") {
			add(run.Command[i+1])
		}
	}
	for _, r := range run.Profile.Requests {
		named(r.Header)
	}
	for _, s := range services {
		named(s.Env)
		if s.Docker != nil {
			named(s.Docker.Args)
		}
		for _, v := range s.Variants {
			named(v.Env)
			named(v.Args)
		}
		for _, v := range s.Env { // postgres://user:password@db/cities
			add(ofURL(v)...)
		}
	}
	return values
}

// ofURL is the password of an address, or its user where that stands alone, as a token does; and both together as HTTP sends them.
func ofURL(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Host == "" {
		return nil
	}
	password, ok := u.User.Password()
	if !ok {
		return []string{u.User.Username()}
	}
	return []string{password, u.User.Username() + ":" + password}
}
