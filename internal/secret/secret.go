// Package secret masks passwords, tokens and keys before anything leaves the process: what stands
// under a name such as DB_PASSWORD, the user info of addresses, and every place where a value that
// is known to be secret occurs in other text, such as a line of a log.
//
// It knows secrets by their names and their places, not by their looks: one that stands in the open
// under a harmless name is not found.
package secret

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"locbench/internal/bench"
)

// Mask stands for what was taken out.
const Mask = "***"

// minLength is the least length of values looked for in other text: a shorter one is in many words.
const minLength = 6

var (
	userInfo = regexp.MustCompile(`://[^\s/?#"'<>]*@`)
	// assignment is in an address, a connection string or a list: &token=…, ;Pwd=…, " password=…".
	assignment = regexp.MustCompile(`(^|[?&;#,\s"'({])([a-zA-Z0-9_.-]+)=("[^"]+"|'[^']+'|[^&;\s"'#<>]+)`)
)

// Masker knows some secrets. Its zero value knows none and masks what names and places give away.
type Masker struct{ replace *strings.Replacer }

// New makes a masker that knows values; those of less than minLength only in their own places.
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

// Text masks known values, the user info of addresses, and what is assigned to a secret name.
func (m Masker) Text(s string) string {
	if m.replace != nil {
		s = m.replace.Replace(s)
	}
	if strings.Contains(s, "=") {
		s = maskAssigned(s)
	}
	if strings.Contains(s, "@") {
		if strings.Contains(s, "://") {
			s = userInfo.ReplaceAllString(s, "://"+Mask+"@")
		}
		s = maskUserInfo(s)
	}
	return s
}

func maskAssigned(s string) string {
	var b strings.Builder
	for m := assignment.FindStringSubmatchIndex(s); m != nil; m = assignment.FindStringSubmatchIndex(s) {
		b.WriteString(s[:m[6]])
		if assigned(s[m[4]:m[5]]) {
			b.WriteString(Mask)
			s = s[m[7]:]
		} else { // what is assigned may itself be an assignment, as in url=/?token=…
			s = s[m[6]:]
		}
	}
	return b.String() + s
}

// Args masks a command line: what follows an option with a secret name, in the same word or the
// next one, and assignments to such a variable.
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

// Of finds the secrets of a run and its contenders. A value with a template in it is none: what
// fills it in is found where it comes from.
func Of(run bench.Run, services []bench.Service) (values []string) {
	add := func(vs ...string) {
		for _, v := range vs {
			if v != "" && v != Mask && !strings.Contains(v, "{{") && !slices.Contains(settings, strings.ToLower(v)) {
				values = append(values, v)
			}
		}
	}
	named := func(all map[string]string) {
		for k, v := range all {
			if Name(k) && !fromEnv(v) {
				add(v)
				if _, bare, ok := strings.Cut(v, " "); ok { // "Bearer …", "Basic …"
					add(bare)
				}
			}
			add(ofAddress(v)...) // postgres://user:password@db/cities, user:password@tcp(db)/cities
		}
	}
	for _, address := range append(addresses(run), run.Command...) {
		if _, value, ok := strings.Cut(address, "="); ok && strings.HasPrefix(address, "-") {
			address = value
		}
		add(ofAddress(address)...)
	}
	for i, arg := range run.Command {
		name, value, assigned := strings.Cut(arg, "=")
		if !assigned && i+1 < len(run.Command) && !strings.HasPrefix(run.Command[i+1], "-") {
			value = run.Command[i+1]
		}
		if strings.HasPrefix(arg, "-") && Name(name) {
			add(value)
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
	}
	return values
}

// addresses are those of a run that may hold a password.
func addresses(run bench.Run) []string {
	all := []string{run.Profile.Store.URL}
	for _, t := range run.Targets {
		all = append(all, t.URL)
	}
	return all
}

// fromEnv tells whether a value only names where its secret comes from, as "Bearer ${TOKEN}" does.
func fromEnv(v string) bool {
	_, bare, two := strings.Cut(v, " ")
	if !two {
		bare = v
	}
	names := bench.EnvNames(v)
	return len(names) == 1 && bare == "${"+names[0]+"}"
}

// settings are values of switches with names such as HTTP_AUTH: they may stand in any log.
var settings = []string{"enabled", "disabled", "required", "optional", "default"}

// ofAddress is the password of an address, or its user where that stands alone, as a token does;
// and both together as HTTP sends them.
func ofAddress(address string) []string {
	if u, err := url.Parse(address); err == nil && u.User != nil && u.Host != "" {
		password, ok := u.User.Password()
		if !ok {
			return []string{u.User.Username()}
		}
		return []string{password, u.User.Username() + ":" + password}
	}
	from, at, ok := userInfoOf(address)
	if !ok || strings.ContainsFunc(address, unicode.IsSpace) {
		return nil
	}
	info := address[from:at]
	return []string{info[strings.IndexAny(info, ":/")+1:], info}
}
