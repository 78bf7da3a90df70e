package check

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// approxFile is a measured number, as written in a file.
type approxFile struct {
	Value  raw `yaml:"value" strict:"required"`
	Within raw `yaml:"within" strict:"required"`
}

// approx expects the number at a path, or each of several, to be near to a value.
func (e expander) approx(p jsonpath.Path, v strictyaml.Value) matcher {
	const hint = "write a number and how much it may differ, such as `{value: 3.14, within: 1%}`"
	var f approxFile
	if v.Kind() != strictyaml.Map {
		v.Wrong(hint)
	} else {
		v.Decode(&f)
	}
	if !v.Has("value") || !v.Has("within") {
		return func(*response) error { return nil }
	}
	want := e.value(v.At("value"))
	if _, ok := want.(json.Number); !ok {
		if t, isPlace := want.(template); !isPlace || len(t.parts) != 1 {
			v.At("value").Wrong(hint)
		}
	}
	text, _ := v.At("within").Text()
	number, percent := strings.CutSuffix(text, "%")
	within, ok := rational(strings.TrimSpace(number))
	if !ok || within.Sign() < 0 {
		v.At("within").Wrong("write a number such as 0.01, or a share such as 1%")
	} else if percent {
		within.Quo(within, big.NewRat(100, 1))
	}
	return atPath(p, func(r *response, got any) error {
		all, isList := got.([]any)
		if !p.Many() {
			all, isList = []any{got}, false
		}
		if isList && len(all) == 0 {
			return fmt.Errorf("%s: expected numbers, got an empty list", p.String())
		}
		wanted := resolved(want, r)
		value, known := rational(strings.Trim(fmt.Sprint(wanted), `"`))
		if !known {
			return fmt.Errorf("%s: expected a number near %s, which is not a number", p.String(), shownAt(p, wanted))
		}
		most := within
		if percent {
			most = new(big.Rat).Mul(within, new(big.Rat).Abs(value))
		}
		for _, one := range all {
			n, isNumber := one.(json.Number)
			if isNumber {
				got, _ := rational(n.String())
				isNumber = got != nil && new(big.Rat).Abs(got.Sub(got, value)).Cmp(most) <= 0
			}
			if !isNumber {
				return fmt.Errorf("%s: expected %s within %s, got %s", p.String(), shownAt(p, wanted), text, shownAt(p, one))
			}
		}
		return nil
	})
}

// rational reads a JSON number within the bounds of a document.
func rational(text string) (*big.Rat, bool) {
	if !jsonpath.IsNumber(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// resolved fills in a value that may be a template.
func resolved(want any, r *response) any {
	if t, ok := want.(template); ok {
		return t.value(r)
	}
	return want
}
