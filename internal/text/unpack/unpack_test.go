package unpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/testenv"
)

const most = 1 << 20

func packed(t testing.TB, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip", "x-gzip", "GZip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, err = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriterLevel(&b, 5)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	default:
		t.Fatal(coding)
	}
	if err == nil {
		_, err = w.Write(body)
	}
	testenv.OK(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

var text = []byte(strings.Repeat(`{"id":7,"name":"lamp"}`, 200))

// Each encoding is unpacked, one after the other by one Unpacker, twice.
func TestUnpacks(t *testing.T) {
	gz := packed(t, "gzip", text)
	half := len(text) / 2
	members := append(packed(t, "gzip", text[:half]), packed(t, "gzip", text[half:])...)
	named := bytes.Clone(gz)
	named[3] |= 8
	named = append(append(named[:10:10], "a\x00"...), gz[10:]...)
	for _, tt := range []struct {
		name, encodings string
		body, want      []byte
	}{
		{"none", "", text, text},
		{"identity", "identity", text, text},
		{"gzip", "gzip", gz, text},
		{"upper case", "GZIP", gz, text},
		{"x-gzip", "x-gzip", gz, text},
		{"two members", "gzip", members, text},
		{"a name in its header", "gzip", named, text},
		{"zeros after it", "gzip", append(bytes.Clone(gz), 0, 0, 0), text},
		{"deflate with a header", "deflate", packed(t, "deflate", text), text},
		{"deflate without one", "deflate", packed(t, "raw", text), text},
		{"br", "br", packed(t, "br", text), text},
		{"zstd", "zstd", packed(t, "zstd", text), text},
		{"two zstd frames", "zstd", append(packed(t, "zstd", text[:half]), packed(t, "zstd", text[half:])...), text},
		{"several", " gzip ,identity, br,", packed(t, "br", gz), text},
		{"no body", "br", nil, nil},
		{"unknown without a body", "x", nil, nil},
		{"no text", "gzip", packed(t, "gzip", nil), nil},
		{"as long as the bound", "gzip", packed(t, "gzip", make([]byte, most)), make([]byte, most)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := New(most)
			for range 2 {
				got, err := u.Body([]byte(tt.encodings), tt.body)
				testenv.Need(t, err == nil && bytes.Equal(got, tt.want), "%v, %.60q (%d bytes), want %d bytes", err,
					got, len(got), len(tt.want))
				_, _ = u.Body([]byte("gzip"), gz)
				_, _ = u.Body([]byte("br"), gz) // broken: the next one is not
				_, _ = u.Body([]byte("zstd"), gz)
				_, _ = u.Body([]byte("deflate"), gz)
				_, _ = u.Body([]byte("gzip"), []byte("x"))
			}
		})
	}
}

