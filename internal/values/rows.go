// Package values has what requests take from files: rows of values and bodies, read within bounds,
// and what a value must fit where it is used.
package values

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/text/jsonpath"
	"locbench/internal/text/safe"
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
	maxKept    = 512 << 20 // bytes
	maxRows    = 20_000_000
	maxRowLine = 1 << 20
	blockRows  = 1 << 10
	endBytes   = 4 // bytes of an end
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
		for name, use := range d.Uses {
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

// CheckColumns reads the beginning of a file, and returns what is wrong with it.
func CheckColumns(file string, names ...string) error {
	var used []column
	for _, name := range names {
		used = append(used, column{name: name})
	}
	_, _, err := readRows(file, used, 1)
	return err
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
	text := io.TeeReader(f, sum)
	r := &Rows{}
	for _, c := range used {
		if r.Column(c.name) < 0 {
			r.columns = append(r.columns, c.name)
		}
	}
	in := &reader{file: file, rows: r, used: used, limit: limit}
	if ext := strings.ToLower(filepath.Ext(file)); ext == ".jsonl" || ext == ".ndjson" {
		err = in.jsonLines(text)
	} else {
		err = in.csv(text)
	}
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

func (in *reader) wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", in.file, line, fmt.Sprintf(format, args...))
}

// add adds a cell to the current row.
func (in *reader) add(line, i int, value []byte) error {
	r := in.rows
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

func (in *reader) csv(f io.Reader) error {
	c := csv.NewReader(bufio.NewReaderSize(&shortRows{from: f, row: 1}, 1<<20))
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return in.syntax(err)
	}
	head = slices.Clone(head)
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	var at []int
	for _, name := range in.rows.columns {
		i := slices.Index(head, name)
		if i < 0 {
			return in.wrong(1, "no column %q; %s", safe.Line(name, 60), columnsOf(name, head))
		}
		at = append(at, i)
	}
	for n := 0; n < in.limit; n++ {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return in.syntax(err)
		}
		line, _ := c.FieldPos(0)
		for i, column := range at {
			in.text = append(in.text[:0], record[column]...)
			if err := in.add(line, i, in.text); err != nil {
				return err
			}
		}
		in.endRow()
	}
	return nil
}

func (in *reader) syntax(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return in.wrong(parse.Line, "%v", parse.Err)
	}
	if long, ok := errors.AsType[*longRowError](err); ok {
		return fmt.Errorf("%s: %w", in.file, long)
	}
	if errors.Is(err, io.EOF) {
		return in.wrong(1, "empty file: the first line must have the names of the columns")
	}
	return fmt.Errorf("read %s: %w", in.file, err)
}

func (in *reader) jsonLines(f io.Reader) error {
	var paths []jsonpath.Path
	for _, name := range in.rows.columns {
		p, err := jsonpath.Parse(name)
		if err != nil {
			return in.wrong(1, "%v", err)
		}
		paths = append(paths, p)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxRowLine)
	for line := 1; lines.Scan() && in.rows.Len() < in.limit; line++ {
		row := bytes.TrimSpace(lines.Bytes())
		if len(row) == 0 {
			continue
		}
		if !json.Valid(row) {
			return in.wrong(line, "not JSON: write one object per line")
		}
		for i, p := range paths {
			value, ok := p.Scan(row)
			if !ok {
				return in.wrong(line, "%q not found", safe.Line(in.rows.columns[i], 60))
			}
			in.text = jsonpath.Text(in.text[:0], value)
			if err := in.add(line, i, in.text); err != nil {
				return err
			}
		}
		in.endRow()
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: %w", in.file, &longRowError{in.rows.Len() + 1})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", in.file, err)
	}
	return nil
}
