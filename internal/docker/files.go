package docker

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Files is what a volume has.
type Files struct {
	Bytes int64
	Hash  string // of names, owners, rights and contents, in the order of names
}

// filesOf reads a tar archive of one folder to its end and describes the files. The hash depends on
// names below the folder, kinds, rights, owners, extended attributes and contents, not on times or
// the order in the archive.
func filesOf(archive io.Reader) (f Files, err error) {
	type entry struct{ name, text string }
	var all []entry
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && h.Typeflag != tar.TypeDir && !strings.Contains(strings.Trim(h.Name, "/"), "/") { // the files are elsewhere
			err = fmt.Errorf("the image has a link or a file at /%s; remove it from the image", volumeAt)
		}
		if err != nil {
			return f, err
		}
		content := sha256.New()
		size, err := io.Copy(content, r)
		if err != nil {
			return f, err
		}
		f.Bytes += size
		_, name, _ := strings.Cut(strings.TrimPrefix(h.Name, "/"), "/")
		link := h.Linkname
		if h.Typeflag == tar.TypeLink {
			_, link, _ = strings.Cut(strings.TrimPrefix(link, "/"), "/")
		}
		text := fmt.Sprintf("%q %c %o %d:%d %q %d,%d %x", name, h.Typeflag, h.Mode, h.Uid, h.Gid, link,
			h.Devmajor, h.Devminor, content.Sum(nil))
		for _, key := range slices.Sorted(maps.Keys(h.PAXRecords)) {
			if strings.HasPrefix(key, "SCHILY.xattr.") {
				text += fmt.Sprintf(" %q=%q", key, h.PAXRecords[key])
			}
		}
		all = append(all, entry{name, text})
	}
	if _, err := io.Copy(io.Discard, archive); err != nil { // the padding, which the engine has sent too
		return f, err
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	hash := sha256.New()
	for _, e := range all {
		fmt.Fprintln(hash, e.text)
	}
	f.Hash = hex.EncodeToString(hash.Sum(nil))
	return f, nil
}
