package profile

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
	"github.com/locbench/locbench/internal/values"
)

const (
	maxItems     = 100_000
	stringLength = 16
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var generators = []string{
	string(bench.GenerateUUID), string(bench.GenerateNow), string(bench.GenerateUnix), string(bench.GenerateSequence),
	string(bench.GenerateString),
}

// readVariables reads `name: uuid` and `name: {from: 1, to: 100}`.
func readVariables(v strictyaml.Value, all *[]bench.Variable) {
	if v.Kind() != strictyaml.Map {
		v.Wrong("write names and their values, such as `{item: {from: 1, to: 10000}, key: uuid}`")
	}
	for _, f := range v.Fields() {
		one := bench.Variable{Name: f.Key}
		if f.Value.Kind() == strictyaml.Scalar {
			text, _ := f.Value.Enum(generators...)
			if one.Make = bench.Generator(text); one.Make == bench.GenerateString {
				one.Length = stringLength
			}
		} else {
			readVariable(f.Value, &one)
		}
		*all = append(*all, one) // also one with a mistake: requests may have its places
	}
}

func readVariable(v strictyaml.Value, one *bench.Variable) {
	var ends struct {
		From *int64 `yaml:"from"`
		To   *int64 `yaml:"to"`
	}
	v.Struct(&ends, one)
	switch {
	case (ends.From == nil) != (ends.To == nil):
		v.Mistake("a range has one end", "write both, such as `{from: 1, to: 10000}`")
	case ends.From != nil:
		one.Range = &bench.Range{From: *ends.From, To: *ends.To}
	}
	if one.Length != 0 {
		one.Make = bench.GenerateString
	} else {
		one.Draw = cmp.Or(one.Draw, bench.DrawRandom)
	}
	if one.Draw == bench.DrawZipf && one.Exponent == 0 {
		one.Exponent = defaultExponent
	}
}

// variables reports the mistakes in the variables of p.
func (r *rules) variables(p *bench.Profile) {
	uses := values.Uses(p.Every())
	for i, v := range p.Variables {
		at := "variables." + v.Name
		r.when(!variableName.MatchString(v.Name), at, fmt.Sprintf("%q is not the name of a variable", v.Name),
			"write letters, digits and `_`; the first is not a digit")
		r.when(slices.ContainsFunc(p.Variables[:i], func(o bench.Variable) bool { return o.Name == v.Name }), at,
			fmt.Sprintf("duplicate variable %q", v.Name), "give each its own name")
		r.bounds(at+".", &v)
		r.source(at, v)
		// Different columns, or a row, of one file that are drawn the same way may be meant to be of one row.
		if k := slices.IndexFunc(p.Variables[i+1:], func(o bench.Variable) bool {
			return v.File != "" && o.File == v.File && o.Column != v.Column && o.Draw == v.Draw && o.Exponent == v.Exponent
		}); k >= 0 {
			other, file := p.Variables[i+1+k], filepath.Base(v.File)
			r.when(true, at, fmt.Sprintf("%q and %q are of %s, but it is unclear whether of one row", v.Name, other.Name, file),
				fmt.Sprintf("write a row, `%s: {file: %s}`, and its columns where they are used: `{%s.%s}`", v.Name, file, v.Name,
					cmp.Or(v.Column, other.Column)))
		}
		for _, name := range slices.Sorted(maps.Keys(uses)) {
			if of, column := values.Column(name); of == v.Name {
				r.fits(at, v, column, uses[name])
			}
		}
	}
}

// source reports a variable without a source, with several, or with one that does not fit `draw`.
func (r *rules) source(at string, v bench.Variable) {
	sources := 0
	for _, is := range []bool{v.Range != nil, len(v.List) > 0, v.File != "", v.Make != ""} {
		if is {
			sources++
		}
	}
	r.when(sources != 1, at, fmt.Sprintf("variable %q has %d sources", v.Name, sources),
		"write one: `{from: 1, to: 100}`, `{list: [a, b]}`, `{file: users.csv, column: name}`, uuid, now, unix, sequence, "+
			"string, or `{string: 12}`")
	r.when(v.Range != nil && v.Range.From > v.Range.To, at, "the range is empty", "write a `to` of at least `from`")
	r.when(v.Column != "" && v.File == "", at+".column", "a column without a file", "add `file: users.csv`")
	r.when(len(v.List) > maxItems, at+".list", "the list is too long",
		fmt.Sprintf("write at most %d items, or a file", maxItems))
	if v.Make != "" {
		r.when(v.Draw != "", at+".draw", string(v.Make)+" is not drawn", "remove `draw`")
		return
	}
	r.when(v.Draw != bench.DrawZipf && v.Exponent != 0, at+".exponent",
		"an exponent is given, but values are drawn "+string(v.Draw), "write `draw: zipf` or remove the exponent")
	if v.Draw == bench.DrawZipf && !(v.Exponent > 1 && v.Exponent <= 10) {
		r.wrong(at+".exponent", v.Exponent, "write a number above 1, up to 10")
	}
}

// fits reports known values that do not fit where they are used, and files that cannot be read.
func (r *rules) fits(at string, v bench.Variable, column string, use values.Use) {
	row := v.File != "" && v.Column == ""
	list := row && column == "" && values.IsJSONFile(v.File)
	r.when(column != "" && !row, at, fmt.Sprintf("`{%s.%s}` names a column, but the variable is not a row of a file",
		v.Name, column), "leave `."+column+"` out, or write `{file: users.csv}` without a column")
	r.when(column == "" && row && !list, at, fmt.Sprintf("variable %q is a whole row of %s", v.Name, filepath.Base(v.File)),
		fmt.Sprintf("write a `column` here, or name one where it is used: `{%s.name}`", v.Name))
	for _, item := range v.List {
		if err := use.Fits([]byte(item)); err != nil {
			r.when(true, at+".list", err.Error(), "")
			break
		}
	}
	text := v.Make != "" && v.Make != bench.GenerateSequence && v.Make != bench.GenerateUnix
	r.when(text && (use.Number || use.JSON), at, string(v.Make)+" is text, but JSON uses it with a type",
		"leave `:number` or `:json` out")
	if column = cmp.Or(v.Column, column); v.File != "" && (column != "" || list) {
		if err := values.CheckFile(v, column, use); err != nil {
			r.when(true, at+".file", err.Error(), "")
		}
	}
}
