package dataset

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	dumpExt    = ".ndjson"
	mappingExt = ".mapping.json"
	zipExt     = ".gz"
)

// indexFiles are the names of an index's files in the folder.
type indexFiles struct {
	docs     string
	mappings []string // any other number than one is a mistake
	expected string   // name of the mapping that goes with documents named like these
	settings []string // applied in this order, after those of the mapping
}

// publishedMapping is the name of an index's mapping in the published dump.
var publishedMapping = regexp.MustCompile(`^index-mapping-(.*)_v[0-9]+\.json$`)

// firstKey matches the beginning of a hit of a search, alone or in an array.
var firstKey = regexp.MustCompile(`^\s*(\[\s*)?\{\s*"_(index|type|id|score|source|routing|version)"\s*:`)

// findFiles assigns the files of a folder to indices by their names. Where a name leaves that open,
// the beginning of the file decides. It ignores other .json files.
func findFiles(dir string, entries []os.DirEntry) (found map[string]*indexFiles, mistakes []error) {
	mappings := map[string][]string{}
	missing := map[string]string{} // from a mapping to the usual name of its documents
	for _, entry := range entries {
		file := strings.TrimSuffix(entry.Name(), zipExt)
		name, ok := strings.CutSuffix(file, mappingExt)
		if !ok {
			name, ok = strings.CutSuffix(file, "_mapping.json")
		}
		docs := name + dumpExt
		if m := publishedMapping.FindStringSubmatch(file); m != nil {
			name, docs, ok = m[1], "index-data-"+m[1]+dumpExt, true
		}
		if ok {
			mappings[name] = append(mappings[name], entry.Name())
			missing[entry.Name()] = docs
		}
	}
	found = map[string]*indexFiles{}
	add := func(name string, f *indexFiles) {
		if other, twice := found[name]; twice {
			mistakes = append(mistakes,
				fmt.Errorf("%s: %s has two files of documents, %s and %s: remove one", dir, name, other.docs, f.docs))
			return
		}
		found[name] = f
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(strings.TrimSuffix(entry.Name(), zipExt), dumpExt)
		if !ok {
			continue
		}
		f := &indexFiles{docs: entry.Name(), expected: name + mappingExt}
		if index, published := strings.CutPrefix(name, "index-data-"); published {
			name, f.expected = index, "index-mapping-"+index+"_v1.json"
		}
		add(name, f)
	}
	lines := maps.Clone(found)
	for _, entry := range entries {
		name, ok := strings.CutSuffix(strings.TrimSuffix(entry.Name(), zipExt), ".json")
		if !ok || missing[entry.Name()] != "" {
			continue
		}
		switch f := lines[name]; {
		case f != nil && mappings[name] == nil:
			f.mappings = append(f.mappings, entry.Name())
		case f == nil && (mappings[name] != nil || holdsHits(filepath.Join(dir, entry.Name()))):
			add(name, &indexFiles{docs: entry.Name(), expected: name + mappingExt})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mappings)) {
		f := found[name]
		if f == nil {
			for _, file := range mappings[name] {
				mistakes = append(mistakes,
					fmt.Errorf("%s has no documents: %s is missing", filepath.Join(dir, file), missing[file]))
			}
			continue
		}
		f.mappings = mappings[name]
	}
	for name, f := range found {
		f.settings = settingsOf(name, entries)
	}
	return found, mistakes
}

// settingsOf returns the files of an index's settings and analyzers next to its mapping.
func settingsOf(index string, entries []os.DirEntry) (files []string) {
	for _, kind := range []string{"settings", "analyzer"} {
		for _, entry := range entries {
			file := strings.TrimSuffix(entry.Name(), zipExt)
			if file == index+"."+kind+".json" || file == index+"_"+kind+".json" {
				files = append(files, entry.Name())
			}
		}
	}
	return files
}

// holdsHits reports whether a file begins with a hit of a search.
func holdsHits(path string) bool {
	f, err := openText(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, begin)
	return firstKey.Match(begin[:n])
}
