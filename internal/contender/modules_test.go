package contender_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"locbench/internal/contender"
)

func TestPackedModulesAreWhatTheyWere(t *testing.T) {
	manifest := "language: Go\nframework: f\nversion: \"1\"\nendpoints: [get]\ndocker: {dockerfile: Dockerfile}\n"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go-x/go.mod": "module x\n", "go-x/service.yaml": manifest, "go-x/Dockerfile": "FROM scratch\n", "go-x/in/a.go": "package in\n",
		"go-x/empty": "", "go-x/.dockerignore": "service\nservice.yaml\nREADME.md\n", "go-x/service": "\x7fELF", "go-x/.gitignore": "service\n", "go-x/README.md": "# x\n",
		"other/service.yaml": manifest, "other/Dockerfile": "FROM scratch\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	data, err := contender.Pack(files, "go-x")
	if err != nil {
		t.Fatal(err)
	}
	back, err := contender.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(back, "go-x/go.mod", "go-x/service.yaml", "go-x/in/a.go", "go-x/empty", "go-x/README.md", "go-x/.dockerignore"); err != nil {
		t.Error(err)
	}
	found, err := contender.Discover(contender.Source{FS: back, Name: "services"})
	if err != nil || len(found) != 1 || found[0].Name != "go-x" {
		t.Fatalf("%+v, %v", found, err)
	}
	onDisk, err := contender.Discover(contender.Source{FS: files, Name: "services"})
	if err != nil {
		t.Fatal(err)
	}
	was, err1 := contender.SourceHash(onDisk[0])
	is, err2 := contender.SourceHash(found[0])
	if was != is || err1 != nil || err2 != nil {
		t.Errorf("other sources: %s %v, %s %v", was, err1, is, err2)
	}
	for name, bad := range map[string]string{"go-x/bin": "\xff\n", "go-x/cut": "no line end", "go-x/marker": "a\n-- b --\nc\n"} {
		t.Run(name, func(t *testing.T) {
			files[name] = &fstest.MapFile{Data: []byte(bad)}
			if _, err := contender.Pack(files, "go-x"); err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
				t.Errorf("%s: %v", name, err)
			}
			delete(files, name)
		})
	}
	empty, err := contender.Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	if fsys, err := contender.Unpack(empty); fsys != nil || err != nil {
		t.Errorf("%v, %v", fsys, err)
	}
}
