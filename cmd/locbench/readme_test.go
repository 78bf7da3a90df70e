//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

const root = "../.."

// fence is a fenced block of a Markdown text: the word after the fence, the lines without the
// fence's indentation, and the number of its first line.
type fence struct {
	word, text string
	line       int
}

// fences returns the fenced blocks of a Markdown text, also those in lists.
func fences(text string) (blocks []fence) {
	var open *fence
	indent := ""
	for i, line := range strings.Split(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			open, indent = &fence{word: strings.TrimSpace(bare[3:]), line: i + 2}, line[:len(line)-len(bare)]
		case open == nil:
		case strings.TrimSpace(line) == "```":
			blocks, open = append(blocks, *open), nil
		default:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return blocks
}

// yourService is the page that leads from two services to their comparison.
const yourService = "docs/your-service.md"

// fileOf returns the name of the file that a block shows: the last name before it.
func fileOf(text string, block fence) string {
	before := strings.Join(strings.Split(text, "\n")[:block.line-1], "\n")
	named := regexp.MustCompile("`([a-z/-]+\\.yaml)`").FindAllStringSubmatch(before, -1)
	if len(named) == 0 {
		return ""
	}
	return named[len(named)-1][1]
}

// pageFile returns the content of a file as a page shows it.
func pageFile(t testing.TB, page, file string) string {
	t.Helper()
	text := readPage(t, page)
	for _, block := range fences(text) {
		if block.word == "yaml" && fileOf(text, block) == file {
			return block.text
		}
	}
	t.Fatalf("%s does not show %s", page, file)
	return ""
}

// prose returns the lines of a Markdown text that are not in fenced blocks.
func prose(text string) []string {
	var kept []string
	within := false
	for _, line := range strings.Split(text, "\n") {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		if within = within != fence; !within && !fence {
			kept = append(kept, line)
		}
	}
	return kept
}

// readerPages returns README.md and the pages of docs, without the decisions, by their paths from
// the root.
func readerPages(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(allDocs(t), func(page string) bool { return strings.HasPrefix(page, "docs/decisions/") })
}

// allDocs returns README.md and all Markdown files in docs, by their paths from the root.
func allDocs(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	testenv.OK(t, fs.WalkDir(os.DirFS(root), "docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	}))
	testenv.Need(t, len(pages) > 10, "docs: %d pages", len(pages))
	return pages
}

func readPage(t testing.TB, page string) string {
	t.Helper()
	data := testenv.Must(os.ReadFile(filepath.Join(root, page)))(t)
	return string(data)
}

// sqlName is the name of the file that a block shows, in its first line.
var sqlName = regexp.MustCompile(`^-- ([a-z]+\.sql)\n`)

// TestDocsBlocks: each block of README.md and the pages of docs is marked: run by the acceptance
// suite ("sh"), shown ("console"), output ("text"), a file that a profile names ("sql") or read
// ("yaml"): a profile, suite or manifest.
// README.md is a page for newcomers.
func TestDocsBlocks(t *testing.T) {
	found := map[string]int{}
	for _, page := range readerPages(t) {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir() // with the files that its profiles name
			blocks := fences(readPage(t, page))
			slices.SortStableFunc(blocks, func(a, b fence) int { return strings.Compare(a.word, b.word) })
			for _, block := range blocks {
				kind, err := block.word, error(nil)
				switch {
				case slices.Contains([]string{"sh", "console", "text"}, kind):
				case kind == "sql":
					name := sqlName.FindStringSubmatch(block.text)
					if name == nil {
						err = errors.New("a file begins with its name, such as `-- schema.sql`")
						break
					}
					err = os.WriteFile(filepath.Join(dir, name[1]), []byte(block.text), 0o600)
				case kind != "yaml":
					err = fmt.Errorf("a block is marked %q: write sh, console, text, sql or yaml", kind)
				case strings.HasPrefix(block.text, "contenders:"):
					kind = "profile"
					_, err = profile.Parse(filepath.Join(dir, filepath.Base(page)), []byte(block.text))
				case strings.HasPrefix(block.text, "suite:"):
					_, err = check.ParseSuite(page, []byte(block.text))
				case strings.Contains(block.text, "\nframework:"):
					kind = "manifest"
					_, err = contender.Parse(filepath.Join(dir, "service.yaml"), []byte(block.text))
				default:
					err = errors.New("neither a profile, which begins with contenders, nor a suite, nor a manifest")
				}
				testenv.Check(t, err == nil, "%s:%d: %v", page, block.line, err)
				found[page+" "+kind]++
			}
		})
	}
	testenv.Check(t, found["README.md sh"] >= 2 && found["README.md profile"] == 1 && found["README.md manifest"] == 1,
		"blocks: %v", found)
	n := len(readPage(t, "README.md"))
	testenv.Check(t, n <= 10_000, "README.md has %d bytes, 10,000 at most: move what is not for a newcomer to docs", n)
}

// TestReadmeShowsYourService: the example in README.md is from the page that a test runs, and its
// profile is short.
func TestReadmeShowsYourService(t *testing.T) {
	_, section, _ := strings.Cut(readPage(t, "README.md"), "\n## Bring your own service")
	section, _, _ = strings.Cut(section, "\n## ")
	page := readPage(t, yourService)
	shown := 0
	for _, block := range fences(section) {
		switch block.word {
		case "yaml":
			shown++
			testenv.Equal(t, block.text, pageFile(t, yourService, fileOf(section, block)), fileOf(section, block))
		case "console":
			for line := range strings.Lines(block.text) {
				command, _, _ := strings.Cut(strings.TrimSpace(line), "  #")
				testenv.Contains(t, page, strings.TrimSpace(command)+"\n")
			}
		}
	}
	testenv.Equal(t, shown, 2, "files of a service in README.md")
	n := strings.Count(pageFile(t, yourService, "bench.yaml"), "\n")
	testenv.Check(t, n <= 40, "the profile of %s has %d lines", yourService, n)
}

// mdLink is a link or a picture; the address ends at a space or the parenthesis.
var mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks follows every relative link of README.md and docs: to an existing file and heading. docs/README.md
// links every page of docs, the decisions too.
func TestDocsLinks(t *testing.T) {
	linked := map[string]bool{"docs/README.md": true, "README.md": true}
	for _, page := range allDocs(t) {
		text := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(strings.Join(prose(readPage(t, page)), "\n"), "code")
		for _, match := range mdLink.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(match[1])
			testenv.Need(t, err == nil, "%s: %v", page, err)
			if u.IsAbs() || u.Host != "" {
				continue
			}
			target := page
			if u.Path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), u.Path))
			}
			linked[target] = linked[target] || page == "docs/README.md"
			_, err = os.Stat(filepath.Join(root, target))
			testenv.Need(t, err == nil, "%s: %s: there is no file %s", page, match[1], target)
			testenv.Check(t, u.Fragment == "" || strings.HasSuffix(target, ".md") && slices.Contains(anchors(readPage(t, target)), u.Fragment),
				"%s: %s: heading not found in %s", page, match[1], target)
		}
	}
	for _, page := range allDocs(t) {
		testenv.Check(t, linked[page], "docs/README.md does not link %s", page)
	}
}

