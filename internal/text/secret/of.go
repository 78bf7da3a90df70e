package secret

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/locbench/locbench/internal/bench"
)

// Of finds the secrets of a run and its contenders in variables, headers, build arguments, command
// lines, requests and URLs. A value with a template in it does not count: the values that fill it
// in are found at their source.
func Of(run bench.Run, services []bench.Service) []string {
	var f finder
	for _, n := range run.Profile.Needs {
		f.need(n)
	}
	for _, t := range run.Targets {
		f.text(t.URL)
	}
	f.args(run.Command)
	f.template = true
	for _, r := range run.Profile.Every() {
		f.named(r.Header)
		f.text(r.Path)
		f.text(r.Body)
		for _, field := range r.Multipart {
			f.named(map[string]string{field.Name: field.Value})
		}
	}
	f.template = false
	for _, s := range services {
		for _, n := range s.Needs {
			f.need(n)
		}
		f.named(s.Env)
		f.named(s.Ready.Header)
		if s.Docker != nil {
			f.named(s.Docker.Args)
			f.args(s.Docker.Command)
		}
		if s.Process != nil {
			f.commands(append(s.Process.Build, s.Process.Command))
		}
		for _, v := range s.Variants {
			f.named(v.Env)
			f.named(v.Args)
			f.commands(append(v.Build, v.Command))
		}
	}
	return f.values
}

// finder collects secrets.
type finder struct {
	values   []string
	template bool // the texts have places that are filled in later
}

func (f *finder) add(values ...string) {
	for _, v := range values {
		if f.template && onlyPlaces.MatchString(v) {
			continue
		}
		if !harmless(v) && !strings.Contains(v, "{{") && !fromEnv(v) && !slices.Contains(f.values, v) {
			f.values = append(f.values, v)
		}
	}
}

// secret adds a value, and the text after "Bearer" or "Basic" in it.
func (f *finder) secret(v string) {
	if fromEnv(v) {
		return
	}
	f.add(literals(v)...)
	if _, bare, ok := strings.Cut(v, " "); ok {
		f.add(literals(bare)...)
	}
}

// named adds the values of secret names, and the secrets in other values.
func (f *finder) named(all map[string]string) {
	for k, v := range all {
		if Name(k) {
			f.secret(v)
		} else if x, ok := credentials(v, 0); ok {
			f.add(v[x.from:x.to])
		}
		f.text(v) // postgres://user:password@db/cities, -Dpassword=x
	}
}

func (f *finder) commands(all [][]string) {
	for _, argv := range all {
		f.args(argv)
	}
}

// args adds the values of options with a secret name, and the secrets in each argument.
func (f *finder) args(argv []string) {
	for _, a := range readArgs(argv) {
		switch {
		case a.secret && a.user:
			_, password, _ := strings.Cut(a.value, ":")
			f.add(withUser(password, a.value)...)
		case a.secret:
			f.secret(a.value)
		default:
			f.text(a.value)
		}
	}
}

// text adds the secrets that a text shows by their place.
func (f *finder) text(s string) {
	for _, x := range spans(s) {
		var list []string
		if json.Unmarshal([]byte("["+s[x.from:x.to]+"]"), &list) == nil {
			for _, v := range list {
				f.secret(v)
			}
		}
		value := strings.Trim(s[x.from:x.to], `"'`)
		f.secret(value)
		if _, password, ok := strings.Cut(value, ":"); ok && isUser(value) {
			f.add(literals(password)...)
		}
	}
	f.add(ofAddress(s)...)
}

// fromEnv reports whether a value only names the source of its secret, as "Bearer ${TOKEN}" does.
func fromEnv(v string) bool {
	_, bare, two := strings.Cut(v, " ")
	if !two {
		bare = v
	}
	names := bench.EnvNames(v)
	return len(names) == 1 && bare == "${"+names[0]+"}"
}

// ofAddress returns the password of a URL, or the user if there is no password, as with a token. It
// also returns both in the form that HTTP sends.
func ofAddress(address string) []string {
	if u, err := url.Parse(address); err == nil && u.User != nil && u.Host != "" {
		password, ok := u.User.Password()
		if !ok {
			return []string{u.User.Username()}
		}
		return withUser(password, u.User.Username()+":"+password)
	}
	from, at, ok := userInfoOf(address)
	if !ok || strings.ContainsFunc(address, unicode.IsSpace) {
		return nil
	}
	info := address[from:at]
	if exampleUser.MatchString(info) {
		return nil
	}
	return withUser(info[strings.IndexAny(info, ":/")+1:], info)
}

// withUser returns a password, and it with its user, in the form that HTTP sends.
func withUser(password, both string) []string {
	if all := literals(password); len(all) != 1 || all[0] != password {
		return all
	}
	return []string{password, both}
}
