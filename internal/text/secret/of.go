package secret

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"locbench/internal/bench"
)

// Of finds the secrets of a run and its contenders, in whatever may hold one: variables, headers,
// build arguments, command lines, requests and addresses. A value with a template in it is not one:
// what fills it in is found where it comes from.
func Of(run bench.Run, services []bench.Service) []string {
	var f finder
	f.text(run.Profile.Store.URL)
	for _, t := range run.Targets {
		f.text(t.URL)
	}
	f.args(run.Command)
	f.template = true
	for _, r := range run.Profile.Every() {
		f.named(r.Header)
		f.text(r.Path)
		f.text(r.Body)
	}
	f.template = false
	for _, s := range services {
		f.named(s.Env)
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
	template bool // what is looked through has places that are filled in later
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

// secret adds a whole value, and what follows "Bearer" or "Basic" in it.
func (f *finder) secret(v string) {
	if fromEnv(v) {
		return
	}
	f.add(v)
	if _, bare, ok := strings.Cut(v, " "); ok {
		f.add(bare)
	}
}

// named adds what stands under secret names, and what is secret in the other values.
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

// args adds what follows an option with a secret name, and what is secret in each argument.
func (f *finder) args(argv []string) {
	for _, a := range readArgs(argv) {
		switch {
		case a.secret && a.user:
			_, password, _ := strings.Cut(a.value, ":")
			f.add(password, a.value)
		case a.secret:
			f.secret(a.value)
		default:
			f.text(a.value)
		}
	}
}

// text adds what a text gives away by itself.
func (f *finder) text(s string) {
	for _, x := range spans(s) {
		value := strings.Trim(s[x.from:x.to], `"'`)
		f.secret(value)
		if _, password, ok := strings.Cut(value, ":"); ok && isUser(value) {
			f.add(password)
		}
	}
	f.add(ofAddress(s)...)
}

// fromEnv reports whether a value only names where its secret comes from, as "Bearer ${TOKEN}" does.
func fromEnv(v string) bool {
	_, bare, two := strings.Cut(v, " ")
	if !two {
		bare = v
	}
	names := bench.EnvNames(v)
	return len(names) == 1 && bare == "${"+names[0]+"}"
}

// ofAddress returns the password of an address, or its user where that stands alone, as a token does;
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