// anchors returns the names of a page's headings, as GitHub makes them.
func anchors(text string) (names []string) {
	seen := map[string]int{}
	for _, line := range prose(text) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(title))
		if n := seen[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return names
}

// TestDocsMap: the map in docs/architecture.md names every folder below internal and right below
// those, and every Go file that the page names exists.
func TestDocsMap(t *testing.T) {
	text := readPage(t, "docs/architecture.md")
	var area string
	named := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^(internal/|  )(\w+)\s`).FindAllStringSubmatch(text, -1) {
		if line[1] != "  " {
			area = line[2]
		}
		named[area], named[area+"/"+line[2]] = true, true
	}
	sources(t, func(path string) {
		parts := strings.Split(strings.TrimPrefix(path, "internal/"), "/")
		place := strings.Join(parts[:min(2, len(parts)-1)], "/")
		testenv.Check(t, parts[0] == "testenv" || named[place], "docs/architecture.md does not name internal/%s", place)
	})
	for _, file := range regexp.MustCompile(`(?:internal|services|cmd)/[a-z/_-]+\.(?:go|yaml|md)\b`).FindAllString(text, -1) {
		_, err := os.Stat(filepath.Join(root, file))
		testenv.Check(t, err == nil, "docs/architecture.md names %s, which is not there", file)
	}
}

// sources calls f for each Go file of the product, by its path in the repository.
func sources(t *testing.T, f func(path string)) {
	t.Helper()
	eachGo(t, func(path string) {
		if strings.HasPrefix(path, "internal/") && !strings.HasSuffix(path, "_test.go") {
			f(path)
		}
	})
}
