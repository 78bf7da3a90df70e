package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// listed returns what an archive has, one a line.
func listed(t *testing.T, archive []byte) string {
	t.Helper()
	var all strings.Builder
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		testenv.OK(t, err)
		fmt.Fprintf(&all, "%c %04o %q %s%s\n", h.Typeflag, h.Mode, h.Name, h.Linkname, testenv.Must(io.ReadAll(r))(t))
		testenv.Equal(t, h.Uname+h.Gname, "")
	}
}

// puts returns the archives that the engine was sent, with the folders that they are for.
func puts(t *testing.T, f *fakedocker.Engine) string {
	t.Helper()
	var all strings.Builder
	for _, put := range f.Requests("PUT " + ours + "/archive") {
		all.WriteString("at " + put.Query.Get("path") + "\n" + listed(t, put.Body))
	}
	return all.String()
}

// TestGiven: files are copied before each start, those below a volume into it; folders once, into a volume
// of the run, which other groups of the run have too. The engine gets no path of this machine.
func TestGiven(t *testing.T) {
	dir := testenv.Folder(t, map[string]string{"conf/deep/a": "one", "s.sql": "two", "more.sql": "three"})
	testenv.OK(t, os.Chmod(filepath.Join(dir, "conf/deep"), 0o750))
	testenv.OK(t, os.Chmod(filepath.Join(dir, "conf/deep/a"), 0o755))
	testenv.OK(t, os.Chmod(filepath.Join(dir, "s.sql"), 0o600))
	testenv.OK(t, os.Symlink("s.sql", filepath.Join(dir, "link.sql")))
	testenv.OK(t, os.Symlink("conf", filepath.Join(dir, "current")))
	spec := ContainerSpec{Name: "db", Image: "img:1", Mounts: []Mount{{Volume: "v", Target: "/data"}, {Volume: "w", Target: "/data/in"},
		{Source: filepath.Join(dir, "current"), Target: "/etc/conf"}, {Source: filepath.Join(dir, "link.sql"), Target: "/init/01-s.sql"},
		{Source: filepath.Join(dir, "more.sql"), Target: "/data/in/more.sql"}, {Link: "/init/01-s.sql", Target: "/seed/s.sql"}}}
	folder := "at /locbench-volume\n5 0755 \".\" \n5 0750 \"deep\" \n0 0555 \"deep/a\" one\n"
	files := "at /\n0 0400 \"init/01-s.sql\" two\n2 0777 \"seed/s.sql\" /init/01-s.sql\nat /data/in\n0 0400 \"more.sql\" three\n"
	synctest.Test(t, func(t *testing.T) {
		f := fakedocker.New()
		g := groupOf(t, f)
		g.Network.ID = fakedocker.NetworkID
		other := &Group{Engine: g.Engine, Network: g.Network, id: g.id, of: g}
		for _, in := range []*Group{other, g} {
			c, _, _, err := in.Run(t.Context(), spec)
			testenv.OK(t, err)
			testenv.Equal(t, strings.Join(c.given, " "), "/init/01-s.sql /data/in/more.sql /seed/s.sql")
			_, _ = c.Stop(t.Context(), 0)
		}
		testenv.Equal(t, puts(t, f), folder+files+files)
		made := f.Requests("POST /volumes/create")
		testenv.Need(t, len(made) == 1, "%d volumes", len(made))
		volume := g.given.volumes[filepath.Join(dir, "current")]
		var created strings.Builder
		for _, r := range f.Requests("POST /containers/create") {
			created.Write(r.Body)
		}
		testenv.Check(t, !strings.Contains(created.String(), dir) && !strings.Contains(created.String(), `"bind"`), "a path of this machine: %s", created.String())
		mounted := `{"Type":"volume","Source":"` + volume + `","Target":"/etc/conf","ReadOnly":true,"VolumeOptions":{"NoCopy":true}}`
		testenv.Equal(t, strings.Count(created.String(), mounted), 2)
		testenv.OK(t, other.Close(t.Context()))
		testenv.Check(t, !strings.Contains(strings.Join(f.Removed(), " "), volume), "another group removed %s", volume)
		testenv.OK(t, g.Close(t.Context()))
		testenv.Contains(t, strings.Join(f.Removed(), " "), volume)
	})
}

