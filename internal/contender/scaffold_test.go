package contender_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

func TestScaffold(t *testing.T) {
	yes := true
	template := bench.Service{
		Name: "rs-web", Dir: "services/rs-web", Variants: []bench.Variant{{Name: "builtin", Builtin: &yes}},
		Files: fstest.MapFS{
			"service.yaml": {Data: []byte("name: rs-web\nlanguage: Rust\nframework: rs-website\nversion: \"1\"\nendpoints: [get]\ndocker: {dockerfile: Dockerfile}\nvariants:\n  - name: builtin\n    builtin: true\n\nport: 81\n")},
			"Dockerfile":   {Data: []byte("COPY rs-web /rs-web\nRUN x-rs-web rs_web")}, "src/rs-web/a.rs": {Data: []byte("use rs_web::a;")},
			".dockerignore": {Data: []byte("target\nservice.yaml\n")}, "target/out": {}, "logo": {Data: []byte("\xff rs-web")}, "run": {Data: []byte("#!/bin/sh\n")},
			"Cargo.lock": {Data: []byte("version = 4\n\n[[package]]\nname = \"b\"\nversion = \"1\"\n\n[[package]]\nname = \"rs-web\"\nversion = \"1\"\n")},
		},
	}
	parent := filepath.Join(t.TempDir(), "new", "ones")
	svc, err := contender.Scaffold(template, "a-mine", parent)
	testenv.OK(t, err)
	if svc.Name != "a-mine" || len(svc.Variants) != 0 || svc.Port != 81 || svc.Framework != "rs-website" {
		t.Errorf("%+v", svc)
	}
	for name, want := range map[string]string{
		"Dockerfile": "COPY a-mine /a-mine\nRUN x-rs-web a_mine", "src/a-mine/a.rs": "use a_mine::a;", "logo": "\xff rs-web",
		"Cargo.lock": "version = 4\n\n[[package]]\nname = \"a-mine\"\nversion = \"1\"\n\n[[package]]\nname = \"b\"\nversion = \"1\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := os.ReadFile(filepath.Join(parent, "a-mine", name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(parent, "a-mine", "target")); err == nil {
		t.Error("build output was copied")
	}
	if info, err := os.Stat(filepath.Join(parent, "a-mine", "run")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("a script has lost its x bit: %v, %v", info, err)
	}
	testenv.OK(t, os.WriteFile(filepath.Join(parent, "a-mine", "mine"), nil, 0o644))
	testenv.Fails(t, testenv.Err(contender.Scaffold(template, "a-mine", parent)), "already exists")
	if _, err := os.Stat(filepath.Join(parent, "a-mine", "mine")); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
	for _, name := range []string{"", "../x", "A", "a--b", "a.b", "-a", strings.Repeat("a", 64)} {
		if _, err := contender.Scaffold(template, name, parent); err == nil {
			t.Errorf("%q counts as a name", name)
		}
	}
	delete(template.Files.(fstest.MapFS), "Dockerfile")
	if _, err := contender.Scaffold(template, "b-mine", parent); err == nil {
		t.Error("a copy that is not a contender")
	}
	if _, err := os.Stat(filepath.Join(parent, "b-mine")); err == nil {
		t.Error("half a copy is left")
	}
}
