package profile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// placesOfCodes says where a key with its value, as docs/profiles.md has it within a line, belongs
// in a profile: by the heading and the key, or by the key alone. The code replaces %s.
var placesOfCodes = map[string]string{
	"Variables": "variables: {%s}", "Values of a response": saveOf, "Values of a response/json": "sessions: [{name: s, requests: [{get: /, save: {v: {%s}}}]}]",
	"get": "requests: [{%s}]", "{get": "requests: [%s]", "Variables/get": "requests: [{%s}]",
	"json": sent, "form": sent, "body": sent, "file": sent, "multipart": sent,
	"expect": "requests: [{get: '/{item}', %s}]", "success": "requests: [{get: /, expect: {status: [200, 429]}, %s}]",
	"header": "requests: [{get: /, %s}]", "follow": "%s", "max_unexpected": "%s", "requests": "%s", "variables": "%s",
	"{file": "variables: {v: %s}", "column": "variables: {v: {file: users.csv, %s}}", "draw": "variables: {v: {list: [a], %s}}",
	"{connections": step64, "{rate": step64, "{arrivals": step64, "keep_requests": "steps: [{connections: 4, %s}]",
	"{condition": "steps: [1 x8]\nthresholds: [%s]", "'orders:fast'": "contenders: [{%s}]",
}

const (
	sent   = "requests: [{post: /, %s}]"
	saveOf = "sessions: [{name: s, requests: [{get: /, save: {%s}}]}]"
	step64 = "requests: [{name: item, get: /}]\nsteps: [64, %s]"
)

// Each key with its value in the lines and tables of docs/profiles.md is read in its place, too; the
// fenced blocks are read by TestDocumentedYAML.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "profiles.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "name,First Name,Price (EUR)\na,b,1\n", "words.json": `["a", 1]`, "items.csv": "item\n1\n",
		"order.bin": "x", "photo.jpg": "x", "targets.txt": "GET http://h/a\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code := regexp.MustCompile("`([^`]+)`")
	key := regexp.MustCompile(`^(\{?[a-z_]+|'[a-z:]+'): `)
	text, _, _ := strings.Cut(string(page), "\n## Keys and options")
	heading, fenced, read := "", false, 0
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimLeft(line, "# ")
		}
		for _, m := range code.FindAllStringSubmatch(line, -1) {
			k := key.FindStringSubmatch(m[1])
			if k == nil {
				continue
			}
			place := placesOfCodes[heading+"/"+k[1]]
			if place == "" && strings.HasPrefix(line, "| `") {
				place = placesOfCodes[heading]
			}
			if place == "" {
				place = placesOfCodes[k[1]]
			}
			if place == "" {
				t.Errorf("docs/profiles.md:%d: where does %s belong?", i+1, m[1])
				continue
			}
			read++
			profile := strings.Replace(place, "%s", m[1], 1)
			if !strings.Contains(profile, "variables:") {
				profile = "variables: {item: {from: 1, to: 9}, name: uuid, path: {list: [/a]}}\n" + profile
			}
			if err := readDocumented(dir, profile); err != nil {
				t.Errorf("docs/profiles.md:%d: %v in\n%s", i+1, err, profile)
			}
		}
	}
	if read < 40 {
		t.Errorf("only %d codes", read)
	}
}
