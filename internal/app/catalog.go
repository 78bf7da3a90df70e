package app

import (
	"slices"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/services"
)

// Discover finds the contenders that come with locbench and those in dirs; the latter take the
// place of namesakes.
func Discover(dirs []string) ([]bench.Service, error) {
	sources := []contender.Source{{FS: services.FS, Name: "services", Bundled: true}}
	modules, err := contender.Unpack(services.Modules)
	if err != nil {
		return nil, err
	}
	if modules != nil {
		sources = append(sources, contender.Source{FS: modules, Name: "services", Bundled: true})
	}
	for _, d := range dirs {
		sources = append(sources, contender.Folder(d))
	}
	return contender.Discover(sources...)
}

// DiscoverFor returns Discover for who wants certain contenders: others whose manifests are of no use
// are left out, and reported in left.
func DiscoverFor(dirs []string, wanted []bench.Selection) (all []bench.Service, left []string, err error) {
	all, err = Discover(dirs)
	unreadable, rest := contender.SplitUnreadable(err)
	if rest != nil {
		return nil, nil, console.WithCode(console.ExitUsage, err)
	}
	for _, u := range unreadable {
		// A namesake from elsewhere is not what is meant.
		meant := func(sel bench.Selection) bool {
			_, err := contender.Find(all, sel.Contender)
			return sel.Contender == u.Folder || err != nil
		}
		if slices.ContainsFunc(wanted, meant) {
			return nil, nil, console.WithCode(console.ExitUsage, err)
		}
		left = append(left, "skipped: invalid manifest: "+safe.Line(u.Error(), 1000))
	}
	return all, left, nil
}

// Find resolves what a selection names: its variant, or the default one, applied.
func Find(all []bench.Service, sel bench.Selection) (bench.Service, error) {
	svc, err := contender.Find(all, sel.Contender)
	if err != nil {
		return svc, err
	}
	return contender.Resolve(svc, sel.Variant)
}
