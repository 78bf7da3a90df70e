package report

import (
	"io"
	"testing"
)

func BenchmarkHTML(b *testing.B) {
	run, legs := fixture()
	for b.Loop() {
		if err := HTML(io.Discard, run, legs, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