// What cannot be unpacked has its reason, and nothing of it is taken for the body.
func TestCannotUnpack(t *testing.T) {
	flipped := func(coding string, at int) []byte {
		b := packed(t, coding, text)
		b[(at+len(b))%len(b)] ^= 0x55
		return b
	}
	short := func(coding string) []byte {
		b := packed(t, coding, text)
		return b[:len(b)-5]
	}
	window := binary.LittleEndian.AppendUint32(nil, 0xfd2fb528)
	window = append(window, 0, 14<<3) // 16 MiB
	window = append(window, 1, 0, 0)
	for _, tt := range []struct {
		name, encodings string
		body            []byte
		kind            bench.ErrorKind
		text            string
	}{
		{"text", "br", text, bench.UnreadBroken, "br body could not be unpacked: it is broken"},
		{"text for gzip", "gzip", text, bench.UnreadBroken, "gzip body could not be unpacked: it is broken"},
		{"text for zstd", "zstd", text, bench.UnreadBroken, "zstd body could not be unpacked: it is broken"},
		{"text for deflate", "deflate", text, bench.UnreadBroken, "deflate body could not be unpacked: "},
		{"short gzip", "gzip", short("gzip"), bench.UnreadBroken, "gzip body could not be unpacked: it ends too early"},
		{"short deflate", "deflate", short("deflate"), bench.UnreadBroken, "it ends too early"},
		{"short raw deflate", "deflate", short("raw"), bench.UnreadBroken, "it ends too early"},
		{"short br", "br", short("br"), bench.UnreadBroken, "br body could not be unpacked: it ends too early"},
		{"short zstd", "zstd", short("zstd"), bench.UnreadBroken, "it ends too early"},
		{"one byte", "gzip", []byte{0x1f}, bench.UnreadBroken, "it ends too early"},
		{"one byte of zstd", "zstd", []byte{0x28}, bench.UnreadBroken, "it ends too early"},
		{"checksum of gzip", "gzip", flipped("gzip", -6), bench.UnreadBroken, "it is broken"},
		{"checksum of deflate", "deflate", flipped("deflate", -1), bench.UnreadBroken, "it is broken"},
		{"checksum of zstd", "zstd", flipped("zstd", -1), bench.UnreadBroken, "it is broken"},
		{"more after br", "br", append(packed(t, "br", text), 1, 2), bench.UnreadBroken, "it is broken"},
		{"unknown", "compress", text, bench.UnreadEncoding, `encoding "compress" is not gzip, deflate, br or zstd`},
		{"a charset", "utf-8", text, bench.UnreadEncoding, `encoding "utf-8" is not`},
		{"an escape", "\x1b[2J", text, bench.UnreadEncoding, "is not gzip"},
		{"unknown within", "x, gzip", packed(t, "gzip", text), bench.UnreadEncoding, `encoding "x" is not`},
		{"five", "gzip, gzip, gzip, gzip, gzip", packed(t, "gzip", packed(t, "gzip", packed(t, "gzip", packed(t, "gzip", text)))),
			bench.UnreadEncoding, "more than 4 encodings"},
		{"window", "zstd", window, bench.UnreadEncoding, "zstd body has a window of more than 8 MiB"},
		{"dictionary", "deflate", []byte{0x78, 0xbb, 1, 2, 3, 4, 5}, bench.UnreadEncoding, "deflate body needs a dictionary"},
		{"zstd dictionary", "zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 1, 0, 0}, bench.UnreadEncoding, "zstd body needs a dictionary"},
		{"one byte more than the bound", "gzip", packed(t, "gzip", make([]byte, most+1)), bench.UnreadLong, "longer than 1 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := New(most)
			got, err := u.Body([]byte(tt.encodings), tt.body)
			why, ok := errors.AsType[*Error](err)
			testenv.Check(t, ok && why.Kind == tt.kind && strings.Contains(why.Error(), tt.text) && !strings.Contains(why.Error(), "\x1b"),
				"%#v, want %s %q", err, tt.kind, tt.text)
			testenv.Check(t, len(got) <= most && (len(got) == 0 || tt.kind == bench.UnreadLong), "%d bytes", len(got))
		})
	}
}

// panics is a decoder with a mistake.
type panics struct{ io.ReadCloser }

func (panics) Reset(io.Reader, []byte) error { panic("index out of range\x1b[2J") }

// A mistake of a library ends nothing.
func TestPanicsAreReasons(t *testing.T) {
	u := New(most)
	u.flate = panics{}
	_, err := u.Body([]byte("deflate"), []byte("\x01"))
	testenv.Check(t, err != nil && err.Error() == "body could not be unpacked: index out of range␛[2J", "%q", err)
}

// A bomb ends at the bound, in each encoding and packed twice, with the beginning of its body.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 16<<20)
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			name := strings.Replace(coding, "raw", "deflate", 1)
			once := packed(t, coding, zeros)
			twice := packed(t, "gzip", once)
			u := New(most)
			got, err := u.Body([]byte(name), once)
			why, ok := errors.AsType[*Error](err)
			testenv.Check(t, ok && why.Kind == bench.UnreadLong && len(got) == most, "%v, %d bytes", err, len(got))
			_, err = u.Body([]byte(name+", gzip"), twice)
			testenv.Check(t, err != nil && err.Error() == "longer than 1 MiB", "%v", err)
			held := cap(u.out) + cap(u.spare)
			testenv.Check(t, held <= 2*(most+1), "holds %d bytes", held)
			_, _ = u.Body(nil, nil)
			testenv.Check(t, cap(u.out)+cap(u.spare) <= 2*keptBytes, "keeps %d bytes", cap(u.out)+cap(u.spare))
		})
	}
	inner := packed(t, "gzip", packed(t, "gzip", make([]byte, 4<<20))) // what is packed again may be the bomb
	_, err := New(1<<10).Body([]byte("gzip, gzip"), inner)
	testenv.Check(t, err != nil && err.Error() == "longer than 1 KiB", "%v", err)
}

