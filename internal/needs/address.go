package needs

import (
	"net/url"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/secret"
)

// ServiceURL checks the URL of a running service and removes slashes at its end.
func ServiceURL(text string) (string, error) {
	u, err := secret.ParseURL(text)
	if err != nil || !secret.IsHTTP(u) {
		return "", console.Usagef("%s: expected a URL such as http://127.0.0.1:8080", secret.Address(text))
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// URL returns the URL that is the text of an option, with ${NAME} replaced by an environment
// variable: arguments are visible to every user of the machine, so they need not hold a password.
// Errors show text.
func URL(option, text string, getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	for _, name := range bench.EnvNames(text) {
		if getenv(name) == "" {
			return "", console.Usagef("--%s: environment variable %s is not set or empty", option, name)
		}
	}
	u, err := ServiceURL(FillAddress(text, getenv))
	if err != nil {
		return "", console.Usagef("--%s: %q: expected a URL such as http://127.0.0.1:9200", option, text)
	}
	return u, nil
}

// FillAddress fills in the variables of a URL, escaped in its user info: passwords need that.
func FillAddress(text string, getenv func(string) string) string {
	escaped := func(name string) string { return strings.ReplaceAll(url.QueryEscape(getenv(name)), "+", "%20") }
	from := strings.Index(text, "://") + 1
	end := len(text)
	if i := strings.IndexAny(text[from:], "?#"); i >= 0 {
		end = from + i
	}
	at := strings.LastIndexByte(text[:end], '@') + 1
	return bench.FillEnv(text[:at], escaped) + bench.FillEnv(text[at:], getenv)
}
