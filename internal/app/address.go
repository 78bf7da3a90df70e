package app

import (
	"strings"

	"locbench/internal/bench"
	"locbench/internal/store"
	"locbench/internal/text/secret"
)

// recorded returns an address as it may be on record: without its user, and where that came from the
// environment with a mask in its place, so a resumed run asks for it.
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
