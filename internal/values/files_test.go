package values

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// cells reads the columns a and b of a file, "|" between rows.
func cells(v bench.Variable, place string) (string, error) {
	v.Name = "v"
	d, err := OpenData([]bench.Variable{v}, []bench.Request{{Path: "/", Body: place}})
	if err != nil {
		return "", err
	}
	rows := d.Rows[v.File]
	var all []string
	for i := range rows.Len() {
		var row []string
		for _, p := range bench.Parts(place) {
			if _, column := Column(p.Name); p.Name != "" {
				row = append(row, string(rows.Cell(i, rows.Column(column))))
			}
		}
		all = append(all, strings.Join(row, " "))
	}
	return strings.Join(all, "|"), nil
}

// Files as spreadsheets and scripts write them are read.
func TestFilesAsPeopleHaveThem(t *testing.T) {
	const row, number = "{v.a}{v.b}", "{v.a}{v.b:number}"
	for name, c := range map[string]struct{ file, text, place, want string }{
		"a mark before quotes":     {"r.csv", "\ufeff\"a\",\"b\"\r\n\"x\",\"p,\"\"s\"\r\n", row, `x p,"s`},
		"a mark before JSON":       {"r.json", "\ufeff[{\"a\":1,\"b\":2}]", row, "1 2"},
		"a mark before lines":      {"r.jsonl", "\ufeff{\"a\":1,\"b\":2}\n", row, "1 2"},
		"empty rows":               {"r.csv", "a,b\n,\nx,1\n\n , \ny,2\n,\n   \n,\n", row, "x 1|y 2"},
		"one empty row":            {"r.csv", "a,b,c\nx,1,\n,,\n", row, "x 1"},
		"an unused cell is empty":  {"r.csv", "a,b,c\nx,1,\n", row, "x 1"},
		"a comma too many":         {"r.csv", "a,b\nx,1,\ny,2,,\n", row, "x 1|y 2"},
		"semicolons":               {"r.csv", "a;b\nx,5;1\n", row, "x,5 1"},
		"semicolons in quotes":     {"r.csv", "\"a\";\"b\"\n\"x;y\";1\n", row, "x;y 1"},
		"semicolons, one column":   {"r.csv", "b;a;c, d\n1;x;2\n", row, "x 1"},
		"tabs":                     {"r.tsv", "a\tb\nx\t1\n", row, "x 1"},
		"names with blanks":        {"r.csv", "User Name,b\nada,1\n", "{v.User Name}{v.b}", "ada 1"},
		"names in other letters":   {"r.csv", "Größe,E-Mail.privat\n7,x\n", "{v.Größe}{v.E-Mail.privat}", "7 x"},
		"a list of objects":        {"r.json", "[\n {\"a\":\"x\",\"b\":1.10},\n\n {\"b\":18446744073709551615,\"a\":\"[\\\"]\"}\n]\n", row, `x 1.10|["] 18446744073709551615`},
		"objects in lines":         {"r.json", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n", row, "1 2|3 4"},
		"objects over lines":       {"r.jsonl", "{\"a\":1,\n\"b\":2}\n{\"a\":3,\"b\":4}", row, "1 2|3 4"},
		"true and a number":        {"r.json", `[{"a":true,"b":1e3},{"a":false,"b":-0.50}]`, row, "true 1e3|false -0.50"},
		"an empty text in JSON":    {"r.json", `[{"a":"","b":1}]`, row, " 1"},
		"names with blanks, JSON":  {"r.json", `[{"User Name":"ada","b":1}]`, "{v.User Name}{v.b}", "ada 1"},
		"within objects":           {"r.json", `[{"a":{"b":[5]}}]`, "{v.a.b:json}{v.a:json}", `[5] {"b":[5]}`},
		"null as JSON":             {"r.json", `[{"a":null}]`, "{v.a:json}", "null"},
		"a list of texts":          {"r.json", `["x", "y z", 1.50, true]`, "{v}", "x|y z|1.50|true"},
		"texts in lines":           {"r.jsonl", "\"x\"\n\"y\"\n", "{v}", "x|y"},
		"csv":                      {"r.csv", "a,b\nx,1\n\"y, \"\"z\"\"\",-2.5e3\n", number, `x 1|y, "z" -2.5e3`},
		"other columns":            {"r.csv", "\ufeffb,c,a\r\n1,,x\r\n2,q,y\r\n", number, `x 1|y 2`},
		"long cell":                {"r.csv", "a,b\n\"two\nlines\",7\n", number, "two\nlines 7"},
		"json lines":               {"r.jsonl", `{"a":"x","b":1}` + "\n\n" + ` {"c":{"d":1},"b":2.5,"a":"é\n"} ` + "\n" + `{"a":true,"b":0}`, number, "x 1|é\n 2.5|true 0"},
		"ndjson":                   {"R.NDJSON", `{"b":1,"a":false}`, number, "false 1"},
		"a second column is twice": {"r.csv", "a,b,c,c\nx,1,2,3\n", row, "x 1"},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, testenv.Must(cells(bench.Variable{File: file(t, c.file, c.text)}, c.place))(t), c.want)
		})
	}
}

