package profile

import (
	"net/url"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/console"
	"locbench/internal/text/secret"
)

// ServiceURL checks the address of a running service and removes a slash at its end.
func ServiceURL(text string) (string, error) {
	u, err := secret.ParseURL(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", console.Usagef("%s is not the URL of a service; one looks like http://127.0.0.1:8080",
			secret.Address(text))
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// StoreURL returns the address that --elastic gives: ${NAME} in it is a variable of the environment, so that
// a password need not stand among the arguments, which every user of the machine sees. Errors show the
// address as it was given.
func StoreURL(text string, getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	for _, name := range bench.EnvNames(text) {
		if getenv(name) == "" {
			return "", console.Usagef("--elastic: %s is not set in the environment, or empty", name)
		}
	}
	u, err := ServiceURL(filledAddress(text, getenv))
	if err != nil {
		return "", console.Usagef("--elastic: %q is not a URL; one looks like http://127.0.0.1:9200", text)
	}
	return u, nil
}

// filledAddress fills in the variables of an address. In its user info they are escaped: a password may
// hold every character.
func filledAddress(text string, getenv func(string) string) string {
	escaped := func(name string) string { return strings.ReplaceAll(url.QueryEscape(getenv(name)), "+", "%20") }
	from := strings.Index(text, "://") + 1
	end := len(text)
	if i := strings.IndexAny(text[from:], "?#"); i >= 0 {
		end = from + i
	}
	at := strings.LastIndexByte(text[:end], '@') + 1
	return bench.FillEnv(text[:at], escaped) + bench.FillEnv(text[at:], getenv)
}
