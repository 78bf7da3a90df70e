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
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// addressOption returns the name of the option with the URL of a need.
func addressOption(n bench.NeedSpec) string {
	if n.Kind == kinds.ByURL.Kind {
		return kinds.ByURL.AddressOption
	}
	return ""
}

// urlsOf returns the URLs of the needs of a profile, by their names.
func urlsOf(p bench.Profile) map[string]string {
	all := map[string]string{}
	for _, n := range p.Needs {
		all[n.Name] = n.URL
	}
	return all
}

// usersUnsaved returns the names of the needs whose users come from the environment.
func usersUnsaved(p bench.Profile, given profile.Changes) (all []string) {
	for _, n := range p.Needs {
		address := given.Text(addressOption(n))
		if len(bench.EnvNames(address)) > 0 && strings.Contains(address, "@") {
			all = append(all, n.Name)
		}
	}
	return all
}

// resumedNeeds gives the needs of a run on record the URLs of the command line.
func resumedNeeds(run *bench.Run, o RunOptions) (err error) {
	k := kinds.ByURL
	i := slices.IndexFunc(run.Profile.Needs, func(n bench.NeedSpec) bool { return n.Kind == k.Kind && n.From.Traits().ByURL })
	given := o.Changes.Text(k.AddressOption)
	switch {
	case given != "" && i < 0:
		return console.Usagef("this run has no external need %s: omit --%s", k.Kind, k.AddressOption)
	case given != "":
		run.Profile.Needs[i].URL, err = needs.URL(k.AddressOption, given, o.Getenv)
	case i >= 0 && slices.Contains(run.UserUnsaved, run.Profile.Needs[i].Name):
		n := run.Profile.Needs[i]
		return console.Usagef("the user of %s came from the environment and was not saved; pass it again: --%s '%s'",
			n.Name, k.AddressOption, strings.Replace(n.URL, "://", "://${USER_NAME}:${PASSWORD}@", 1))
	}
	return err
}

// joinNeeds adds the needs of the manifests of contenders to those of the profile, which has the
// name file. It warns of needs of one name that are not written alike.
func joinNeeds(run *bench.Run, file string, services map[bench.Selection]bench.Service) (err error) {
	run.Profile, err = profile.WithManifests(run.Profile, file, func(sel bench.Selection) (bench.Service, bool) {
		return services[sel], services[sel].URL == ""
	})
	if err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	all := run.Profile.Needs
	for i, n := range all {
		first := slices.IndexFunc(all, func(other bench.NeedSpec) bool { return other.Name == n.Name })
		if first < i && all[first].Of.String() != n.Of.String() {
			run.Warnings.Add(verdict.OwnNeeds(all[first], n))
		}
	}
	return nil
}

// withNeeds returns a profile with the needs of manifests, where they can be found.
func withNeeds(p bench.Profile, o RunOptions) (bench.Profile, error) {
	run := bench.Run{Profile: p}
	var err error
	if run.Services, err = serviceFolders(o, p); err != nil {
		return p, nil //nolint:nilerr // a run reports it
	}
	services, err := servicesOf(&run, o.Services)
	if err != nil {
		return p, nil //nolint:nilerr // a run reports it
	}
	err = joinNeeds(&run, o.Profile, services)
	return run.Profile, err
}

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
