package profile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locbench/internal/contender"
	"locbench/internal/contender/check"
)

// Every YAML block of the documents is read by the reader that it is written for. A fragment of a
// profile is completed with what it lacks.
func TestDocumentedYAML(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, _ := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	services, _ := filepath.Glob(filepath.Join(root, "services", "*", "README.md"))
	files = append(append(files, services...), filepath.Join(root, "README.md"))
	block := regexp.MustCompile("(?s)( *)```ya?ml\n(.*?)```")
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(data), -1) {
			read++
			text := strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n") // of a list
			if err := readDocumented(filepath.Dir(file), text); err != nil {
				t.Errorf("%s: %v in\n%s", filepath.Base(file), err, text)
			}
		}
	}
	if read < 3 {
		t.Errorf("only %d blocks", read)
	}
}

// The commented examples of profiles/locations.yaml are one profile together.
func TestCommentedExamples(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "profiles", "locations.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "header` at the top is for all requests:\n")
	text, _, _ = strings.Cut(text, "# Share of responses, drawn")
	example := regexp.MustCompile(`(?m)^# ((?:[a-z]+:|  ).*)$`)
	var lines []string
	for _, m := range example.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "draw:") {
			lines = append(lines, m[1])
		}
	}
	profile := strings.Join(lines, "\n")
	profile = strings.Replace(profile, `{user: "{user}"}`, `{user: "{user.name}"}`, 1)
	profile = regexp.MustCompile(`share: \d+%,? ?`).ReplaceAllString(profile, "")
	profile = regexp.MustCompile(`(?m)^ +$`).ReplaceAllString(profile, "")
	profile = strings.Replace(profile, "variables:", "variables:\n  note: string", 1)
	if !strings.Contains(profile, `json: {id: "{item}"}`) || !strings.Contains(profile, "sessions:") {
		t.Fatalf("the example was not found:\n%s", profile)
	}
	if err := readDocumented(t.TempDir(), profile); err != nil {
		t.Errorf("%v in\n%s", err, profile)
	}
}

func readDocumented(dir, text string) error {
	switch {
	case regexp.MustCompile(`(?m)^suite:`).MatchString(text):
		_, err := check.ParseSuite(filepath.Join(dir, "suite.yaml"), []byte(text))
		return err
	case regexp.MustCompile(`(?m)^(build|runtimes|ready|run|image|language|name):`).MatchString(text) && !strings.Contains(text, "requests:"):
		_, err := contender.Parse(filepath.Join(dir, "service.yaml"), []byte(text))
		return err
	}
	for _, part := range []struct{ key, text string }{
		{"contenders", "contenders: [my-service]\n"}, {"requests", "requests: [{get: /}]\n"}, {"steps", "steps: [1]\n"},
	} {
		if !regexp.MustCompile(`(?m)^` + part.key + `:`).MatchString(text) {
			text += "\n" + part.text
		}
	}
	_, err := Parse(filepath.Join(dir, "profile.yaml"), []byte(text))
	return err
}
