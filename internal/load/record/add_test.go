package record

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

// A field that Add forgets would be a silent mistake: each field set in one value must be in the
// sum, for one slice and for two.
func TestAddForgetsNoField(t *testing.T) {
	open := bench.Step{Rate: 1}
	names := []string{"one", "two"}
	for name, test := range map[string]struct {
		sum, one any
		add      func()
	}{
		"counts":    sums(func(to, o *Counts) { to.Add(*o) }, Counts{}, Counts{}),
		"gauges":    sums(func(to, o *Gauges) { to.Add(*o) }, Gauges{}, Gauges{}),
		"statuses":  sums(func(to, o *StatusTally) { to.Add(*o) }, StatusTally(nil), StatusTally(nil)),
		"session":   sums(func(to, o *SessionTally) { to.Add(o) }, SessionTally{}, SessionTally{}),
		"request":   sums(func(to, o *RequestTally) { to.Add(o) }, RequestTally{}, RequestTally{}),
		"breakdown": sums(func(to, o *Breakdown) { to.Add(*o) }, newBreakdown(2, 2), newBreakdown(2, 2)),
		"tally":     sums(func(to, o *Tally) { to.Add(o) }, *newTally(true), *newTally(true)),
		"totals":    sums(func(to, o *Totals) { to.Add(o) }, newResult(open, names, names).Totals, newResult(open, names, names).Totals),
	} {
		t.Run(name, func(t *testing.T) {
			fill(t, reflect.ValueOf(test.one).Elem(), name)
			for range 2 {
				test.add()
				left := missing(reflect.ValueOf(test.sum).Elem(), name)
				testenv.Check(t, len(left) <= 0, "forgotten: %q", left)
			}
		})
	}
}

// sums has two values of a type, one of which is added to the other.
func sums[T any](add func(to, o *T), to, o T) struct {
	sum, one any
	add      func()
} {
	return struct {
		sum, one any
		add      func()
	}{&to, &o, func() { add(&to, &o) }}
}

// fill sets everything in v.
func fill(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if h, ok := v.Interface().(*hdr.Histogram); ok {
		if h == nil {
			h = hdr.New()
			v.Set(reflect.ValueOf(h))
		}
		h.Record(time.Millisecond)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		fill(t, v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(t, v.Index(i), fmt.Sprint(path, i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value, path)
		key := reflect.New(v.Type().Key()).Elem()
		fill(t, key, path)
		v.SetMapIndex(key, value)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.String:
		v.SetString("x")
	default:
		t.Fatalf("%s: what to set in a %s?", path, v.Kind())
	}
}

// ofSnapshot are the fields of a window that a tally does not have.
var ofSnapshot = []string{"Start", "Length", "P50", "P90", "P99", "Max", "Rate"}

// missing returns the paths of what is still empty in v.
func missing(v reflect.Value, path string) (paths []string) {
	if h, ok := v.Interface().(*hdr.Histogram); ok {
		if h == nil || h.Count() == 0 {
			return []string{path}
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if _, ok := v.Interface().(bench.Window); ok && slices.Contains(ofSnapshot, v.Type().Field(i).Name) {
				continue
			}
			paths = slices.Concat(paths, missing(v.Field(i), path+"."+v.Type().Field(i).Name))
		}
	case reflect.Pointer:
		return missing(v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{path}
		}
		for i := range v.Len() {
			paths = slices.Concat(paths, missing(v.Index(i), fmt.Sprint(path, i)))
		}
	case reflect.Map:
		if v.Len() == 0 {
			return []string{path}
		}
	case reflect.String:
		if v.String() != "x" { // the loop has a name from the beginning
			return []string{path}
		}
	case reflect.Int, reflect.Int64:
		if v.Int() <= 0 {
			return []string{path}
		}
	default:
		if v.IsZero() {
			return []string{path}
		}
	}
	return paths
}
