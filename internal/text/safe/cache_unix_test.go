//go:build unix

package safe

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestCache: without a usable home folder it is a folder of temporary files that only this user may
// use. A cache folder that the user names is not replaced.
func TestCache(t *testing.T) {
	uid := "locbench-" + strconv.Itoa(os.Getuid())
	for name, c := range map[string]struct {
		home, xdg string                 // below a new folder; "-": not set. "file" is a file, so nothing is below it
		before    func(own string) error // what is in the place of the folder of temporary files
		want      string                 // "": an error
		says      string
	}{
		"a home":             {"home", "", nil, "home/.cache/locbench", ""},
		"a cache folder":     {"-", "xdg", nil, "xdg/locbench", ""},
		"none":               {"-", "", nil, "tmp/" + uid, ""},
		"a home of others":   {"file", "", nil, "tmp/" + uid, ""},
		"made before":        {"-", "", func(own string) error { return os.Mkdir(own, 0o700) }, "tmp/" + uid, ""},
		"for all":            {"-", "", func(own string) error { return os.Mkdir(own, 0o755) }, "", "not a folder of this user alone"},
		"a link":             {"-", "", func(own string) error { return os.Symlink(filepath.Dir(own), own) }, "", "not a folder of this user alone"},
		"cache not writable": {"home", "file", nil, "", "XDG_CACHE_HOME"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testenv.OK(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
			testenv.OK(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
			for key, value := range map[string]string{"HOME": c.home, "XDG_CACHE_HOME": c.xdg, "TMPDIR": "tmp"} {
				t.Setenv(key, filepath.Join(dir, value))
				if value == "-" || value == "" {
					t.Setenv(key, "")
				}
			}
			if c.before != nil {
				testenv.OK(t, c.before(filepath.Join(dir, "tmp", uid)))
			}
			got, err := Cache()
			if c.want == "" {
				testenv.Fails(t, err, c.says, "XDG_CACHE_HOME")
				return
			}
			testenv.OK(t, err)
			testenv.Equal(t, got, filepath.Join(dir, filepath.FromSlash(c.want)))
			info := testenv.Must(os.Lstat(got))(t)
			testenv.Equal(t, info.IsDir() && info.Mode().Perm() == 0o700, true, info.Mode())
		})
	}
}
