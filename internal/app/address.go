package app

import (
	"net/url"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/elastic/store"
	"locbench/internal/secret"
)

// StoreURL is the address that --elastic gives: ${NAME} in it is a variable of the environment, so that
// a password need not stand among the arguments, which every user of the machine sees. Errors show the
// address as it was given.
func StoreURL(text string, getenv func(string) string) (string, error) {
	filled, err := fillAddress("--elastic", text, getenv)
	if err != nil {
		return "", err
	}
	u, err := ServiceURL(filled)
	if err != nil {
		return "", console.Usagef("--elastic: %q is no URL; one looks like http://127.0.0.1:9200", text)
	}
	return u, nil
}

// fillAddress fills in the variables of an address. In its user info they are escaped: a password may
// hold every character.
func fillAddress(option, text string, getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	for _, name := range bench.EnvNames(text) {
		if getenv(name) == "" {
			return "", console.Usagef("%s: %s is not set in the environment, or empty", option, name)
		}
	}
	escaped := func(name string) string { return strings.ReplaceAll(url.QueryEscape(getenv(name)), "+", "%20") }
	from := strings.Index(text, "://") + 1
	end := len(text)
	if i := strings.IndexAny(text[from:], "?#"); i >= 0 {
		end = from + i
	}
	at := strings.LastIndexByte(text[:end], '@') + 1
	return bench.FillEnv(text[:at], escaped) + bench.FillEnv(text[at:], getenv), nil
}

// recorded is an address as it may be on record: without its user, and where that came from the
// environment with a mask in its place, so that a resumed run asks for it.
func recorded(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || len(bench.EnvNames(address)) == 0 {
		return store.Redact(address)
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = secret.Mask + rest[at:]
	}
	return scheme + "://" + rest
}
