package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// needFiles returns the files and folders of all needs, with their hashes.
func needFiles(all []bench.NeedSpec) (parts []bench.NeedPart, err error) {
	for _, n := range all {
		for _, f := range filesOf(n) {
			part := bench.NeedPart{Need: n.Label(), Key: f.Key, File: f.Path}
			if f.Built {
				part.Hash, err = contender.NeedHash(f.Path)
			} else {
				part.Hash, err = contentHash(f.Path, maxHashed)
			}
			if err != nil {
				return nil, console.Usagef("need %s: %s: %w", safe.Line(n.Label(), 120), f.Key, err)
			}
			parts = append(parts, part)
		}
	}
	return parts, nil
}

func filesOf(n bench.NeedSpec) []needs.File {
	if k, ok := kinds.Of(n.Kind); ok && k.Files != nil && !n.From.Traits().None {
		return k.Files(n)
	}
	return nil
}

// maxHashed is how many bytes of a folder count by their content. More of it counts by sizes and
// times of files, since a dump can have any size.
const maxHashed = 1 << 30

// contentHash returns the hash of a file, or of the names, rights and contents of a folder.
func contentHash(root string, most int64) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path) // the file that a container finds there
		if path != root && d.Type()&fs.ModeSymlink != 0 {
			info, err = d.Info()
		}
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path) // path is below
		fmt.Fprintf(sum, "%q %v\n", filepath.ToSlash(name), info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			fmt.Fprintf(sum, "%q\n", link)
			return err
		case !info.Mode().IsRegular():
			return nil
		}
		if most -= info.Size(); most < 0 {
			fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
			return nil
		}
		f, err := safe.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(sum, f)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// changedParts returns an error if parts of needs are not those on record. Of images only those
// count that both know: the record has them from their first use on.
func changedParts(was, is []bench.NeedPart, dir string) error {
	of := func(all []bench.NeedPart, p bench.NeedPart) (found bench.NeedPart, ok bool) {
		i := slices.IndexFunc(all, func(q bench.NeedPart) bool { return q.Need == p.Need && q.Key == p.Key })
		if i < 0 {
			return found, false
		}
		return all[i], true
	}
	var changed []string
	for _, p := range is {
		before, known := of(was, p)
		switch {
		case !known && p.Image != "", known && before.Hash == p.Hash:
		case !known:
			changed = append(changed, fmt.Sprintf("%s of need %s is not on record", safe.Line(p.Name(), 120), safe.Line(p.Need, 120)))
		default:
			changed = append(changed, fmt.Sprintf("%s of need %s changed (%s: %s, now %s)", safe.Line(p.Name(), 120),
				safe.Line(p.Need, 120), safe.Line(p.Key, 60), shortID(before.Hash), shortID(p.Hash)))
		}
	}
	if changed == nil {
		return nil
	}
	return console.Usagef("cannot resume: %s since %s started. Restore it, or start a new run",
		strings.Join(changed, "; "), safe.Line(dir, 300))
}

// withinFolders returns an error if a need on record uses a file outside of the folders that a
// profile and manifests may name files of: its record may come from another person. The folder of
// the profile counts if it still has one.
func withinFolders(run bench.Run, services map[bench.Selection]bench.Service, allowed []string) error {
	for _, n := range run.Profile.Needs {
		for _, f := range filesOf(n) {
			if _, err := os.Stat(f.Path); err != nil {
				return console.Usagef("cannot resume: need %s: %s: %w", safe.Line(n.Label(), 120), f.Key, err)
			}
		}
	}
	folders := slices.Clone(allowed)
	if dir := profileFolder(run.ProfileFile, allowed); dir != "" {
		folders = append(folders, dir)
	}
	for _, sel := range run.Profile.Contenders {
		if dir := services[sel].Dir; filepath.IsAbs(dir) {
			folders = append(folders, dir)
		}
	}
	for _, n := range run.Profile.Needs {
		for _, f := range filesOf(n) {
			if filepath.IsAbs(f.Path) && safe.Within(f.Path, folders...) {
				continue
			}
			hint := "start a new run"
			if option := strictyaml.AllowOption(f.Path); option != "" {
				hint = "allow its folder if you trust this run: " + option
			}
			return console.Usagef("cannot resume: need %s uses %s, which is outside of the folder of its profile (%s); %s",
				safe.Line(n.Label(), 120), safe.Line(f.Path, 300), cmp.Or(safe.Line(run.ProfileFile, 300), "none on record"), hint)
		}
	}
	return nil
}

// profileFolder returns the folder of the file of a profile; "" if it has no valid one.
func profileFolder(file string, allowed []string) string {
	if !filepath.IsAbs(file) {
		return ""
	}
	text, err := strictyaml.ReadFile(file)
	if err == nil {
		_, err = profile.Parse(file, text, allowed...)
	}
	if err != nil {
		return ""
	}
	return filepath.Dir(file)
}
