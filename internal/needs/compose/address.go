package compose

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// maxSecret is the most of a file with a password that is read, in bytes.
const maxSecret = 64 << 10

// login is the user, password and database of a service.
type login struct{ User, Password, Database string }

// login returns what the environment of a service says of its user and database.
func (s Service) login(env map[string]string) (l login) {
	p, _ := PresetOf(s)
	value := func(name string) (text string, given bool) {
		if name == "" {
			return "", false
		}
		if text, given = env[name]; given {
			return text, true
		}
		if file, ok := env[name+"_FILE"]; ok {
			return s.inFile(file), true
		}
		return "", false
	}
	for _, a := range p.Users {
		user, named := value(a.UserVar)
		password, guarded := value(a.PasswordVar)
		if named || a.Always || a.UserVar == "" && guarded {
			l.User, l.Password = cmp.Or(user, a.User), cmp.Or(password, a.Password)
			break
		}
	}
	for _, name := range p.Databases {
		if text, given := value(name); given {
			l.Database = text
			break
		}
	}
	if l.Database == "" && p.OfUser {
		l.Database = l.User
	}
	if p.Scheme == "redis" {
		l.Password = argument(s.Command, "--requirepass")
	}
	return l
}

// argument returns the argument after an option.
func argument(argv []string, option string) string {
	for i := range len(argv) - 1 {
		if argv[i] == option {
			return argv[i+1]
		}
	}
	return ""
}

// inFile returns the text of a file in the container that the profile mounts there; "": another
// one.
func (s Service) inFile(file string) string {
	for _, v := range s.Volumes {
		rest, below := strings.CutPrefix(file, v.Target)
		if v.Source == "" || !below || rest != "" && rest[0] != '/' {
			continue
		}
		if text, err := safe.ReadFile(v.Source+rest, maxSecret); err == nil {
			return strings.TrimRight(string(text), "\r\n")
		}
	}
	return ""
}

// Address returns the address of the service at a host, with what its environment says.
func (s Service) Address(env map[string]string, host string, main int, all Ports) bench.NeedAddress {
	p, _ := PresetOf(s)
	l := s.login(env)
	a := bench.NeedAddress{
		Host: host, Port: strconv.Itoa(main), User: l.User, Password: l.Password, Database: l.Database, Ports: map[string]string{},
		Kind: bench.DatabaseOf(p.Scheme),
	}
	if slices.Contains(p.Names, string(bench.MariaDB)) { // its URLs are those of MySQL
		a.Kind = bench.MariaDB
	}
	for name, port := range all {
		a.Ports[name] = strconv.Itoa(port)
	}
	a.Ports[MainPort] = a.Port
	scheme := p.Scheme
	if scheme == "http" && p.secured(env) {
		scheme = "https"
	}
	if scheme == "" && s.Ready.HTTP != (ReadyHTTP{}) {
		scheme = "http"
	}
	if scheme != "" {
		a.URL = urlOf(scheme, net.JoinHostPort(host, a.Port), l, p.Query)
	}
	return a
}

// AtURL returns the address of a service that runs already. The variables of its URL are filled in.
func (s Service) AtURL(url string) (a bench.NeedAddress, err error) {
	if a, err = externalAddress(url); err != nil {
		return a, err
	}
	a.Ports = map[string]string{MainPort: a.Port}
	for name, port := range s.Ports {
		if name != MainPort {
			a.Ports[name] = strconv.Itoa(port)
		}
	}
	return a, nil
}

func urlOf(scheme, host string, l login, query string) string {
	u := url.URL{Scheme: scheme, Host: host}
	switch {
	case l.Password != "":
		u.User = url.UserPassword(l.User, l.Password)
	case l.User != "":
		u.User = url.User(l.User)
	}
	if l.Database != "" {
		u.Path, u.RawPath = "/"+l.Database, "/"+url.PathEscape(l.Database)
	}
	if u.User != nil {
		u.RawQuery = query
	}
	return u.String()
}

// externalAddress reads HOST:PORT or a URL. Places for variables in it count as texts.
func externalAddress(text string) (a bench.NeedAddress, err error) {
	if text == "" {
		return a, errors.New("`external` is missing")
	}
	if !strings.Contains(text, "://") {
		if a.Host, a.Port, err = net.SplitHostPort(text); err != nil || !isPort(a.Port) || a.Host == "" || strings.ContainsAny(text, "@/") {
			return a, errors.New("`external` is not an address")
		}
		return a, nil
	}
	u, err := secret.ParseURL(text)
	if err != nil || u.Hostname() == "" {
		return a, errors.New("`external` is not an address")
	}
	a = bench.NeedAddress{URL: u.String(), Host: u.Hostname(), Port: u.Port(), User: u.User.Username(),
		Database: strings.TrimPrefix(u.Path, "/"), Kind: bench.DatabaseOf(u.Scheme)}
	a.Password, _ = u.User.Password()
	if a.Port == "" {
		a.Port = portOf(u.Scheme)
	}
	if !isPort(a.Port) {
		return a, errors.New("`external` has no port")
	}
	return a, nil
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 65536
}

// portOf returns the usual port of a URL's scheme; "": not known.
func portOf(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	if kind := bench.DatabaseOf(scheme); kind == bench.MariaDB {
		scheme = "mysql"
	} else if kind != "" {
		scheme = string(kind)
	}
	for _, p := range presets {
		if p.Scheme == scheme {
			return strconv.Itoa(p.Fills.Ports[MainPort])
		}
	}
	return ""
}
