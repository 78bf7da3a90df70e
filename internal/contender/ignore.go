package contender

import (
	"path"
	"strings"
)

// ignore is a .dockerignore: patterns of which the last that matches decides.
type ignore []ignoreRule

type ignoreRule struct {
	parts []string // of the path; "**" stands for any number of folders
	keep  bool     // the line began with "!"
}

// maxRules bounds the rules of a .dockerignore: every file is compared with every rule.
const maxRules = 1000

// parseIgnore reads a .dockerignore. A line that is no pattern is left out, and so is what follows the first maxRules.
func parseIgnore(text string) ignore {
	var list ignore
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, keep := strings.CutPrefix(line, "!")
		pattern = strings.Trim(path.Clean("/"+strings.TrimSpace(pattern)), "/")
		if pattern == "" {
			continue
		}
		if _, err := path.Match(pattern, ""); err != nil {
			continue
		}
		if len(list) == maxRules {
			break
		}
		list = append(list, ignoreRule{strings.Split(pattern, "/"), keep})
	}
	return list
}

// ignored says whether the file or folder is left out: by a rule for itself or for a folder that it is in.
func (list ignore) ignored(name string) bool {
	out := false
	parts := strings.Split(name, "/")
	for _, rule := range list {
		if rule.keep != out {
			continue // it could only say what is so already
		}
		for n := 1; n <= len(parts); n++ {
			if matchParts(rule.parts, parts[:n]) {
				out = !rule.keep
				break
			}
		}
	}
	return out
}

// keepsBelow says whether a rule may take files of an ignored folder back in, so that it has to be looked into.
func (list ignore) keepsBelow() bool {
	for _, rule := range list {
		if rule.keep {
			return true
		}
	}
	return false
}

// matchParts compares path elements by a table, so that no pattern with many "**" takes long.
func matchParts(pattern, name []string) bool {
	matched := make([]bool, len(name)+1) // matched[j]: the pattern so far matches name[:j]
	matched[0] = true
	for _, p := range pattern {
		next := make([]bool, len(name)+1)
		for j := range next {
			switch {
			case p == "**":
				next[j] = matched[j] || j > 0 && next[j-1]
			case j > 0 && matched[j-1]:
				next[j], _ = path.Match(p, name[j-1])
			}
		}
		matched = next
	}
	return matched[len(name)]
}
