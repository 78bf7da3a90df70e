package docker

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// uniqueName makes a name that the engine accepts and that nothing else has:
// locbench-RUN-WISH-<8 hex digits>.
func uniqueName(run, wish string) string {
	var suffix [4]byte
	rand.Read(suffix[:]) // never fails
	parts := []string{namePrefix(run)}
	if wish = plainName(wish); wish != "" {
		parts = append(parts, wish[:min(len(wish), 50)])
	}
	return strings.Join(append(parts, hex.EncodeToString(suffix[:])), "-")
}

// namePrefix returns how the names of all that a run has made begin.
func namePrefix(run string) string {
	run = cmp.Or(plainName(run), "none")
	return "locbench-" + run[:min(len(run), 50)]
}

func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, text)
}

var nameEnd = regexp.MustCompile(`-[0-9a-f]{8}$`)

// named reports whether a container or network with these labels has a name that uniqueName has made
// for its run. A container of somebody else may have the labels: an image that was made of a
// contender passes them on.
func named(labels map[string]string, name string) bool {
	run, ours := labels[LabelRun]
	return ours && run != "" && strings.HasPrefix(name, namePrefix(run)+"-") && nameEnd.MatchString(name)
}
