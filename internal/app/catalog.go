package app

import (
	"slices"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
	"locbench/services"
)

// Discover finds the bundled contenders and those in dirs, which replace bundled ones of the same
// name.
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

// DiscoverFor is Discover for certain contenders: others with invalid manifests are skipped, and
// reported in left.
func DiscoverFor(dirs []string, selected []bench.Selection) (all []bench.Service, left []string, err error) {
	all, err = Discover(dirs)
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

// Find returns the selected contender with its variant, or the default one, applied.
func Find(all []bench.Service, sel bench.Selection) (bench.Service, error) {
	svc, err := contender.Find(all, sel.Contender)
	if err != nil {
		return svc, err
	}
	return contender.Resolve(svc, sel.Variant)
}
