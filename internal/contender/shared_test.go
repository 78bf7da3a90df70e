package contender

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// programOf writes a program whose loader is at a path.
func programOf(t *testing.T, loader string) string {
	t.Helper()
	path := elfOf(t, elf.EM_X86_64, elf.PT_INTERP)
	data, err := os.ReadFile(path)
	testenv.OK(t, err)
	var segment elf.Prog64
	testenv.OK(t, testenv.Err(binary.Decode(data[64:], binary.LittleEndian, &segment)))
	segment.Off, segment.Filesz = uint64(len(data)), uint64(len(loader)+1)
	testenv.OK(t, testenv.Err(binary.Encode(data[64:], binary.LittleEndian, segment)))
	write(t, path, string(data)+loader+"\x00")
	return path
}

// libraryOf returns a shared library whose own name is soname.
func libraryOf(t *testing.T, soname string) string {
	t.Helper()
	names := "\x00" + soname + "\x00"
	entries := []elf.Dyn64{{Tag: int64(elf.DT_SONAME), Val: 1}, {}}
	head := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 1,
	}
	at := uint64(64 + len(names))
	head.Shoff = at + 32
	sections := []elf.Section64{
		{}, {Type: uint32(elf.SHT_STRTAB), Off: 64, Size: uint64(len(names))},
		{Type: uint32(elf.SHT_DYNAMIC), Off: at, Size: 32, Link: 1, Entsize: 16},
	}
	var b bytes.Buffer
	for _, part := range []any{head, []byte(names), entries, sections} {
		testenv.OK(t, binary.Write(&b, binary.LittleEndian, part))
	}
	return b.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testenv.OK(t, os.WriteFile(path, []byte(text), 0o755))
}

// The image gets the loader where the program looks for it, and each library that is mapped, under
// the name by which programs look for it: with glibc and with musl, whose library is the loader.
func TestSharedFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	real, libc, odd := at("ld-2.31.so", "loader"), at("libc-2.31.so", libraryOf(t, "libc.so.6")), at("lib a.so", "no ELF")
	loader := filepath.Join(dir, "ld.so.2")
	testenv.OK(t, os.Symlink(real, loader))
	self := programOf(t, loader)
	line := func(permissions, file string) string {
		return fmt.Sprintf("7f00-7f01 %s 00001000 fe:00 1234 %26s%s\n", permissions, "", file)
	}
	glibc := line("r--p", self) + line("r-xp", self) + line("rw-p", "") + line("r--p", libc) + line("r-xp", libc) + line("r-xp", libc) +
		line("r-xp", odd) + line("r--p", "/usr/lib/locale/C.utf8") + line("r-xp", real) + line("r-xp", "[vdso]") + "7f00-7f01 r-xp 0 00:00 0\n"
	for name, tt := range map[string]struct {
		maps string
		want []string
	}{
		"glibc": {glibc, []string{loader[1:], "lib/locbench/libc.so.6", "lib/locbench/lib a.so"}},
		"musl":  {line("r-xp", self) + line("r-xp", loader), []string{loader[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := sharedFiles(self, at("maps", tt.maps))
			var names []string
			for _, f := range files {
				names = append(names, f.name)
			}
			testenv.OK(t, err)
			testenv.Equal(t, names, tt.want)
		})
	}
	for name, maps := range map[string]string{"replaced": line("r-xp", libc+" (deleted)"), "no file": ""} {
		path := filepath.Join(dir, "nosuch")
		if maps != "" {
			path = at("maps", maps)
		}
		if files, err := sharedFiles(self, path); err == nil {
			t.Errorf("%s: %v", name, files)
		}
	}
	for _, loader := range []string{"ld.so", "/lib/\x1b[31mld.so", ""} {
		if files, err := sharedFiles(programOf(t, loader), at("maps", glibc)); err == nil {
			t.Errorf("loader %q: %v", loader, files)
		}
	}
}

// What is packed is what the Dockerfile copies.
func TestPackBuiltin(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "program")
	write(t, filepath.Join(dir, "b"), "library")
	files := []imageFile{{"locbench", filepath.Join(dir, "a")}, {"lib/locbench/libc.so.6", filepath.Join(dir, "b")}}
	var b bytes.Buffer
	testenv.OK(t, packBuiltin(&b, sharedDockerfile, files))
	var got []string
	for r := tar.NewReader(&b); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(r)
		testenv.OK(t, errors.Join(err, readErr))
		got = append(got, head.Name+" "+string(text))
	}
	want := []string{"Dockerfile " + sharedDockerfile, "files/locbench program", "files/lib/locbench/libc.so.6 library"}
	if !slices.Equal(got, want) || !strings.Contains(sharedDockerfile, "COPY files /\n") || !strings.Contains(sharedDockerfile, "ENV LD_LIBRARY_PATH=/lib/locbench\n") {
		t.Errorf("%q", got)
	}
	if err := packBuiltin(io.Discard, builtinDockerfile, []imageFile{{"locbench", filepath.Join(dir, "c")}}); err == nil {
		t.Error("a file that is absent")
	}
}
