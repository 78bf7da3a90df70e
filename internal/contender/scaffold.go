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

	"github.com/locbench/locbench/internal/bench"
)

// newName is stricter than namePattern: it also names a crate, a module or a package.
var newName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Scaffold makes a new contender called name, in a folder of that name in parent, from the sources
// of another one, with the template's name replaced. It changes no existing file and does not copy
// a variant that runs inside locbench.
func Scaffold(template bench.Service, name, parent string) (svc bench.Service, err error) {
	if !newName.MatchString(name) || len(name) > 63 {
		return svc, fmt.Errorf("invalid contender name %q: use lower-case letters and digits with single hyphens, "+
			"such as `go-mine`", clip(name))
	}
	if template.Files == nil {
		return svc, errors.New("only the template's manifest is available, not its folder")
	}
	keep := []string{ManifestName, "Dockerfile", "README.md", ".dockerignore", ".gitignore", "rustfmt.toml"}
	list, err := listFiles(template.Files, unfollowed, keep...)
	if err != nil {
		return svc, fmt.Errorf("read %s: %w", template.Dir, err)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return svc, err
	}
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s already exists: choose another name or folder", dir)
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
			continue // made for its files
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
				text = variantsPart.ReplaceAllString(text, "")
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

// renamed replaces the name old where it is a whole word, also as an identifier with underscores.
func renamed(text, old, name string) string {
	text = replaceWord(text, old, name)
	if under := strings.ReplaceAll(old, "-", "_"); under != old {
		text = replaceWord(text, under, strings.ReplaceAll(name, "-", "_"))
	}
	return text
}

func replaceWord(text, old, name string) string {
	const word = `[-_0-9A-Za-z]*`
	whole := regexp.MustCompile(word + regexp.QuoteMeta(old) + word)
	return whole.ReplaceAllStringFunc(text, func(found string) string {
		if found == old {
			return name
		}
		return found
	})
}

// variantsPart matches the list of variants in a manifest.
var variantsPart = regexp.MustCompile(`(?m)^variants:.*(\n([ #-].*|[ \t]*)$)*\n?`)

// sortedLock sorts the packages of a Cargo.lock by name, which cargo --locked requires.
func sortedLock(text string) string {
	const mark = "\n\n[[package]]\n"
	parts := strings.Split(strings.TrimRight(text, "\n"), mark)
	slices.SortStableFunc(parts[1:], func(a, b string) int {
		nameA, _, _ := strings.Cut(a, "\n")
		nameB, _, _ := strings.Cut(b, "\n")
		return strings.Compare(nameA, nameB)
	})
	return strings.Join(parts, mark) + "\n"
}