// What would be sent otherwise than the file's owner means is refused with its line, and the
// remedy.
func TestFilesThatWouldBeMisread(t *testing.T) {
	const row, number = "{v.a}{v.b}", "{v.a}{v.b:number}"
	for name, c := range map[string]struct{ file, text, place, want string }{
		"no value":              {"r.csv", "a,b\nx,1\ny,\n", row, `r.csv:3: no value in column "b"; remove the row`},
		"a blank value":         {"r.csv", "a,b\n  ,1\n", row, `r.csv:2: no value in column "a"`},
		"a quoted empty value":  {"r.csv", "a,b\nx,\"\"\n", row, `r.csv:2: no value in column "b"`},
		"a value too many":      {"r.csv", "a,b\nx,1\nx,y,1\n", row, "r.csv:3: wrong number of fields"},
		"a value too few":       {"r.csv", "a,b,c\nx,1\n", row, "r.csv:2: wrong number of fields"},
		"a column twice":        {"r.csv", "a,b,a\nx,1,y\n", row, `r.csv:1: 2 columns have the name "a"; rename one`},
		"a blank before a name": {"r.csv", "a, b\nx, 1\n", row, `r.csv:1: no column "b", but " b" with blanks; remove the blanks around commas`},
		"Latin-1":               {"r.csv", "a,b\nx,1\nGr\xf6\xdfe,2\n", row, "r.csv:3: column a: not UTF-8; save the file as UTF-8, or write `iconv -f latin1 -t utf-8 FILE` with its encoding"},
		"Latin-1 in JSON":       {"r.json", "[{\"a\":1,\"b\":2},\n{\"a\":\"\xf6\",\"b\":2}]", row, "r.json:2: column a: not UTF-8"},
		"UTF-16 without a mark": {"r.csv", "a\x00,\x00b\x00\n\x00x\x00,\x001\x00\n\x00", row, `no column "a"; if the file is UTF-16, save it as UTF-8`},
		"UTF-16":                {"r.csv", "\xff\xfea\x00,\x00b\x00", row, "r.csv:1: UTF-16, not UTF-8; save the file as UTF-8"},
		"UTF-16, big-endian":    {"r.json", "\xfe\xff\x00[\x00]", row, "r.json:1: UTF-16, not UTF-8; save the file as UTF-8"},
		"a line for Excel":      {"r.csv", "sep=;\na;b\nx;1\n", row, `r.csv:1: no column "a"; its first line does not look like names`},
		"lines of an old Mac":   {"r.csv", "a,b\rx,1\r", row, `r.csv:1: no column "b"; its lines end with CR only; save it with line feeds`},
		"other separators":      {"r.csv", "a|b\nx|1\n", row, `r.csv:1: no column "a"`},
		"null":                  {"r.json", "[{\"a\":\"x\",\"b\":1},\n\n{\"a\":null,\"b\":2}]", row, `r.json:3: "a" is null; remove the row, or write a value`},
		"null in lines":         {"r.jsonl", "{\"a\":\"x\",\"b\":1}\n{\"a\":null,\"b\":2}", row, `r.jsonl:2: "a" is null`},
		"null in a list":        {"r.json", "[\"x\",\nnull]", "{v}", `r.json:2: the value is null`},
		"an object as text":     {"r.json", `[{"a":{"c":1},"b":2}]`, row, "r.json:1: \"a\" is an object, which only `:json` can send; write a path to a value in it, such as `a.name`"},
		"a list as text":        {"r.json", `[{"a":[1],"b":2}]`, row, "r.json:1: \"a\" is a list, which only `:json` can send; write a path to a value in it, such as `a[0]`"},
		"an object as value":    {"r.json", `[{"a":1}]`, "{v}", "r.json:1: the value is an object, which only `:json` can send; write a `column`"},
		"a list as value":       {"r.json", `[[1]]`, "{v}", "the value is a list, which only `:json` can send; write a `column`, such as `column: \"[0]\"`"},
		"a key twice, escaped":  {"r.json", `[{"a":1,"b":2,"\u0061":3}]`, row, `r.json:1: "a" is there twice`},
		"no key":                {"r.json", `[{"a":1}]`, row, `r.json:1: "b" not found`},
		"a key twice":           {"r.json", `[{"a":1,"b":2,"a":3}]`, row, `r.json:1: "a" is there twice`},
		"one object":            {"r.json", `{"users":[{"a":1,"b":2}]}`, row, `r.json:1: "a" not found; write a list of rows, such as [{…}, {…}], or one object per line`},
		"a text":                {"r.json", `"x"`, row, `r.json:1: "a" not found`},
		"no end":                {"r.json", "[{\"a\":1,\"b\":2},\n{\"a\":1", row, "r.json:2: not JSON"},
		"no end of the list":    {"r.json", "[{\"a\":1,\"b\":2}\n", row, "r.json:2: not JSON: the list does not end"},
		"no comma":              {"r.json", "[{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}]", row, "r.json:2: not JSON: expected comma after array element"},
		"a comma too many":      {"r.json", "[{\"a\":1,\"b\":2},]", row, "r.json:1: not JSON"},
		"more after the list":   {"r.json", "[{\"a\":1,\"b\":2}]\n[]", row, "r.json:2: not JSON: more text after the list"},
		"an empty list":         {"r.json", "[]", row, "r.json: no rows"},
		"nothing":               {"r.json", " \n", row, "r.json: no rows"},
		"empty":                 {"r.csv", "", number, "r.csv:1: empty file: the first line must have the names of the columns"},
		"no rows":               {"r.csv", "a,b\n", number, ": no rows"},
		"no column":             {"r.csv", "a,bb\nx,1\n", number, `r.csv:1: no column "b"`},
		"short row":             {"r.csv", "a,b\nx,1\nx\n", number, "r.csv:3: wrong number of fields"},
		"open quote":            {"r.csv", "a,b\n\"x,1\n", number, "r.csv:2: "},
		"not a number":          {"r.csv", "a,b\nx,1\nx,one\n", number, `r.csv:3: column b: "one" is not a number, which ` + "`:number` needs"},
		"hexadecimal":           {"r.csv", "a,b\nx,0x1\n", number, `"0x1" is not a number`},
		"not JSON":              {"r.jsonl", `{"a":"x","b":1}` + "\n{\n", number, "r.jsonl:2: not JSON; write one object per line"},
		"no key in a line":      {"r.jsonl", `{"a":"x","b":1}` + "\n" + `{"a":"x"}`, number, `r.jsonl:2: "b" not found`},
		"text for number":       {"r.jsonl", `{"a":"x","b":"1a"}`, number, `r.jsonl:1: column b: "1a" is not a number`},
		"long line":             {"r.jsonl", `{"a":"` + strings.Repeat("x", 2<<20) + `","b":1}`, number, "row 1 is longer than 1 MiB"},
		"empty rows only":       {"r.csv", "a,b\n,\n", row, "r.csv: no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Fails(t, testenv.Err(cells(bench.Variable{File: file(t, c.file, c.text)}, c.place)), c.want)
		})
	}
}

