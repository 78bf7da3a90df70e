package profile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// placesOfCodes says where a key with its value belongs in a profile that a page has within a line:
// by the heading and the key, by the heading, or by the key. The code replaces %s.
var placesOfCodes = map[string]string{
	"needs":     "%s\nrequests: [{get: /}]",
	"Variables": "variables: {%s}", "{file": "variables: {v: %s}",
	"column": "variables: {v: {file: users.csv, %s}}", "draw": "variables: {v: {list: [a], %s}}",
	"Values of a response": saving + "save: {%s}}]}]", "Values of a response/json": saving + "save: {v: {%s}}}]}]",
	"save": saving + "%s}]}]",
	"get":  "requests: [{%s}]", "Variables/get": "requests: [{%s}]", "{get": "requests: [%s]",
	"json": sent, "form": sent, "body": sent, "file": sent, "multipart": sent, "header": sent, "repeat": sent,
	"expect": sent, "json_includes": "requests: [{get: '/{guest}', expect: {%s}}]",
	"Check suites": "suite: s\ngroups: {g: [{name: a, request: GET /, expect: {%s}}]}", "checks": "%s",
	"success": "requests: [{get: /, expect: {status: [200, 429]}, %s}]",
	"follow":  "%s", "max_unexpected": "%s", "requests": "%s", "rounds": "%s", "variables": "%s",
	"{connections": stepped, "{rate": stepped, "{arrivals": stepped, "keep_requests": "steps: [{connections: 4, %s}]",
	"{condition": "steps: [1 x8]\nthresholds: [%s]", "'orders:fast'": "contenders: [{%s}]",
}

const (
	sent    = "requests: [{post: '/{item}', %s}]"
	saving  = "sessions: [{name: s, requests: [{get: /, "
	stepped = "requests: [{name: item, get: /}]\nsteps: [64, %s]"
)

// declared are the variables of the codes, where they neither declare nor save them themselves.
const declared = "variables: {item: {from: 1, to: 9}, name: uuid, guest: uuid, token: uuid, csrf: uuid, tag: uuid, " +
	"path: {list: [/a]}}\n"

// Each key with its value in the lines and tables of three pages is read in its place, too; the
// fenced blocks are read by TestDocumentedYAML.
func TestDocumentedCodes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "name,First Name,Price (EUR)\na,b,1\n", "words.json": `["a", 1]`, "items.csv": "item\n1\n",
		"order.schema.json": `{"type": "object"}`, "openapi.yaml": "components: {schemas: {Order: {type: object}}}",
		"order.bin": "x", "photo.jpg": "x", "targets.txt": "GET http://h/a\n",
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for page, least := range map[string]int{"profiles.md": 40, "suites.md": 20, "your-service.md": 10} {
		t.Run(page, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
			testenv.OK(t, err)
			text, _, _ := strings.Cut(string(data), "\n## Keys and options") // which are made
			text, _, _ = strings.Cut(text, "\n## JSON Schemas")              // keys of schemas
			if read := readCodes(t, dir, text); read < least {
				t.Errorf("only %d codes", read)
			}
		})
	}
}

// readCodes reads the codes in the lines of a page, each in its place, and returns their number.
func readCodes(t *testing.T, dir, text string) (read int) {
	t.Helper()
	code := regexp.MustCompile("`([^`]+)`")
	key := regexp.MustCompile(`^(\{?[a-z_]+|'[a-z:]+'): `)
	heading, fenced := "", false
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
				t.Errorf("line %d: where does %s belong?", i+1, m[1])
				continue
			}
			read++
			profile := strings.Replace(place, "%s", strings.ReplaceAll(m[1], `\|`, "|"), 1)
			if !regexp.MustCompile("variables:|save:|suite:").MatchString(profile) {
				profile = declared + profile
			}
			if err := readDocumented(dir, profile); err != nil {
				t.Errorf("line %d: %v in\n%s", i+1, err, profile)
			}
		}
	}
	return read
}
