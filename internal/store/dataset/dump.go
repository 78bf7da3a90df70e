package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Bounds for the files of a dump, which come from outside.
const (
	maxMapping = 16 << 20
	maxLine    = 64 << 20 // one document
)

type dump struct {
	dir     string
	files   map[string]*indexFiles
	indices []Index
	hash    string
}

// Dump returns the data set in a folder. For each index the folder has two files:
//
//   - <index>.ndjson, documents as Elasticsearch's _bulk takes them: an action line (index or
//     create), then the document on one line; or hits of a search as elasticdump writes them. The
//     file's name decides where they go; _index may be absent or anything that is the same in the
//     whole file. Ids may be anything; a document without one gets "line-<number>".
//   - <index>.mapping.json or <index>.json, what PUT /<index> takes
//     ({"settings": …, "mappings": …}), or what GET /<index>/_mapping or GET /<index> returns, or
//     bare mappings ({"properties": …}). Aliases and a type are left out, the type with a note.
//
// They may also be called index-data-<index>.ndjson and index-mapping-<index>_v1.json, with any
// number, as in the dump that was published with the original of the locations service; or as
// elasticdump's users do, <index>.json (documents) and <index>_mapping.json, with settings and
// analyzers in <index>.settings.json and <index>.analyzer.json (or with _ for the first dot). A
// file may hold one value per line, or all values in one array. Each file may be compressed by
// gzip, whether or not its name ends in .gz.
//
// Dump reads all files once, to report mistakes, with file and line, before anything is sent.
func Dump(dir string) (Set, error) {
	root, err := safe.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read dump: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("read dump: %w", err)
	}
	d := &dump{dir: dir}
	var mistakes []error
	d.files, mistakes = findFiles(dir, entries)
	sum := sha256.New()
	byFile := func(a, b string) int { return strings.Compare(d.files[a].docs, d.files[b].docs) }
	for _, name := range slices.SortedFunc(maps.Keys(d.files), byFile) { // the hash depends on the order
		index, err := d.readIndex(name, sum)
		d.indices, mistakes = append(d.indices, index), append(mistakes, err)
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	if len(d.indices) == 0 {
		return nil, fmt.Errorf("read dump %s: no data files: expected <index>%s or another name of 'locbench seed --help'",
			dir, dumpExt)
	}
	d.hash = hex.EncodeToString(sum.Sum(nil))
	return d, nil
}

// readIndex reads and hashes both files of an index.
func (d *dump) readIndex(name string, sum hash.Hash) (Index, error) {
	if err := checkIndexName(name); err != nil {
		return Index{}, fmt.Errorf("%s: %w", d.file(name), err)
	}
	mapping, notes, err := d.readMapping(name)
	if err != nil {
		return Index{}, err
	}
	fmt.Fprintf(sum, "%s\x00%s\x00", name, mapping)
	f, err := openText(d.file(name))
	if err != nil {
		return Index{}, fmt.Errorf("read dump: %w", err)
	}
	defer f.Close()
	index := Index{Name: name, Mapping: mapping, Notes: notes}
	for _, err := range readBulk(io.TeeReader(f, sum), d.file(name)) {
		if err != nil {
			return Index{}, err
		}
		index.Count++
	}
	sum.Write([]byte{0})
	return index, nil
}

// file returns the path of an index's documents.
func (d *dump) file(index string) string { return filepath.Join(d.dir, d.files[index].docs) }

// readMapping reads the mapping of an index and the settings in other files.
func (d *dump) readMapping(index string) (mapping []byte, notes bench.Warnings, err error) {
	files := d.files[index]
	switch len(files.mappings) {
	case 0:
		return nil, nil, fmt.Errorf("%s has no mapping: add %s", d.file(index), files.expected)
	case 1:
	default:
		return nil, nil, fmt.Errorf("%s: %s has two mappings, %s and %s: remove one",
			d.dir, index, files.mappings[0], files.mappings[1])
	}
	path := filepath.Join(d.dir, files.mappings[0])
	data, err := readSmall(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read mapping: %w", err)
	}
	mapping, note, err := normalizeMapping(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if note != "" {
		notes = bench.Warnings{{Text: path + ": " + note}}
	}
	for _, file := range files.settings {
		path := filepath.Join(d.dir, file)
		data, err := readSmall(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read settings: %w", err)
		}
		if mapping, err = withSettings(mapping, data); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return mapping, notes, nil
}

// readSmall reads a file of at most maxMapping bytes.
func readSmall(path string) ([]byte, error) {
	f, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMapping+1))
	if err == nil && len(data) > maxMapping {
		err = fmt.Errorf("%s is larger than the %d MiB allowed", path, maxMapping>>20)
	}
	return data, err
}

// checkIndexName applies Elasticsearch's own rules, leaving room for a version after the name.
func checkIndexName(name string) error {
	switch {
	case name == "" || len(name) > 200:
		return fmt.Errorf("index name %.20q: expected 1 to 200 bytes", name)
	case strings.ToLower(name) != name:
		return fmt.Errorf("index name %q: expected lower case", name)
	case strings.ContainsFunc(name, forbidden) || strings.ContainsAny(name[:1], "-_+."):
		return fmt.Errorf("index name %q has a character that Elasticsearch forbids", name)
	}
	return nil
}

func forbidden(r rune) bool {
	return r < 0x20 || r == 0x7f || r == '\uFFFD' || strings.ContainsRune("\\/*?\"<>| ,#:", r)
}

func (d *dump) Info() bench.DataInfo {
	cities, regions := 0, 0
	for _, index := range d.indices {
		switch index.Name {
		case d.cityIndex():
			cities = int(index.Count)
		case RegionIndex:
			regions = int(index.Count)
		}
	}
	return bench.DataInfo{Name: d.dir, Size: size(cities, regions), Hash: d.hash}
}

// cityIndex returns the index called "city", or the only one.
func (d *dump) cityIndex() string {
	if len(d.indices) == 1 {
		return d.indices[0].Name
	}
	return CityIndex
}

func (d *dump) Indices() []Index { return d.indices }

func (d *dump) Documents(index string) iter.Seq2[Doc, error] {
	if _, ok := d.files[index]; !ok {
		return unknownIndex(index)
	}
	return func(yield func(Doc, error) bool) {
		f, err := openText(d.file(index))
		if err != nil {
			yield(Doc{}, fmt.Errorf("read dump: %w", err))
			return
		}
		defer f.Close()
		readBulk(f, d.file(index))(yield)
	}
}

func (d *dump) IDs(ctx context.Context) ([]int64, error) {
	var ids []int64
	index := d.cityIndex()
	if _, there := d.files[index]; !there {
		return nil, nil // several indices, none called city
	}
	for doc, err := range d.Documents(index) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if id, err := strconv.ParseInt(doc.ID, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