// CheckFile finds, in the first rows, what a run would find.
func TestCheckFile(t *testing.T) {
	long := "a,b\n" + strings.Repeat("x,1\n", checkedRows-1)
	for _, c := range map[string]struct {
		text, column string
		use          Use
		want         string
	}{
		"right":                  {"a,b\nx,1\n", "b", Use{Number: true}, ""},
		"an empty cell":          {"a,b\nx,1\n,1\n", "a", Use{}, "r.csv:3: no value"},
		"a text":                 {"a,b\nx,1\nx,y\n", "b", Use{Number: true}, "r.csv:3: column b"},
		"the last checked row":   {long + "x,\n", "b", Use{}, fmt.Sprintf("r.csv:%d: no value", checkedRows+1)},
		"the row after the last": {long + "x,1\nx,\n", "b", Use{}, ""},
	} {
		testenv.Fails(t, CheckFile(bench.Variable{Name: "v", File: file(t, "r.csv", c.text)}, c.column, c.use), c.want)
	}
}

// endless is text without an end.
type endless struct {
	text []byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 64<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	for i := range p {
		p[i] = e.text[i%len(e.text)]
	}
	return len(p), nil
}

// A row without an end is refused before more than a few MiB are read, whatever it is.
func TestEndlessRows(t *testing.T) {
	for name, c := range map[string]struct{ file, begin, text string }{
		"zeros":                {"r.csv", "a,b\n", "\x00"},
		"zeros from the start": {"r.csv", "", "\x00"},
		"a quote":              {"r.csv", "a,b\nx,\"", "1,2\n"},
		"a quote in the first": {"r.csv", "\"", "1,2\n"},
		"cells":                {"r.csv", "a,b\n", ",x"},
		"a text":               {"r.json", `[{"a":"`, "x"},
		"a number":             {"r.json", `[`, "1"},
		"a list":               {"r.json", `[[1`, ` `},
		"an object":            {"r.jsonl", `{"a":`, "\n"},
		"a line":               {"r.jsonl", `{"a":"`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			from := &endless{text: []byte(c.text)}
			in := &reader{file: c.file, rows: &Rows{columns: []string{"a"}}, used: []column{{name: "a"}}, limit: 10}
			err := in.read(io.MultiReader(strings.NewReader(c.begin), from))
			testenv.Check(t, err != nil && strings.Contains(err.Error(), "is longer than 1 MiB") && from.read <= 4<<20,
				"%v after %d bytes", err, from.read)
		})
	}
}
