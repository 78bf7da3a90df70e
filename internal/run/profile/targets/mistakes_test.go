package targets

import (
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestMistakes: all mistakes of a file, most of them of vegeta's users, are reported at once. The
// file testdata/mistakes.txt has several target files, each with its name, its text, and its
// mistakes in lines with "#>". The flag -update writes these lines.
func TestMistakes(t *testing.T) {
	data, err := os.ReadFile("testdata/mistakes.txt")
	testenv.OK(t, err)
	golden, err := os.Getwd()
	testenv.OK(t, err)
	inFolder(t)
	var all []string
	for _, one := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n---\n") {
		one, _, _ = strings.Cut(one, "\n#> ")
		_, text, _ := strings.Cut(one, "\n")
		_, err := Parse("load/t.txt", "t.txt", []byte(text+"\n"))
		if err == nil {
			t.Errorf("no mistake in %s", one)
			continue
		}
		all = append(all, one+"\n#> "+strings.ReplaceAll(err.Error(), "\n", "\n#> "))
	}
	testenv.Golden(t, golden+"/testdata/mistakes.txt", strings.Join(all, "\n---\n")+"\n")
	const get = "GET http://h/a\n"
	for in, want := range map[string]string{
		"\ufeff" + get:      "t.txt:1: a byte order mark, which vegeta takes for a part of the first method; save the file without it",
		get + "X-A: \xe9\n": "t.txt:2: not UTF-8; write the file in UTF-8",
		get + "X-A: " + strings.Repeat("x", 64<<10): "t.txt:2: a line of 64 KiB or more, at which vegeta ends; shorten it, or use the JSON format",
	} {
		testenv.Fails(t, testenv.Err(Parse("load/t.txt", "t.txt", []byte(in))), want)
	}
}
