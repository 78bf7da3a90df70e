package docker

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// uniqueName returns a new name that the engine accepts: locbench-RUN-WISH-<8 hex digits>.
func uniqueName(run, wish string) string {
	var suffix [4]byte
	rand.Read(suffix[:]) // never fails
	parts := []string{namePrefix(run)}
	if wish = plainName(wish); wish != "" {
		parts = append(parts, wish[:min(len(wish), 50)])
	}
	return strings.Join(append(parts, hex.EncodeToString(suffix[:])), "-")
}

// namePrefix returns the prefix of the names of what a run has in the engine.
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

// named reports whether a container, network or volume with these labels has a name that uniqueName
// made for its run. Others may have the labels too: an image made from a contender passes them on.
func named(labels map[string]string, name string) bool {
	run, ours := labels[LabelRun]
	return ours && run != "" && strings.HasPrefix(name, namePrefix(run)+"-") && nameEnd.MatchString(name)
}
