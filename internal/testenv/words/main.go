// Command words prints the sentences of locbench by place, for reading in one sitting (make words).
// Its test holds them to the vocabulary of docs/glossary.md.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	all, err := sentences(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	for _, s := range all {
		if s.User && strings.Contains(s.Text, " ") {
			fmt.Printf("%s:%d: %s\n", s.File, s.Line, s.Text)
		}
	}
}

// Sentence is one text of a file: a literal, a comment or a paragraph, on one line.
type Sentence struct {
	File string
	Line int
	Text string
	User bool // users see it: neither a comment nor of a test
}

// sentences reads the texts of all Go files, templates, scripts, profiles and documents below root.
// What comes from elsewhere is skipped: recorded results, golden files, libraries, contenders.
func sentences(root string) (all []Sentence, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			switch {
			case slices.Contains([]string{".git", ".cache", "dist", "results", "acceptance"}, rel),
				strings.HasSuffix(rel, "/assets"), strings.HasSuffix(rel, "/testdata"),
				strings.HasPrefix(rel, "services/"), rel == "testdata/results", rel == "testdata/cities":
				return fs.SkipDir
			}
			return nil
		}
		read, ok := readers[filepath.Ext(rel)]
		if !ok || rel == "docs/glossary.md" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := read(data)
		for i := range found {
			s := &found[i]
			s.File, s.Text = rel, strings.Join(strings.Fields(s.Text), " ")
			s.User = s.User && !strings.HasSuffix(rel, "_test.go") && !strings.HasPrefix(rel, "internal/testenv/")
		}
		all = append(all, found...)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no sentences: run it in the root of the repository")
	}
	return all, err
}

var readers = map[string]func([]byte) []Sentence{
	".go": ofCode, ".js": ofCode, ".css": ofCode, ".md": ofMarkdown, ".html": ofTemplate, ".tmpl": ofTemplate, ".yaml": ofYAML,
}

// ofCode reads the comments and literals of Go, JavaScript and CSS. Lines of a comment, and
// literals joined by +, are one text.
func ofCode(data []byte) (all []Sentence) {
	end := 0
	for _, at := range scripted.FindAllIndex(data, -1) {
		text, between := string(data[at[0]:at[1]]), string(data[end:at[0]])
		s := Sentence{Line: 1 + bytes.Count(data[:at[0]], []byte("\n")), User: text[0] != '/'}
		joined := strings.TrimSpace(between) == "" && strings.Count(between, "\n") < 2
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		if s.Text = strings.Trim(text, "'"); s.User {
			joined = strings.TrimSpace(between) == "+"
		} else {
			s.Text = strings.Trim(text, "/* \n")
		}
		switch n := len(all) - 1; {
		case strings.HasPrefix(text, "github.com/locbench/locbench/"): // an import
		case n >= 0 && joined && all[n].User == s.User:
			all[n].Text += map[bool]string{false: " "}[s.User] + s.Text
		default:
			all = append(all, s)
		}
		end = at[1]
	}
	return all
}

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
	code     = regexp.MustCompile("`[^`\n]*`|\\]\\([^)]*\\)")
	action   = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	tag      = regexp.MustCompile(`(?s)<[^>]*>`)
	scripted = regexp.MustCompile("(?s)/\\*.*?\\*/|//[^\n]*|'(?:\\\\.|[^'\\\\\n])*'|\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`")
)

// without replaces what a pattern matches by blanks, and keeps the lines.
func without(data []byte, patterns ...*regexp.Regexp) []byte {
	for _, p := range patterns {
		data = p.ReplaceAllFunc(data, func(m []byte) []byte {
			return append([]byte(" "), bytes.Repeat([]byte("\n"), bytes.Count(m, []byte("\n")))...)
		})
	}
	return data
}

// ofMarkdown reads paragraphs and rows of tables, without code.
func ofMarkdown(data []byte) []Sentence { return paragraphs(without(data, fence, code)) }

func ofTemplate(data []byte) []Sentence { return paragraphs(without(data, action, tag)) }

func ofYAML(data []byte) (all []Sentence) {
	return paragraphs(bytes.ReplaceAll(data, []byte("#"), nil))
}

func paragraphs(data []byte) (all []Sentence) {
	open := false
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			open = false
		case open && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "- "):
			all[len(all)-1].Text += " " + line
		default:
			all, open = append(all, Sentence{Line: i + 1, Text: line, User: true}), true
		}
	}
	return all
}
