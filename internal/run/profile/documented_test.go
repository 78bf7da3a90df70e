package profile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/testenv"
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
		data := testenv.Must(os.ReadFile(file))(t)
		dir := t.TempDir() // with the files that its profiles name
		for _, m := range regexp.MustCompile("(?s)```sql\n-- ([a-z.]+)\n.*?```").FindAllStringSubmatch(string(data), -1) {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, m[1]), []byte(m[0]), 0o600))
		}
		for _, m := range block.FindAllStringSubmatch(string(data), -1) {
			read++
			text := strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n") // of a list
			err := readDocumented(dir, text)
			testenv.Check(t, err == nil, "%s: %v in\n%s", filepath.Base(file), err, text)
		}
	}
	testenv.Check(t, read >= 3, "only %d blocks", read)
}

// exampleMaps says where a map among the comments of a profile belongs, by its first key. The map
// replaces %s.
var exampleMaps = map[string]string{
	"count": "needs: {elasticsearch: {cities: %s}}", "dir": "needs: {elasticsearch: {cities: %s}}", "distribution": "needs: {elasticsearch: {}}\nrequests: [{get: '/x/{id}', ids: %s}]",
	"go-nethttp": "contenders: [%s]", "connections": "requests: [{name: city by id, get: /}]\nsteps: [64, %s]", "rate": "steps: [64, %s]", "arrivals": "steps: [64, %s]",
	"targets": "requests: %s", "elasticsearch": "needs: %s",
	"from": "variables: {v: %s}", "list": "variables: {v: %s}",
	"header": "sessions: [{name: s, requests: [{get: /, save: {v: %s}}]}]", "string": "variables: {v: %s}",
	"cookie": "sessions: [{name: s, requests: [{get: /, save: {v: %s}}]}]", "regex": "sessions: [{name: s, requests: [{get: /, save: {v: %s}}]}]",
	"title": "variables: {note: uuid}\nrequests: [{post: /, multipart: %s}]",
	"user":  "variables: {user: {file: users.csv}}\nrequests: [{post: /, form: %s}]",
}

// Every example among the comments of profiles and manifests is read, unchanged: each key by itself
// in its file, those that name each other's variables together, and each map in its place.
func TestCommentedExamples(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, _ := filepath.Glob(filepath.Join(root, "profiles", "*.yaml"))
	manifests, _ := filepath.Glob(filepath.Join(root, "services", "*", "service.yaml"))
	seen := map[string]int{}
	for _, file := range append(files, manifests...) {
		data := testenv.Must(os.ReadFile(file))(t)
		dir := t.TempDir()
		for name, text := range map[string]string{"users.csv": "name,password\na,b\n", "order.bin": "x", "targets.txt": "GET http://h/a\n"} {
			testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		read := func(what, text string) {
			t.Helper()
			seen[what]++
			err := readDocumented(dir, text)
			testenv.Check(t, err == nil, "%s: example %s: %v", filepath.Base(file), what, err)
		}
		title := "# " + strings.TrimSuffix(filepath.Base(file), ".yaml") + ":"
		text, related := string(data), ""
		for _, e := range commentedKeys(text) {
			switch {
			case strings.HasPrefix(e.text, title[2:]): // the first line
			case e.indent != "":
				read(e.key, strings.Replace(text, e.lines, e.text, 1))
			case e.key == "header" || e.key == "requests" || e.key == "variables" || e.key == "sessions" || e.key == "setup" || e.key == "teardown":
				related += e.text
				seen[e.key]++
			default:
				read(e.key, withoutKey(text, e.key)+"\n"+e.text)
			}
		}
		if related != "" {
			read("requests", related)
		}
		for _, m := range commentedMaps(text) {
			key, _, _ := strings.Cut(m[1:], ":")
			if exampleMaps[key] == "" {
				t.Errorf("%s: where does %s belong?", filepath.Base(file), m)
				continue
			}
			read("{"+key, strings.Replace(exampleMaps[key], "%s", m, 1))
		}
	}
	for _, want := range []string{
		"header", "requests", "variables", "sessions", "setup", "teardown", "pids", "name", "max_errors", "max_unexpected", "protocol",
		"first_requests", "thresholds", "{elasticsearch", "{count", "{dir", "{rate", "{connections", "{arrivals", "{go-nethttp", "{from", "{distribution",
		"{targets",
	} {
		testenv.Check(t, seen[want] != 0, "no example %s was found", want)
	}
}

// commented is a key with its value among comments.
type commented struct{ key, indent, lines, text string }

// commentedKeys returns the keys with their blocks among the comments of a file.
func commentedKeys(text string) (all []commented) {
	first := regexp.MustCompile(`^( *)# ([a-z_]+):(?: +[^ ].*)?$`)
	open := false
	for line := range strings.SplitSeq(text, "\n") {
		if m := first.FindStringSubmatch(line); m != nil {
			all = append(all, commented{m[2], m[1], line, m[1] + strings.TrimSpace(line)[2:] + "\n"})
			open = true
		} else if after, ok := strings.CutPrefix(line, "#   "); ok && open && !strings.HasPrefix(after, "{") {
			all[len(all)-1].text += "  " + after + "\n"
		} else {
			open = false
		}
	}
	return all
}

// withoutKey returns a file without a key at the top.
func withoutKey(text, key string) string {
	return regexp.MustCompile(`(?m)^`+key+`:.*\n(?:[ #].*\n|\n)*`).ReplaceAllString(text, "")
}

// commentedMaps returns the flow maps among the comments of a file.
func commentedMaps(text string) (all []string) {
	begin := regexp.MustCompile(`\{[a-z_-]+: `)
	for line := range strings.SplitSeq(text, "\n") {
		_, comment, ok := strings.Cut(line, "# ")
		for ok {
			at := begin.FindStringIndex(comment)
			if at == nil {
				break
			}
			depth, end := 0, at[0]
			for i, c := range comment[at[0]:] {
				if c == '{' {
					depth++
				} else if c == '}' {
					depth--
				}
				if depth == 0 {
					end = at[0] + i + 1
					break
				}
			}
			if m := comment[at[0]:max(end, at[0])]; m != "" && !regexp.MustCompile(`^( *- | *[a-z_]+: )`).MatchString(comment) {
				all = append(all, m)
			}
			comment = comment[max(end, at[1]):]
		}
	}
	return all
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
			data := testenv.Must(os.ReadFile(filepath.Join("..", "..", "..", "docs", page)))(t)
			text, _, _ := strings.Cut(string(data), "\n## Keys and options") // which are made
			text, _, _ = strings.Cut(text, "\n## JSON Schemas")              // keys of schemas
			read := readCodes(t, dir, text)
			testenv.Check(t, read >= least, "only %d codes", read)
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
			err := readDocumented(dir, profile)
			testenv.Check(t, err == nil, "line %d: %v in\n%s", i+1, err, profile)
		}
	}
	return read
}
