// Measured compares locbench with other load tools, in alternating runs on the same server, and with the build of another
// commit. "make bench" (bench_test.go) writes the results to docs/measured.json and a table of them into docs/measured.md;
// this program, "make bench-check", fails where they miss a bar of rows.go.
package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	data = "docs/measured.json"
	page = "docs/measured.md"
)

func main() {
	m, err := read(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, "make bench measures first:", err)
		os.Exit(1)
	}
	if missed := m.missed(rows()); missed != nil {
		fmt.Fprintln(os.Stderr, strings.Join(missed, "\n"))
		os.Exit(1)
	}
}
