package contender

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/text/safe"
)

// imageFile is a file of the image of the built-in contender.
type imageFile struct {
	name string // in the image, without the first slash
	path string // on this machine
}

const (
	selfMaps   = "/proc/self/maps" // what the kernel has mapped into this process
	sharedDir  = "lib/locbench"    // shared libraries in the image
	maxMaps    = 16 << 20          // bytes
	maxLibrary = 256 << 20         // bytes of one library
)

// sharedFiles returns the loader and the shared libraries of the running program, whose file is
// self. They are those in its own memory, so no search of the loader has to be repeated: it is the
// same with glibc and musl. A library has the name under which programs look for it.
func sharedFiles(self, maps string) ([]imageFile, error) {
	loader, err := interpreter(self)
	if err != nil {
		return nil, err
	}
	text, err := safe.ReadFile(maps, maxMaps)
	if err != nil {
		return nil, err
	}
	loaderInfo, err := os.Stat(loader)
	if err != nil {
		return nil, err
	}
	selfInfo, err := os.Stat(self)
	if err != nil {
		return nil, err
	}
	files := []imageFile{{strings.TrimPrefix(path.Clean(loader), "/"), loader}}
	for _, lib := range mappedPrograms(string(text)) {
		info, err := os.Stat(lib)
		if err != nil { // such as one that was replaced since the start: "… (deleted)"
			return nil, err
		}
		if os.SameFile(info, loaderInfo) || os.SameFile(info, selfInfo) {
			continue
		}
		files = append(files, imageFile{path.Join(sharedDir, soname(lib)), lib})
	}
	return files, nil
}

// mappedPrograms returns the files with code in the text of a maps file of the kernel, each once.
func mappedPrograms(text string) (files []string) {
	for line := range strings.Lines(text) { // address, permissions, offset, device, inode, file
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.Contains(fields[1], "x") || !strings.HasPrefix(fields[5], "/") {
			continue
		}
		file := strings.TrimRight(line[strings.Index(line, fields[5]):], "\n")
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// interpreter returns the path of the loader of a program.
func interpreter(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if p.Filesz > 4096 {
			return "", fmt.Errorf("%s: the path of its loader is too long", program)
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			return "", err
		}
		name := strings.TrimRight(string(data), "\x00")
		if !path.IsAbs(name) || safe.Line(name, len(name)) != name {
			return "", fmt.Errorf("%s: no path of a loader", program)
		}
		return name, nil
	}
	return "", errors.New("no loader")
}

// soname returns the name under which programs look for a library; without one that of its file.
func soname(file string) string {
	name := path.Base(file)
	f, err := elf.Open(file)
	if err != nil {
		return name
	}
	defer f.Close()
	if own, err := f.DynString(elf.DT_SONAME); err == nil && len(own) > 0 {
		name = path.Base(cmp.Or(own[0], name))
	}
	return name
}
