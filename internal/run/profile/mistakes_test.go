package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// TestMistakes: each testdata/mistakes/*/p.yaml has several profiles. The mistakes of one are at its
// end, in lines with "#>"; a profile without them is fine. The flag -update writes these lines.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*/p.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	here, err := os.Getwd()
	testenv.OK(t, err)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data, err := os.ReadFile(file)
			testenv.OK(t, err)
			profiles := strings.Split(string(data), "\n---\n")
			for i, text := range profiles[1:] { // the first has only the title
				text, _, _ = strings.Cut(text, "\n#> ")
				text = strings.TrimSuffix(text, "\n")
				_, err := profile.Parse(file, []byte(text+"\n"))
				if all, ok := errors.AsType[strictyaml.Mistakes](err); ok {
					for _, m := range strings.Split(all.Error(), "\n") {
						m = strings.ReplaceAll(m, here+"/", "")
						text += "\n#> " + strings.ReplaceAll(m, filepath.Dir(file)+"/", "")
					}
				} else if err != nil {
					t.Errorf("no mistakes, but %v in\n%s", err, text)
				}
				profiles[1+i] = text
			}
			testenv.Golden(t, file, strings.Join(profiles, "\n---\n")+"\n")
		})
	}
}
