package contender

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	maxFiles       = 50_000  // files in a contender's folder
	maxContextSize = 1 << 30 // bytes
	hashDigits     = 12      // hex digits of the hashes in names of builds
)

// sources returns the files that a contender is built from (see listFiles).
func sources(svc bench.Service, keep ...string) ([]entry, error) {
	if svc.Files == nil {
		return nil, errors.New("only its manifest is available, not its folder")
	}
	list, err := listFiles(svc.Files, keep...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", svc.Dir, err)
	}
	return list, nil
}

// entry is one file of a build context.
type entry struct {
	name string
	mode fs.FileMode
	size int64
	link string // target of a symbolic link
}

// perm returns the mode of a copy of the file. Only the x bit matters to a build.
func (e entry) perm() fs.FileMode {
	if e.mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// listFiles walks the folder in a fixed order and leaves out what its .dockerignore says, or that
// of a file in keep. The files in keep always stay. It lists links, and leaves out sockets and devices.
func listFiles(fsys fs.FS, keep ...string) ([]entry, error) {
	skip, err := readIgnore(fsys, keep...)
	if err != nil {
		return nil, err
	}
	var list []entry
	var total int64
	visit := func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		ignored, err := skip.ignored(name, d.IsDir())
		if err != nil {
			return err
		}
		// The engine's classic builder would apply it.
		ignored = ignored || name == ignoreName && skip.name != ignoreName
		if ignored && !slices.Contains(keep, name) {
			below := func(k string) bool { return strings.HasPrefix(k, name+"/") }
			if d.IsDir() && !skip.Exclusions() && !slices.ContainsFunc(keep, below) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{name: name, mode: info.Mode()}
		switch {
		case d.IsDir():
		case info.Mode()&fs.ModeSymlink != 0:
			if e.link, err = fs.ReadLink(fsys, name); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			e.size = info.Size()
			if e.mode&0o111 == 0 && isScript(fsys, name) {
				e.mode |= 0o111 // files embedded in a binary have lost their x bit
			}
		default:
			return nil
		}
		list = append(list, e)
		if total += e.size; len(list) > maxFiles || total > maxContextSize {
			return fmt.Errorf("the folder has more than %d files or %d MiB; "+
				"exclude what is not a source with a .dockerignore", maxFiles, maxContextSize>>20)
		}
		return nil
	}
	return list, fs.WalkDir(fsys, ".", visit)
}

func isScript(fsys fs.FS, name string) bool {
	f, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	n, _ := io.ReadFull(f, head[:])
	return string(head[:n]) == "#!"
}

// packedTime returns the time of every file of a build context. It is not 0, which Java's
// File.lastModified also returns for a missing file, so Maven would not copy it. It is not before
// 1980 in any time zone, which zip files cannot hold. It is in the past, so build output is newer.
func packedTime() time.Time { return time.Date(1980, 1, 2, 0, 0, 0, 0, time.UTC) }

// writeTar writes the entries without owners and with one time: equal files give equal bytes.
func writeTar(w io.Writer, fsys fs.FS, list []entry) error {
	tw := tar.NewWriter(w)
	for _, e := range list {
		h := &tar.Header{Name: e.name, ModTime: packedTime(), Format: tar.FormatPAX, Size: e.size}
		h.Typeflag, h.Mode = tar.TypeReg, int64(e.perm())
		switch {
		case e.mode.IsDir():
			h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o755, e.name+"/"
		case e.link != "":
			h.Typeflag, h.Mode, h.Linkname = tar.TypeSymlink, 0o777, e.link
		}
		err := tw.WriteHeader(h)
		if err == nil && h.Typeflag == tar.TypeReg {
			err = copyFile(tw, fsys, e)
		}
		if err != nil {
			return fmt.Errorf("pack %s: %w", e.name, err)
		}
	}
	return tw.Close()
}

func copyFile(w io.Writer, fsys fs.FS, e entry) error {
	f, err := fsys.Open(e.name)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(w, io.LimitReader(f, e.size))
	if err == nil && n != e.size {
		err = errors.New("the file changed while it was read")
	}
	return err
}

// hashOf returns a hash of the texts and the content.
func hashOf(texts []string, content func(io.Writer) error) (string, error) {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	err := content(h)
	return hex.EncodeToString(h.Sum(nil))[:hashDigits], err
}

// keyValues returns the entries of m as KEY=VALUE, sorted, for a hash.
func keyValues(m map[string]string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return out
}

const maxHashed = 64 << 20 // the most bytes of one source file

// SourceHash returns a hash of a contender's sources, which is the same for a checkout, another
// folder and the binary. It covers the files of a build and the manifest, without those that
// .dockerignore leaves out, descriptions, .gitignore and .git.
func SourceHash(svc bench.Service) (string, error) {
	list, err := sources(svc, ManifestName, "Dockerfile")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range list {
		if e.mode.IsDir() || noSource(e.name) {
			continue
		}
		if e.size > maxHashed {
			return "", fmt.Errorf("%s is too large for a source", e.name)
		}
		fmt.Fprintf(h, "%d:%s%d:%s%d:", len(e.name), e.name, len(e.link), e.link, e.size)
		if e.link == "" {
			if err := copyFile(h, svc.Files, e); err != nil {
				return "", fmt.Errorf("read %s: %w", e.name, err)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func noSource(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".md") || base == ".gitignore" || base == "rustfmt.toml" ||
		name == ".git" || strings.HasPrefix(name, ".git/") // a folder, or the file of a worktree
}
