package setup

import "locbench/internal/bench"

// option is one of the values of a choice.
type option struct {
	value, help string
	faulty      bool
}

// options of a choice; nil for fields that are none.
func (s *Screen) options(f id) []option {
	switch f {
	case fieldProfile:
		var out []option
		for _, p := range s.profiles {
			if p.Err != nil {
				out = append(out, option{p.Name, text(p.Err), true})
				continue
			}
			out = append(out, option{value: p.Name, help: p.Title})
		}
		return out
	case fieldRuntime:
		var out []option
		for _, r := range bench.Runtimes() {
			out = append(out, option{value: r, help: bench.Runtime(r).Traits().Help})
		}
		return out
	case fieldStore:
		var out []option
		for _, kind := range bench.StoreKinds() {
			if t := bench.StoreKind(kind).Traits(); !t.None || s.storeKind().Traits().None {
				out = append(out, option{value: kind, help: t.Help})
			}
		}
		return out
	case fieldData:
		return []option{
			{value: dataBundled, help: "14,945 real cities of five countries"},
			{value: dataGenerated, help: "as many made-up cities as wanted"},
			{value: dataDump, help: "a folder of your own"},
		}
	}
	return nil
}
