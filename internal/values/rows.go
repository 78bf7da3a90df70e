// Package values has what requests take from files: rows of values and bodies, read within bounds,
// and what a value must fit where it is used.
package values

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// Data is what requests take from files.
type Data struct {
	Rows   map[string]*Rows  // values of variables, by path of the file
	Files  map[string][]byte // bodies of requests, by path of the file
	Uses   map[string]Use    // uses of variables, by name
	Hashes []bench.DataFile  // hashes of all files
}

// Rows are the used columns of a file, in blocks: one text for all rows would be copied while it
// grows, which takes as much memory as the file.
type Rows struct {
	columns []string
	blocks  []block
	rows    int
	kept    int // bytes
}

// block has the cells of blockRows rows; the last block has fewer.
type block struct {
	data []byte
	ends []uint32 // end of each cell, row by row
}

// Limits on a file of values.
const (
	maxKept     = 512 << 20 // bytes
	maxRows     = 20_000_000
	maxRowLine  = 1 << 20
	checkedRows = 10_000 // of a file, by CheckFile
	blockRows   = 1 << 10
	endBytes    = 4 // bytes of an end
)

// Len returns the number of rows.
func (r *Rows) Len() int { return r.rows }

// Column returns the index of a used column, -1 if it is not used.
func (r *Rows) Column(name string) int { return slices.Index(r.columns, name) }

// Cell returns a value.
func (r *Rows) Cell(row, column int) []byte {
	b := &r.blocks[row/blockRows]
	i := row%blockRows*len(r.columns) + column
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.data[from:b.ends[i]]
}

// column is a used column, and what its cells must fit.
type column struct {
	name string
	use  Use
}

// Column splits the name in a place into the variable and, for a row, the column.
func Column(place string) (variable, column string) {
	variable, column, _ = strings.Cut(place, ".")
	return variable, column
}

// OpenData reads the files of variables and bodies. Its errors name file and line.
func OpenData(variables []bench.Variable, requests []bench.Request) (Data, error) {
	d := Data{Rows: map[string]*Rows{}, Files: map[string][]byte{}, Uses: Uses(requests)}
	used := map[string][]column{}
	var files []string
	for _, v := range variables {
		if v.File == "" {
			continue
		}
		if !slices.Contains(files, v.File) {
			files = append(files, v.File)
		}
		for _, name := range slices.Sorted(maps.Keys(d.Uses)) {
			use := d.Uses[name]
			variable, field := Column(name)
			if variable != v.Name {
				continue
			}
			if v.Column != "" {
				field = v.Column
			}
			used[v.File] = append(used[v.File], column{field, use})
		}
	}
	var errs []error
	for _, file := range files {
		if len(used[file]) == 0 {
			continue // no request uses it
		}
		rows, sum, err := readRows(file, used[file], math.MaxInt)
		errs = append(errs, err)
		d.Rows[file], d.Hashes = rows, append(d.Hashes, bench.DataFile{File: file, Hash: sum})
	}
	for _, r := range requests {
		size := 0
		for _, file := range r.BodyFiles() {
			if _, ok := d.Files[file]; !ok {
				body, err := readBody(file)
				errs = append(errs, err)
				d.Files[file] = body
				d.Hashes = append(d.Hashes, bench.DataFile{File: file, Hash: fmt.Sprintf("%x", sha256.Sum256(body))})
			}
			if size += len(d.Files[file]); size > maxBodyFile {
				errs = append(errs, fmt.Errorf("request %q: the files of its body are larger than 64 MiB together", r.Name))
				break
			}
		}
	}
	return d, errors.Join(errs...)
}

// CheckFile reads the beginning of the file of a variable, and returns what is wrong with a column.
// "" is the column of a file of JSON whose rows are values.
func CheckFile(v bench.Variable, name string, use Use) error {
	_, _, err := readRows(v.File, []column{{name, use}}, checkedRows)
	return err
}

// IsJSONFile reports whether a file of values is JSON by its name; otherwise it is CSV.
func IsJSONFile(file string) bool { return jsonExt(file) != "" }

