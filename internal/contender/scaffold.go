package contender

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"locbench/internal/bench"
)

// newName is stricter than namePattern: the name also becomes that of a crate, a module or a
// package.
var newName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Scaffold makes a new contender called name, a folder of that name in parent, from the folder of
// another one: its sources with the template's name replaced. It changes nothing that exists. A
// variant that runs inside locbench is no part of the copy.
func Scaffold(template bench.Service, name, parent string) (svc bench.Service, err error) {
	if !newName.MatchString(name) || len(name) > 63 {
		return svc, fmt.Errorf("%q is no name for a new contender: write small letters and digits, with single hyphens between, for example `go-mine`", clip(name))
	}
	if template.Files == nil {
		return svc, errors.New("the template's folder is not at hand, only its manifest")
	}
	list, err := listFiles(template.Files, ManifestName, "Dockerfile", "README.md", ".dockerignore", ".gitignore", "rustfmt.toml")
	if err != nil {
		return svc, fmt.Errorf("read %s: %w", template.Dir, err)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return svc, err
	}
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s is there already: choose another name or folder", dir)
		}
		return svc, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := copyRenamed(dir, template, list, name); err != nil {
		return svc, err
	}
	found, err := Discover(Folder(dir))
	if err != nil {
		return svc, err
	}
	return found[0], nil
}

func copyRenamed(dir string, template bench.Service, list []entry, name string) error {
	for _, e := range list {
		target := filepath.Join(dir, filepath.FromSlash(renamed(e.name, template.Name, name)))
		if e.mode.IsDir() {
			continue // made with its files
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if e.link != "" {
			if err := os.Symlink(e.link, target); err != nil {
				return err
			}
			continue
		}
		var b bytes.Buffer
		if err := copyFile(&b, template.Files, e); err != nil {
			return fmt.Errorf("read %s: %w", e.name, err)
		}
		data := b.Bytes()
		if utf8.Valid(data) {
			text := renamed(string(data), template.Name, name)
			switch {
			case e.name == ManifestName && slices.ContainsFunc(template.Variants, isBuiltin):
				text = withoutVariants(text)
			case path.Base(e.name) == "Cargo.lock":
				text = sortedLock(text)
			}
			data = []byte(text)
		}
		if err := os.WriteFile(target, data, e.perm()); err != nil {
			return err
		}
	}
	return nil
}

func isBuiltin(v bench.Variant) bool { return v.Builtin != nil && *v.Builtin }

// renamed replaces the name old wherever it stands by itself, also as an identifier with
// underscores.
func renamed(text, old, name string) string {
	text = replaceWord(text, old, name)
	if under := strings.ReplaceAll(old, "-", "_"); under != old {
		text = replaceWord(text, under, strings.ReplaceAll(name, "-", "_"))
	}
	return text
}

func replaceWord(text, old, name string) string {
	var out strings.Builder
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			out.WriteString(text[from:])
			return out.String()
		}
		i += from
		end := i + len(old)
		out.WriteString(text[from:i])
		if i > 0 && inWord(text[i-1]) || end < len(text) && inWord(text[end]) {
			out.WriteString(old)
		} else {
			out.WriteString(name)
		}
		from = end
	}
}

func inWord(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func withoutVariants(text string) string {
	var out strings.Builder
	within := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "variants:") {
			within = true
			continue
		}
		if within && strings.TrimSpace(line) != "" && !strings.ContainsAny(line[:1], " -#") {
			within = false
		}
		if !within {
			out.WriteString(line)
		}
	}
	return out.String()
}

// sortedLock puts the packages of a Cargo.lock into the order of their names, which cargo --locked
// insists on.
func sortedLock(text string) string {
	const mark = "[[package]]\n"
	parts := strings.Split(text, mark)
	head, packages := parts[0], parts[1:]
	for i, p := range packages {
		packages[i] = strings.TrimRight(p, "\n") + "\n"
	}
	first := func(p string) string { line, _, _ := strings.Cut(p, "\n"); return line }
	slices.SortStableFunc(packages, func(a, b string) int { return strings.Compare(first(a), first(b)) })
	if len(packages) == 0 {
		return text
	}
	return head + mark + strings.Join(packages, "\n"+mark)
}
