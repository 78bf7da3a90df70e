package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Bounds for the files of a dump, which come from outside.
const (
	maxMapping = 16 << 20
	maxValue   = 64 << 20 // an action, a document or a hit
)

type dump struct {
	dir     string
	files   map[string]*indexFiles
	indices []Index
	hash    string
}

// indexFiles are the names of an index's files in the folder.
type indexFiles struct{ docs, mapping string }

// The names of the files of a dump. Other files are not looked at.
var (
	docsName    = regexp.MustCompile(`^(?:index-data-)?(.*)\.(?:ndjson|json)$`)
	mappingName = regexp.MustCompile(`^(?:index-mapping-(.*)_v[0-9]+|(.*)[._]mapping)\.json$`)
	detailName  = regexp.MustCompile(`^(.*)[._](?:settings|analyzer)\.json$`)
)

// Dump returns the data set in a folder. For each index the folder has two files:
//
//   - <index>.ndjson or <index>.json, documents as Elasticsearch's _bulk takes them: an action
//     (index or create), then the document; or hits of a search as elasticdump writes them. The
//     file's name decides where they go; _index may be absent or anything that is the same in the
//     whole file. Ids may be anything; a document without one gets "document-<number>".
//   - <index>.mapping.json or <index>_mapping.json, what PUT /<index> takes
//     ({"settings": …, "mappings": …}), or what GET /<index>/_mapping or GET /<index> returns.
//     Aliases are left out.
//
// The dump that was published with the original of the locations service has the
// names index-data-<index>.ndjson and index-mapping-<index>_v1.json, with any number.
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
	d := &dump{dir: dir, files: map[string]*indexFiles{}}
	mistakes := d.find(entries)
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
		return nil, fmt.Errorf("read dump %s: no data files: expected <index>.ndjson and <index>.mapping.json, "+
			"or other names of 'locbench seed --help'", dir)
	}
	d.hash = hex.EncodeToString(sum.Sum(nil))
	return d, nil
}

// find assigns the files of the folder to indices by their names.
func (d *dump) find(entries []os.DirEntry) (mistakes []error) {
	of := func(index string) *indexFiles {
		if d.files[index] == nil {
			d.files[index] = &indexFiles{}
		}
		return d.files[index]
	}
	set := func(index, what string, to *string, file string) {
		if *to != "" {
			mistakes = append(mistakes,
				fmt.Errorf("%s: %s has two files of %s, %s and %s: remove one", d.dir, index, what, *to, file))
		}
		*to = file
	}
	var rest []string
	for _, entry := range entries {
		file := entry.Name()
		if m := mappingName.FindStringSubmatch(file); m != nil {
			index := m[1] + m[2]
			set(index, "mappings", &of(index).mapping, file)
		} else if unpacked, packed := strings.CutSuffix(file, ".gz"); packed && docsName.MatchString(unpacked) {
			mistakes = append(mistakes, fmt.Errorf("%s is compressed; unpack it: gunzip %s", filepath.Join(d.dir, file), file))
		} else {
			rest = append(rest, file)
		}
	}
	for _, file := range rest {
		if m := docsName.FindStringSubmatch(file); m != nil && (strings.HasSuffix(file, ".ndjson") || d.files[m[1]] != nil) {
			set(m[1], "documents", &of(m[1]).docs, file)
		}
	}
	for _, file := range rest {
		if m := detailName.FindStringSubmatch(file); m != nil && d.files[m[1]] != nil {
			mistakes = append(mistakes, fmt.Errorf(`%s: remove it; what the index needs of it belongs to %s, as {"settings": …, "mappings": …}`,
				filepath.Join(d.dir, file), d.files[m[1]].mapping))
		}
	}
	for _, index := range slices.Sorted(maps.Keys(d.files)) {
		if f := d.files[index]; f.docs == "" {
			mistakes = append(mistakes,
				fmt.Errorf("%s has no documents: %s.ndjson or %[2]s.json is missing", filepath.Join(d.dir, f.mapping), index))
			delete(d.files, index)
		}
	}
	return mistakes
}

// readIndex reads and hashes the files of an index.
func (d *dump) readIndex(name string, sum hash.Hash) (Index, error) {
	if err := checkIndexName(name); err != nil {
		return Index{}, fmt.Errorf("%s: %w", d.file(name), err)
	}
	mapping, err := d.readMapping(name)
	if err != nil {
		return Index{}, err
	}
	fmt.Fprintf(sum, "%s\x00%s\x00", name, mapping)
	f, err := safe.Open(d.file(name))
	if err != nil {
		return Index{}, fmt.Errorf("read dump: %w", err)
	}
	defer f.Close()
	index := Index{Name: name, Mapping: mapping}
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

// readMapping reads the mapping of an index.
func (d *dump) readMapping(index string) (mapping []byte, err error) {
	files := d.files[index]
	if files.mapping == "" {
		return nil, fmt.Errorf("%s has no mapping: add %s.mapping.json", d.file(index), index)
	}
	path := filepath.Join(d.dir, files.mapping)
	data, err := safe.ReadFile(path, maxMapping)
	if err != nil {
		return nil, fmt.Errorf("read dump: %w", err)
	}
	of, err := readMapping(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return json.Marshal(of)
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
		f, err := safe.Open(d.file(index))
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
