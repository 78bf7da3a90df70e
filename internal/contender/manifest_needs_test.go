package contender

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestManifest_Needs: needs of a manifest are written as in a profile, with files of the manifest's
// folder, and with mistakes at their lines.
func TestManifest_Needs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "orders")
	testenv.OK(t, os.MkdirAll(dir, 0o755))
	read := func(needs string) (string, error) {
		file := filepath.Join(dir, ManifestName)
		testenv.OK(t, os.WriteFile(file, []byte("docker: {image: 'a:1'}\nneeds:\n"+needs), 0o600))
		testenv.OK(t, os.WriteFile(filepath.Join(dir, "schema.sql"), nil, 0o600))
		all, err := Discover(Folder(dir))
		if err != nil {
			return "", err
		}
		text := ""
		for _, n := range all[0].Needs {
			text += n.Name + " " + n.Of.String() + "\n"
		}
		return text, nil
	}
	text, err := read("  db: {image: 'postgres:17', seed: [schema.sql]}\n  cache: {image: redis, after: [db]}\n")
	testenv.OK(t, err)
	testenv.Contains(t, text, "db {", filepath.Join(dir, "schema.sql"), "cache {")
	for name, c := range map[string]struct{ needs, want string }{
		"key":      {"  db:\n    image: a\n    imge: b\n", "service.yaml:5: unknown key `needs.db.imge`"},
		"value":    {"  db:\n    image: a\n    seed: [schema.sql]\n", "service.yaml:5: image a runs no files of a seed"},
		"file":     {"  db:\n    image: postgres\n    seed: [other.sql]\n", "service.yaml:5: `other.sql` does not exist"},
		"outside":  {"  db:\n    image: postgres\n    seed: [../../x.sql]\n", "service.yaml:5: `../../x.sql` is outside of the folder of this file; move it there"},
		"name":     {"  Db: {image: a}\n", "service.yaml:3: \"Db\" cannot be the name of a need"},
		"its data": {"  elasticsearch: {}\n", "service.yaml:3: `needs.elasticsearch` belongs to a profile"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.needs)
			testenv.Fails(t, err, c.want)
			testenv.Check(t, !strings.Contains(err.Error(), "--allow-files"), "%v", err)
			testenv.Equal(t, strings.Count(err.Error(), "service.yaml:"), 1)
		})
	}
}
