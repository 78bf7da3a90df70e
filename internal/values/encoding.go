package values

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// encodings are those of files of values, by the names that a profile may write. As in browsers,
// latin1 is windows-1252, which has letters where ISO 8859-1 has control characters.
var encodings = map[string]encoding.Encoding{
	"utf-8": encoding.Nop, "latin1": charmap.Windows1252, "iso-8859-1": charmap.Windows1252,
	"utf-16le":   unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16be":   unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"iso-8859-2": charmap.ISO8859_2, "iso-8859-5": charmap.ISO8859_5, "iso-8859-7": charmap.ISO8859_7,
	"iso-8859-9": charmap.ISO8859_9, "iso-8859-15": charmap.ISO8859_15, "koi8-r": charmap.KOI8R, "koi8-u": charmap.KOI8U,
	"macintosh": charmap.Macintosh, "windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252, "windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254,
	"windows-1255": charmap.Windows1255, "windows-1256": charmap.Windows1256, "windows-1257": charmap.Windows1257,
	"windows-1258": charmap.Windows1258,
}

// Encodings returns the names of the encodings that files of values may have.
func Encodings() []string { return slices.Sorted(maps.Keys(encodings)) }

// marks are the byte order marks, and the encodings that they stand for.
var marks = []struct{ bytes, encoding string }{
	{"\xef\xbb\xbf", "utf-8"}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"},
}

// decoded returns the text of a file without its byte order mark, which decides the encoding. The
// text may not be UTF-8 if the file is not in its encoding. It has U+FFFD for what an encoding other
// than UTF-8 does not have.
func decoded(file io.Reader, name string) (text io.Reader, encoding string) {
	b := bufio.NewReaderSize(file, 64<<10)
	head, _ := b.Peek(3) // what is wrong with the file is wrong in the next Read, too
	for _, mark := range marks {
		if bytes.HasPrefix(head, []byte(mark.bytes)) {
			_, _ = b.Discard(len(mark.bytes))
			name = mark.encoding
			break
		}
	}
	if name == "" || name == "utf-8" {
		return b, "utf-8"
	}
	return encodings[name].NewDecoder().Reader(b), name
}
