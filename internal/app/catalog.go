package app

import (
	"fmt"
	"os"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/services"
)

// Discover finds the bundled contenders and those in dirs, which replace bundled ones of the same
// name. Folders of yielding do so to others with a contender of the same name.
func Discover(dirs []string, yielding ...string) ([]bench.Service, error) {
	bundled, err := contender.Unpack(services.Packed)
	if err != nil {
		return nil, err
	}
	sources := []contender.Source{{FS: bundled, Name: "services", Bundled: true}}
	for _, d := range dirs {
		source := contender.Folder(d)
		source.Yielding = yielding
		sources = append(sources, source)
	}
	return contender.Discover(sources...)
}

// DiscoverFor is Discover for certain contenders: others with invalid manifests are skipped, and
// reported in left.
func DiscoverFor(
	dirs []string, selected []bench.Selection, yielding ...string,
) (all []bench.Service, left []string, err error) {
	all, err = Discover(dirs, yielding...)
	unreadable, rest := contender.SplitUnreadable(err)
	if rest != nil {
		return nil, nil, console.WithCode(console.ExitUsage, err)
	}
	for _, u := range unreadable {
		// A contender of the same name from another folder is not meant.
		meant := func(sel bench.Selection) bool {
			_, err := contender.Find(all, sel.Contender)
			return sel.Contender == u.Folder || err != nil
		}
		if slices.ContainsFunc(selected, meant) {
			return nil, nil, console.WithCode(console.ExitUsage, err)
		}
		left = append(left, "skipped: invalid manifest: "+safe.Line(u.Error(), 1000))
	}
	return all, left, nil
}

// findSet returns the contender that the settings change, changed. A name that the profile gives
// is that of the variant that is built.
func findSet(all []bench.Service, s bench.Settings) (bench.Service, error) {
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			return bench.Service{}, fmt.Errorf("contender %s: dir %s was not found", s, safe.Line(s.Dir, 300))
		}
		var err error
		if all, err = contender.Discover(contender.Folder(s.Dir)); err != nil {
			return bench.Service{}, fmt.Errorf("contender %s: %w", s, err)
		}
	}
	base := s.InManifest()
	svc, err := contender.Find(all, base.Contender)
	if err != nil {
		if s.Dir != "" {
			err = fmt.Errorf("%w in %s", err, safe.Line(s.Dir, 300))
		}
		return svc, err
	}
	if s.Base != nil && slices.ContainsFunc(svc.Variants, func(v bench.Variant) bool { return v.Name == s.Variant }) {
		return svc, fmt.Errorf("contender %s: `as: %s` is a variant of its manifest: choose another name", base, s.Variant)
	}
	if svc, err = contender.Resolve(svc, base.Variant); err != nil {
		return svc, err
	}
	return contender.WithSettings(svc, s)
}
