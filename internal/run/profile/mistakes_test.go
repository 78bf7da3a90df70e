package profile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// TestMistakes: each testdata/mistakes/*/p.yaml has several profiles. The mistakes of one are at its
// end, in lines with "#>"; a profile without them is fine. The flag -update writes these lines.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*/p.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
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

// TestParse: the profiles in testdata/read/*/*.yaml are read as in the .json next to them.
func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*/*.yaml")
	testenv.Need(t, err == nil && len(files) != 0, "no testdata: %v", err)
	here, err := os.Getwd()
	testenv.OK(t, err)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data, err := os.ReadFile(file)
			testenv.OK(t, err)
			var all []bench.Profile
			for _, text := range strings.Split(string(data), "\n---\n")[1:] { // the first has only the title
				p, err := profile.Parse(file, []byte(text+"\n"))
				testenv.OK(t, err)
				roundTrip(t, p)
				all = append(all, p)
			}
			got, err := json.MarshalIndent(all, "", "  ")
			testenv.OK(t, err)
			text := strings.ReplaceAll(string(got), here+"/", "")
			testenv.Golden(t, strings.TrimSuffix(file, ".yaml")+".json", text+"\n")
		})
	}
}