// The next body of the same kind allocates nothing; the library's maps of br are small.
func TestAllocatesNothing(t *testing.T) {
	for _, coding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		u, body := New(most), packed(t, coding, text)
		head := []byte("Content-Type: application/json\r\nContent-Encoding: " + strings.Replace(coding, "raw", "deflate", 1) + "\r\n")
		n := testing.AllocsPerRun(50, func() {
			testenv.OK(t, testenv.Err(u.Body(Encoding(head), body)))
		})
		testenv.Check(t, n <= 0.5 || coding == "br" && n <= 3, "%s: %g allocations", coding, n)
	}
}

func TestEncoding(t *testing.T) {
	for head, want := range map[string]string{
		"":                           "",
		"A: b\r\n":                   "",
		"content-encoding:  br \r\n": "br",
		"X-Content-Encoding: br\r\n": "",
		"Content-Encoding-X: br\r\n": "",
		"Content-Encoding: gzip\nA: b\nContent-Encoding: br\n": "gzip,br",
	} {
		testenv.Equal(t, string(Encoding([]byte(head))), want, head)
	}
}

// Whatever comes, the result is bounded, and an error is of this package.
func FuzzBody(f *testing.F) {
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		f.Add(coding, packed(f, coding, text))
	}
	f.Add("gzip, br", []byte{1})
	u := New(4096)
	f.Fuzz(func(t *testing.T, encodings string, body []byte) {
		got, err := u.Body([]byte(encodings), body)
		_, ours := errors.AsType[*Error](err)
		testenv.Check(t, err == nil || ours, "%v", err)
		testenv.Check(t, err == nil || len(got) <= 4096, "%d bytes", len(got))
	})
}

// Any body comes back unchanged.
func TestRandomBodies(t *testing.T) {
	rng, u := rand.New(rand.NewPCG(1, 2)), New(most)
	for range 50 {
		body := make([]byte, rng.IntN(20000))
		for i := range body {
			body[i] = byte(rng.IntN(1 + rng.IntN(255)))
		}
		for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
			got, err := u.Body([]byte(coding), packed(t, coding, body))
			testenv.Need(t, err == nil && bytes.Equal(got, body), "%s of %d bytes: %v", coding, len(body), err)
		}
	}
}

// What is shown of a body is text, or says what the body is.
func TestSample(t *testing.T) {
	gz := packed(t, "gzip", text)
	for _, tt := range []struct {
		encodings string
		begin     []byte
		want      string
	}{
		{"", text, string(text[:40]) + "…"},
		{"", []byte("a"), "a"},
		{"", nil, ""},
		{"", []byte("\x89PNG\x00"), "(5 bytes)"},
		{"gzip", gz, string(text[:40]) + "…"},
		{"gzip", packed(t, "gzip", []byte("no")), "no"},
		{"br", packed(t, "br", text)[:60], string(text[:40]) + "…"},
		{"br", gz, "(124 bytes, br)"},
		{"x\x1b[2J", text, "(4,400 bytes, x␛[2J)"},
		{"gzip", nil, ""},
	} {
		want := strings.Replace(tt.want, "124", units.Count(int64(len(gz))), 1)
		testenv.Equal(t, Sample([]byte(tt.encodings), tt.begin, int64(len(tt.begin)), 40), want, tt.encodings, tt.begin)
	}
	testenv.Equal(t, Describe([]byte("gzip"), "image/png", 1), "1 byte of image/png, gzip")
}
