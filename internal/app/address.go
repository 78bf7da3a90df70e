package app

import (
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/secret"
)

// recorded returns an address as it may be saved: without its user. A mask takes the place of a
// user from the environment, so a resumed run requires it again.
func recorded(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || len(bench.EnvNames(address)) == 0 {
		return secret.WithoutUser(address)
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = secret.Mask + rest[at:]
	}
	return scheme + "://" + rest
}

// recordedNeed returns the address of a need as it may be saved: without its user, unless its
// password is only named, so a resumed run reads it again.
func recordedNeed(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	user, host, _ := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(user, ":")
	if names := bench.EnvNames(password); len(names) == 1 && password == "${"+names[0]+"}" && !strings.ContainsAny(host, "@") {
		return address
	}
	return secret.WithoutUser(address)
}

// userFromEnv reports whether recorded masks the user of address.
func userFromEnv(address string) bool {
	return len(bench.EnvNames(address)) > 0 && strings.Contains(address, "@")
}
