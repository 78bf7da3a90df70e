package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// TestOptionsAreEverywhere: each row of the table of options is a flag in the help of 'locbench
// run', and its key is in the profile that explains every key. The setup screen has its own test.
func TestOptionsAreEverywhere(t *testing.T) {
	help := saying(t, "run", "--help")
	explained, err := os.ReadFile("../../profiles/locations.yaml")
	testenv.OK(t, err)
	for _, o := range profile.Options() {
		usage := strings.ReplaceAll(o.Usage, "`", "")
		if o.Usage != "" && (!strings.Contains(help, " --"+o.Name+" ") || !strings.Contains(help, usage)) {
			t.Errorf("locbench run --help does not have --%s: %s", o.Name, usage)
		}
		key := o.Key[strings.LastIndexByte(o.Key, '.')+1:]
		if key != "" && !strings.Contains(string(explained), key+":") && !strings.Contains(string(explained), key+" ") {
			t.Errorf("profiles/locations.yaml does not explain the key %s", o.Key)
		}
	}
}

// TestDocsOfOptions compares docs/profiles.md with the table of options; -update writes the page.
func TestDocsOfOptions(t *testing.T) {
	table := "| key of a profile | option of `locbench run` | what |\n|---|---|---|\n"
	for _, o := range profile.Options() {
		if o.Usage != "" && o.Key != "" {
			what := strings.ReplaceAll(strings.ReplaceAll(o.Usage, "`", ""), "|", `\|`)
			table += "| `" + o.Key + "` | `--" + o.Name + "` | " + what + " |\n"
		}
	}
	madePart(t, profilesPage, "options", table, "TestDocsOfOptions")
}
