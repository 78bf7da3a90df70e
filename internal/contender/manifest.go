package contender

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

//go:embed service.schema.json
var ownSchema string

// Schema is the JSON Schema of manifests. TestKeys of package cli compares it with what is read.
var Schema = kinds.WithNeeds(ownSchema)

// Groups returns the endpoint groups of the locations API, in the order of its description.
func Groups() []string {
	return []string{"get", "closest", "associatedFeatured", "search", "featured", "api-docs", "benchmark"}
}

const (
	defaultPort         = 8080
	defaultReadyTimeout = time.Minute
)

var (
	namePattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	tagPattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9.+#-]{0,30}$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	groupPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$`)
	argPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerPattern = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	imagePattern  = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]*$`)
)

// manifest is a service.yaml as written in the file.
type manifest struct {
	bench.Service
	files fs.FS // the folder; nil: do not check for files
}

// UnmarshalStrict reads the keys of a manifest.
func (m *manifest) UnmarshalStrict(v strictyaml.Value) {
	var form struct {
		Endpoints endpoints          `yaml:"endpoints" example:"[get, benchmark]"`
		Needs     kinds.ManifestList `yaml:"needs"`
	}
	v.Struct(&m.Service, &form)
	m.Endpoints, m.Needs = form.Endpoints, form.Needs
	m.check(v)
}

// readers read the types of bench whose form in a file is another one than their fields.
var readers = []strictyaml.Reader{strictyaml.ReaderOf(readDocker), strictyaml.ReaderOf(readVariant)}

func readDocker(v strictyaml.Value, d *bench.DockerRecipe) {
	var form struct {
		Tmpfs needs.TmpfsList `yaml:"tmpfs"`
	}
	v.Struct(d, &d.Privileges, &d.Confined, &form)
	for _, t := range form.Tmpfs {
		d.Confined.Tmpfs = append(d.Confined.Tmpfs, string(t))
	}
}

func readVariant(v strictyaml.Value, one *bench.Variant) {
	var form struct {
		Endpoints endpoints `yaml:"endpoints"`
	}
	v.Struct(one, &form)
	one.Endpoints = form.Endpoints
}

// endpoints is "all" for those of the locations API, or a list of groups of check suites. Other
// groups are skipped. Without the key all groups are checked.
type endpoints []string

// UnmarshalStrict reads "all" or a list of groups, sorted like the locations API, others last.
func (e *endpoints) UnmarshalStrict(v strictyaml.Value) {
	groups := Groups()
	if v.Kind() != strictyaml.List {
		if text, ok := v.Text(); ok && text != "all" {
			v.Wrong("write a list of groups of check suites, or `all` for those of the locations API (" +
				strings.Join(groups, ", ") + ")")
		}
		*e = groups
		return
	}
	for _, item := range v.Items() {
		switch name, ok := item.Text(); {
		case !ok:
		case !groupPattern.MatchString(name):
			item.Wrong("write the name of a group of a check suite: letters, digits, `-`, `_` and `.`")
		case slices.Contains(*e, name):
			item.Mistake(fmt.Sprintf("group %q is listed twice", name), "list it once")
		default:
			*e = append(*e, name)
		}
	}
	if len(v.Items()) == 0 {
		v.Mistake("no endpoint group is listed", "list at least one, or remove the key to check all groups")
	}
	place := func(name string) int {
		if i := slices.Index(groups, name); i >= 0 {
			return i
		}
		return len(groups)
	}
	slices.SortStableFunc(*e, func(a, b string) int { return place(a) - place(b) })
}

// Parse reads a manifest. Without a name in data, the last folder of file is the contender's name.
// It does not check for the files in the manifest. The error is a strictyaml.Mistakes.
func Parse(file string, data []byte) (bench.Service, error) { return parseManifest(file, data, nil) }

func parseManifest(file string, data []byte, files fs.FS) (bench.Service, error) {
	dir := path.Dir(filepath.ToSlash(file))
	m := manifest{files: files, Service: bench.Service{
		Name: folderName(dir), Port: defaultPort, Ready: bench.Ready{Path: "/", Timeout: defaultReadyTimeout},
	}}
	o := strictyaml.Options{Closed: true, Readers: readers}
	if err := strictyaml.DecodeFrom(file, data, &m, o, func(strictyaml.Value) {}); err != nil {
		return bench.Service{}, err
	}
	m.Dir, m.Files = dir, files
	return m.Service, nil
}

// folderName returns the name of the contender in a folder whose manifest has none.
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = filepath.ToSlash(abs)
	}
	return strings.ToLower(path.Base(dir))
}

// Unpack returns the folders of the bundled contenders, from services/contenders.txtar.gz.
func Unpack(packed []byte) (fs.FS, error) {
	text, err := unpacked(packed)
	if err != nil {
		return nil, fmt.Errorf("unpack contenders: %w", err)
	}
	fsys, err := txtar.FS(txtar.Parse(text))
	if err != nil {
		return nil, fmt.Errorf("unpack contenders: %w", err)
	}
	return fsys, nil
}

func unpacked(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