func jsonExt(file string) string {
	ext := strings.ToLower(filepath.Ext(file))
	if ext == ".json" || ext == ".jsonl" || ext == ".ndjson" {
		return ext
	}
	return ""
}

// CheckBody returns what is wrong with the file of a body; nil if there is no file.
func CheckBody(file string) error {
	if file == "" {
		return nil
	}
	f, err := safe.Open(file)
	if err != nil {
		return err
	}
	return f.Close()
}

const maxBodyFile = 64 << 20

func readBody(file string) ([]byte, error) {
	f, err := safe.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxBodyFile+1))
	if err == nil && len(body) > maxBodyFile {
		err = fmt.Errorf("%s: larger than 64 MiB", file)
	}
	return body, err
}

// readRows reads at most limit rows, and returns the hash of what it has read.
func readRows(file string, used []column, limit int) (*Rows, string, error) {
	f, err := safe.Open(file)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	sum := sha256.New()
	r := &Rows{}
	for _, c := range used {
		if r.Column(c.name) < 0 {
			r.columns = append(r.columns, c.name)
		}
	}
	in := &reader{file: file, rows: r, used: used, limit: limit}
	err = in.read(io.TeeReader(f, sum))
	in.pack()
	if err == nil && r.Len() == 0 {
		err = fmt.Errorf("%s: no rows", file)
	}
	if err != nil {
		return nil, "", err
	}
	return r, hex.EncodeToString(sum.Sum(nil)), nil
}

// reader reads a file of values.
type reader struct {
	file  string
	rows  *Rows
	used  []column
	limit int
	block block // the block being filled
	text  []byte
}

const notUTF8 = "not UTF-8; save the file as UTF-8, or write `iconv -f latin1 -t utf-8 FILE` with its encoding"

// read reads the rows of a file, which is UTF-8. A byte order mark is not a part of it.
func (in *reader) read(file io.Reader) error {
	text := bufio.NewReaderSize(file, 64<<10)
	head, _ := text.Peek(3) // what is wrong with the file is wrong in the next Read, too
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = text.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return in.wrong(1, "UTF-16, %s", notUTF8)
	}
	if ext := jsonExt(in.file); ext != "" {
		return in.json(text, ext == ".json")
	}
	return in.csv(text)
}

func (in *reader) wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", in.file, line, fmt.Sprintf(format, args...))
}

// unread returns the error of a file that could not be read to its end.
func (in *reader) unread(err error) error {
	if long, ok := errors.AsType[*longRowError](err); ok {
		return fmt.Errorf("%s: %w", in.file, long)
	}
	return fmt.Errorf("read %s: %w", in.file, err)
}

// add adds a cell to the current row.
func (in *reader) add(line, i int, value []byte) error {
	r := in.rows
	if !utf8.Valid(value) {
		return in.wrong(line, "column %s: %s", safe.Line(r.columns[i], 60), notUTF8)
	}
	for _, c := range in.used {
		if c.name != r.columns[i] {
			continue
		}
		if err := c.use.Fits(value); err != nil {
			return in.wrong(line, "column %s: %v", c.name, err)
		}
	}
	if r.kept += len(value) + endBytes; r.kept > maxKept || r.rows == maxRows {
		return in.wrong(line, "file too large: at most %d rows and 512 MiB of used values", maxRows)
	}
	in.block.data = append(in.block.data, value...)
	in.block.ends = append(in.block.ends, uint32(len(in.block.data)))
	return nil
}

// endRow ends the current row.
func (in *reader) endRow() {
	if in.rows.rows++; in.rows.rows%blockRows == 0 {
		in.pack()
	}
}

// pack adds the current block to the rows without spare memory, and begins another one.
func (in *reader) pack() {
	if len(in.block.ends) > 0 {
		in.rows.blocks = append(in.rows.blocks, block{bytes.Clone(in.block.data), slices.Clone(in.block.ends)})
	}
	in.block.data, in.block.ends = in.block.data[:0], in.block.ends[:0]
}
