package contender

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// elfOf returns the header of a 64-bit Linux program with one segment of a type.
func elfOf(t *testing.T, machine elf.Machine, segment elf.ProgType) string {
	t.Helper()
	head := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	var b bytes.Buffer
	for _, part := range []any{head, elf.Prog64{Type: uint32(segment)}} {
		testenv.OK(t, binary.Write(&b, binary.LittleEndian, part))
	}
	path := filepath.Join(t.TempDir(), "program")
	testenv.OK(t, os.WriteFile(path, b.Bytes(), 0o755))
	return path
}

func TestCheckStatic(t *testing.T) {
	for name, tt := range map[string]struct{ path, arch, why string }{
		"static":            {elfOf(t, elf.EM_AARCH64, elf.PT_LOAD), "arm64", ""},
		"unknown processor": {elfOf(t, elf.EM_AARCH64, elf.PT_LOAD), "toaster", ""},
		"dynamic":           {elfOf(t, elf.EM_X86_64, elf.PT_INTERP), "amd64", "linked to shared libraries"},
		"other processor":   {elfOf(t, elf.EM_AARCH64, elf.PT_LOAD), "amd64", "for another processor (EM_AARCH64)"},
		"text":              {"static_test.go", "amd64", "not a Linux binary"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkStatic(tt.path, tt.arch)
			var not *NotStaticError
			if (err != nil) != (tt.why != "") || err != nil && (!errors.As(err, &not) || !strings.Contains(not.Why, tt.why) || not.Arch != tt.arch ||
				!strings.Contains(err.Error(), "CGO_ENABLED=0 GOOS=linux GOARCH="+tt.arch+" go build ./cmd/locbench")) {
				t.Errorf("%v, want %q", err, tt.why)
			}
		})
	}
	err := checkStatic(filepath.Join(t.TempDir(), "absent"), "amd64")
	testenv.Check(t, err != nil && !errors.As(err, new(*NotStaticError)), "absent: %v", err)
}

// TestStaticBinary: if locbench cannot build another binary, the error says how to.
func TestStaticBinary(t *testing.T) {
	o := BuildOptions{Self: elfOf(t, elf.EM_X86_64, elf.PT_INTERP), Sources: t.TempDir()}
	_, err := staticBinary(t.Context(), o, "amd64")
	testenv.Check(t, errors.As(err, new(*NotStaticError)), "%v", err)
	o.Self = elfOf(t, elf.EM_X86_64, elf.PT_LOAD)
	testenv.Equal(t, testenv.Must(staticBinary(t.Context(), o, "amd64"))(t), o.Self)
}

// TestRun_ContextEnded: the reason why ctx ended is reported also before the command has begun.
func TestRun_ContextEnded(t *testing.T) {
	why := errors.New("interrupted by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	err := run(ctx, BuildOptions{}, t.TempDir(), []string{"true"})
	testenv.Check(t, errors.Is(err, why), "%v", err)
}