// TestGiven_Fails: what cannot be copied is named, and leaves neither a container nor a volume.
func TestGiven_Fails(t *testing.T) {
	dir := testenv.Folder(t, map[string]string{"s.sql": "two", "out/in/x": "", "conf/a": ""})
	testenv.OK(t, os.Symlink("../../s.sql", filepath.Join(dir, "out/in/link")))
	testenv.OK(t, os.Truncate(testenv.Write(t, "", dir, "huge.sql"), 8<<40))
	for source, want := range map[string]string{
		"s.sql":    "s.sql into the container: the disk of the container engine is full; free space there",
		"conf":     "conf into the container: the disk of the container engine is full; free space there",
		"none":     "none: no such file or directory",
		"out":      "out/in/link is a link out of its folder, to ../../s.sql; put a copy of that in its place",
		os.DevNull: os.DevNull + " is neither a file nor a folder",
		"huge.sql": "huge.sql into the container: " + dir + " has ",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakedocker.New()
			g := groupOf(t, f)
			g.local.Store(true)
			g.info.Root = dir
			if !filepath.IsAbs(source) {
				source = filepath.Join(dir, source)
			}
			f.Responses["PUT "+ours+"/archive"] = reply(500, `{"message":"no space left on device"}`)
			_, _, _, err := g.Run(t.Context(), ContainerSpec{Image: "img:1", Mounts: []Mount{{Source: source, Target: "/x"}}})
			testenv.Fails(t, err, want)
			testenv.Equal(t, errors.Is(err, ErrTooLarge), strings.HasSuffix(source, "huge.sql"))
			made := len(f.Requests("POST /(containers|volumes)/create"))
			testenv.Check(t, len(f.Removed()) == made && len(g.given.volumes) == 0, "%d made, removed %q", made, f.Removed())
		})
	}
}

// TestPacking: names of any bytes arrive unchanged, links keep their texts, owners are kept unless the
// engine is rootless, and a file that changes meanwhile is an error.
func TestPacking(t *testing.T) {
	long := strings.Repeat(strings.Repeat("d", 99)+"/", 3) + strings.Repeat("n", 200)
	names := []string{"-rf", ".wh.x", "...", "a\nb", "c\\d", "e\xff", "ü", "x y", long}
	files := map[string]string{}
	for _, name := range names {
		files[name] = "1"
	}
	dir := testenv.Folder(t, files)
	owner := os.Getuid()
	if os.Lchown(filepath.Join(dir, "x y"), 3_000_000, 7) == nil {
		owner = 3_000_000
	}
	testenv.OK(t, os.Symlink("/etc/../x", filepath.Join(dir, "absolute")))
	testenv.OK(t, os.Symlink(long[:99]+"/../x y", filepath.Join(dir, "link")))
	testenv.OK(t, os.Symlink("..", filepath.Join(dir, long[:99]+"/up")))
	for _, rootless := range []bool{false, true} {
		var archive bytes.Buffer
		p := packing{at: "/", left: 1 << 20, rootless: rootless}
		testenv.OK(t, p.pack(&archive, []Mount{{Source: dir, Target: "/etc/x"}}))
		got := listed(t, archive.Bytes())
		for _, name := range names {
			testenv.Contains(t, got, fmt.Sprintf("0 0400 %q 1\n", "etc/x/"+name))
		}
		testenv.Contains(t, got, `2 0777 "etc/x/absolute" /etc/../x`, `2 0777 "etc/x/link" `+long[:99]+"/../x y", "/up\" ..\n")
		for r := tar.NewReader(&archive); ; {
			h, err := r.Next()
			testenv.Need(t, err == nil, "x y is not in the archive: %v", err)
			if h.Name == "etc/x/x y" {
				want := owner
				if rootless {
					want = 0
				}
				testenv.Equal(t, h.Uid, want)
				break
			}
		}
	}
	for size, grown := range map[int64]int64{1: 2, 3: 2} {
		file := testenv.Write(t, "", dir, "changes")
		testenv.OK(t, os.Truncate(file, grown))
		p := packing{tar: tar.NewWriter(io.Discard), left: 9}
		testenv.Fails(t, p.file(file, &tar.Header{Name: "x", Typeflag: tar.TypeReg, Size: size}), "changes has changed meanwhile")
	}
}
