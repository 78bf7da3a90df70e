package conclusion

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Bounds of a suggested command and of a word in it, in bytes.
const (
	maxCommand = 1000
	maxWord    = 200
)

// again returns the command that repeats the run with some of its options changed, such as
// "--rounds=6".
func (d *draft) again(changes ...string) string { return d.command("", changes) }

// alone returns the command that repeats the run of one contender only.
func (d *draft) alone(c analysis.Contender, changes ...string) string {
	return d.command(c.Results[0].Trial.Selection().String(), changes)
}

// quickly returns the command that starts, checks and loads a contender once, as briefly as
// possible.
func (d *draft) quickly(c analysis.Contender) string {
	return d.alone(c, "--rounds=1", "--connections=1", "--duration=1s")
}

// command returns the command of the run with changed options, for one contender or, with "", for
// those that the user named.
func (d *draft) command(contender string, changes []string) string {
	given := d.given()
	n := 2
	for n < len(given) && strings.HasPrefix(given[n], "--") {
		n++
	}
	targets := d.Run.Run.Targets
	words, named := slices.Clone(given[:2]), given[n:]
	for _, option := range given[2:n] {
		name, value, _ := strings.Cut(option, "=")
		other := func(change string) bool { return strings.HasPrefix(change, name+"=") }
		if name == "--target" && contender != "" && len(targets) > 1 && !strings.HasPrefix(value, contender+"=") ||
			slices.ContainsFunc(changes, other) {
			continue
		}
		words = append(words, option)
	}
	if contender != "" && len(targets) == 0 {
		named = []string{contender}
	}
	words = slices.Concat(words, named, changes)
	for i, w := range words {
		words[i] = safe.Line(w, maxWord)
	}
	return safe.Line(Command(words), maxCommand)
}

// given returns the command of the run; for another command than run, one with the
// profile and the targets of the record.
func (d *draft) given() []string {
	run := d.Run.Run
	if len(run.Given) >= 2 {
		return run.Given
	}
	words := []string{"locbench", "run", "--profile=" + run.Profile.Name}
	for _, t := range run.Targets {
		words = append(words, "--target="+t.Name+"="+secret.Address(t.URL))
	}
	return words
}

// Command returns a recorded command for a shell that can be passed on: without secrets, and
// without the folders of absolute paths.
func Command(argv []string) string {
	var words []string
	for _, word := range (secret.Masker{}).Args(argv) {
		word = folders.ReplaceAllString(strings.ReplaceAll(word, "://"+secret.Mask+"@", "://"), "$1$2$3")
		name, value, assigned := strings.Cut(word, "=")
		if !assigned || !strings.HasPrefix(name, "--") || value == "" || value == "true" || value == "false" {
			words = append(words, word)
			continue
		}
		words = append(words, name, value)
	}
	return safe.Shell(words)
}

// folders matches the beginning of a word with an absolute path, up to its last element.
var folders = regexp.MustCompile(`^(-[A-Za-z-]*=?)?([@"]*)(?:[A-Za-z]:)?[/\\](?:.*[/\\])?([^/\\])`)
