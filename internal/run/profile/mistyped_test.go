package profile

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// One mistyped key is one mistake, in its line: what follows from it is not reported.
func TestOneMistypedKeyIsOneMistake(t *testing.T) {
	const file = "testdata/every_key.yaml" // one key a line where a key has others inside
	data, err := os.ReadFile(file)
	testenv.OK(t, err)
	testenv.OK(t, testenv.Err(Parse(file, data)))
	lines := strings.Split(string(data), "\n")
	key := regexp.MustCompile(`^( *(?:- )?)([a-z_0-9]+):`)
	tried := 0
	for i, line := range lines {
		m := key.FindStringSubmatch(line)
		if m == nil || ofUser(lines, i) {
			continue
		}
		for how, mistyped := range map[string]string{"swapped": swapped(m[2]), "strange": "zzqqxx"} {
			if mistyped == m[2] {
				continue
			}
			tried++
			wrong := append([]string{}, lines...)
			wrong[i] = m[1] + mistyped + line[len(m[0])-1:]
			_, err := Parse(file, []byte(strings.Join(wrong, "\n")))
			all, _ := err.(strictyaml.Mistakes)
			expected := len(all) == 1 && all[0].Line == i+1 &&
				(strings.Contains(all[0].What, "unknown key") || strings.Contains(all[0].What, "is not a part of a response"))
			none := len(all) == 1 && all[0].Line >= i && strings.Contains(all[0].What, "has none of") // a need without the one key that it must have
			testenv.Check(t, expected || none,
				"%s, line %d, %q as %s:\n%v", how, i+1, strings.TrimSpace(line), mistyped, err)
		}
	}
	testenv.Check(t, tried >= 150, "only %d keys were tried", tried)
}

// ofUser reports whether the key of a line is a name that a user chooses.
func ofUser(lines []string, i int) bool {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }
	for j := i - 1; j >= 0; j-- {
		if indent(lines[j]) >= indent(lines[i]) {
			continue
		}
		parent, _, _ := strings.Cut(strings.TrimLeft(lines[j], " -"), ":")
		switch parent {
		case "variables", "header", "json", "form", "save", "json_includes", "env", "count", "ulimits":
			return true
		case "needs":
			return strings.TrimSpace(lines[i]) != "elasticsearch:"
		}
		return strings.HasSuffix(strings.TrimSpace(lines[i]), "orders:")
	}
	return false
}

func swapped(key string) string {
	if len(key) < 3 {
		return key + "x"
	}
	b := []byte(key)
	b[1], b[2] = b[2], b[1]
	return string(b)
}
