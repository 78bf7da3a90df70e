package dataset

import (
	"bytes"
	"encoding/json"
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

const anyMapping = `{"mappings":{}}`

func TestDumpIsWhatWasWritten(t *testing.T) {
	set := mustOpen(t, Spec{Cities: 40, Seed: 3})
	dir := filepath.Join(t.TempDir(), "new", "folder")
	testenv.OK(t, writeDump(dir, set))
	back := mustOpen(t, Spec{Dir: dir})
	info := back.Info()
	testenv.Check(t, info.Name == dir && info.Size == "40 cities, 63 regions" && len(info.Hash) == 64, "info %+v",
		info)
	for _, index := range set.Indices() {
		i := slices.IndexFunc(back.Indices(), func(other Index) bool { return other.Name == index.Name })
		testenv.Need(t, i >= 0 && back.Indices()[i].Count == index.Count, "index %s: %+v", index.Name, back.Indices())
		var want, got []string
		for doc, err := range set.Documents(index.Name) {
			want = append(want, fmt.Sprint(doc.ID, string(doc.Source), err))
		}
		for doc, err := range back.Documents(index.Name) {
			got = append(got, fmt.Sprint(doc.ID, string(doc.Source), err))
		}
		testenv.Equal(t, got, want, index.Name)
	}
	wantIDs, _ := set.IDs(t.Context())
	ids, err := back.IDs(t.Context())
	testenv.Check(t, err == nil && slices.Equal(ids, wantIDs), "ids %v, %v", ids, err)
	again := mustOpen(t, Spec{Dir: dir})
	testenv.Equal(t, again.Info(), info)
	f := testenv.Must(os.OpenFile(filepath.Join(dir, "city.ndjson"), os.O_APPEND|os.O_WRONLY, 0))(t)
	fmt.Fprintln(f, `{"index":{}}`+"\n{}")
	f.Close()
	changed := mustOpen(t, Spec{Dir: dir}).Info()
	testenv.Check(t, changed.Hash != info.Hash && changed.Size == "41 cities, 63 regions", "with one more document: %+v", changed)
}

func TestDumpForms(t *testing.T) {
	dir := testenv.Folder(t, map[string]string{
		"places.mapping.json": `{"mappings":{"properties":{"n":{"type":"long"}}}}`,
		"unrelated.md":        "x",
		"other.json":          "not looked at",
		"places.ndjson": `{"index":{"_index":"old","_type":"_doc","_id":"a/b c"}}` + "\r\n" + `{"n":1}` + "\r\n" +
			"\n" + `{ "create" : { "_id" : 42 , "routing" : "r" , "_index":"old" } }` + "\n" + ` {"n":2}` + "\n" +
			`{"index":{}}` + "\n" + `{"n":3}` + "\n\n",
	})
	set := mustOpen(t, Spec{Dir: dir})
	var got []string
	for doc, err := range set.Documents("places") {
		got = append(got, fmt.Sprintf("%s|%s|%s|%v", doc.ID, doc.Routing, doc.Source, err))
	}
	testenv.Equal(t, got, []string{`a/b c||{"n":1}|<nil>`, `42|r|{"n":2}|<nil>`, `document-3||{"n":3}|<nil>`})
	ids, err := set.IDs(t.Context())
	testenv.Check(t, err == nil && slices.Equal(ids, []int64{42}), "ids %v, %v", ids, err)
	info := set.Info()
	testenv.Check(t, info.Size == "3 cities, 0 regions", "info %+v", info)
	for _, err := range set.Documents("other") {
		testenv.Check(t, err != nil, "an index without documents was found")
	}
}

// TestPublishedDump uses the names and forms of the dump that was published with the original of
// the locations service: an index's definition with its aliases under the name of a version,
// documents under the name of the alias, ids that are numbers.
func TestPublishedDump(t *testing.T) {
	region := `{"index": {"_index": "region", "_id": 85682309}}` + "\n" + `{"id": 85682309, "countryIso": "CZ"}` + "\n"
	dir := testenv.Folder(t, map[string]string{
		"index-mapping-city_v1.json":    `{"aliases":{"city":{}},"mappings":{"dynamic":"false","properties":{"id":{"type":"long"}}},"settings":{"index":{"number_of_shards":"1"}}}`,
		"index-data-city.ndjson":        `{"index": {"_index": "city", "_id": 101748109}}` + "\n" + `{"id": 101748109, "countryIso": "CZ"}` + "\n",
		"index-mapping-region_v12.json": `{"aliases":{"region":{}},"mappings":{"dynamic":"false"},"settings":{}}`,
		"index-data-region.ndjson":      region + region,
		"dump-es-indices-and-data.py":   "#!/usr/bin/env python3\n",
	})
	set := mustOpen(t, Spec{Dir: dir})
	info := set.Info()
	testenv.Check(t, info.Size == "1 cities, 2 regions", "info %+v", info)
	for _, index := range set.Indices() {
		testenv.Contains(t, string(index.Mapping), "!aliases", `"dynamic":"false"`)
	}
	ids, err := set.IDs(t.Context())
	testenv.Check(t, err == nil && slices.Equal(ids, []int64{101748109}), "ids %v, %v", ids, err)
	for doc, err := range set.Documents("region") {
		testenv.Check(t, err == nil && doc.ID == "85682309", "%+v, %v", doc, err)
	}
}

func TestDumpMistakes(t *testing.T) {
	long := strings.Repeat("x", maxID+1)
	for name, c := range map[string]struct{ ndjson, want string }{
		"no JSON":          {"index\n{}\n", "city.ndjson:1: invalid character"},
		"second is none":   {`{"index":{}}` + "\n{}\nfoo\n{}\n", "city.ndjson:3: invalid character"},
		"an array":         {"[]\n{}\n", "city.ndjson:1: an array; write one document after the other"},
		"no action":        {"{}\n{}\n", "city.ndjson:1: action with 0 keys: expected one action"},
		"two actions":      {`{"index":{},"create":{}}` + "\n{}\n", "city.ndjson:1: action with 2 keys: expected one action"},
		"delete":           {`{"delete":{"_id":"1"}}` + "\n", `city.ndjson:1: action "delete": expected index or create`},
		"pipeline":         {`{"index":{"pipeline":"p"}}` + "\n{}\n", `city.ndjson:1: action: json: unknown field "pipeline"`},
		"empty id":         {`{"index":{"_id":""}}` + "\n{}\n", "city.ndjson:1: action: _id of 0 bytes"},
		"long id":          {`{"index":{"_id":"` + long + `"}}` + "\n{}\n", "city.ndjson:1: action: _id of 513 bytes: expected 1 to 512"},
		"id an object":     {`{"index":{"_id":{}}}` + "\n{}\n", "city.ndjson:1: action: "},
		"two indices":      {`{"index":{"_index":"a"}}` + "\n{}\n" + `{"index":{"_index":"b"}}` + "\n{}\n", `city.ndjson:3: index "b" in this action, "a" in an earlier one`},
		"no document":      {`{"index":{}}` + "\n{}\n" + `{"index":{}}` + "\n", "city.ndjson:4: the file ends after an action"},
		"broken document":  {`{"index":{}}` + "\n{}\n" + `{"index":{}}` + "\n" + `{"a":` + "\n", "city.ndjson:4: unexpected EOF"},
		"document a list":  {`{"index":{}}` + "\n[1]\n", "city.ndjson:2: the document is not a JSON object"},
		"document is null": {`{"index":{}}` + "\nnull\n", "city.ndjson:2: the document is not a JSON object: \"null\""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.Folder(t, map[string]string{"city.mapping.json": anyMapping, "city.ndjson": c.ndjson})
			_, err := Dump(dir)
			testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), filepath.Join(dir, c.want[:11])+c.want[11:]),
				"error %v, want %s", err, c.want)
		})
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty folder":          {nil, "no data files: expected <index>.ndjson"},
		"no mapping":            {map[string]string{"city.ndjson": ""}, "city.ndjson has no mapping: add city.mapping.json"},
		"no documents":          {map[string]string{"city.mapping.json": anyMapping}, "city.mapping.json has no documents: city.ndjson or city.json is missing"},
		"published, no mapping": {map[string]string{"index-data-city.ndjson": ""}, "index-data-city.ndjson has no mapping: add city.mapping.json"},
		"published, no data":    {map[string]string{"index-mapping-city_v1.json": anyMapping}, "index-mapping-city_v1.json has no documents: city.ndjson or city.json is missing"},
		"two versions":          {map[string]string{"index-data-city.ndjson": "", "index-mapping-city_v1.json": anyMapping, "index-mapping-city_v2.json": anyMapping}, "city has two files of mappings, index-mapping-city_v1.json and index-mapping-city_v2.json"},
		"both names":            {map[string]string{"city.ndjson": "", "index-data-city.ndjson": "", "city.mapping.json": anyMapping}, "city has two files of documents, city.ndjson and index-data-city.ndjson"},
		"upper case":            {map[string]string{"City.ndjson": "", "City.mapping.json": anyMapping}, `index name "City": expected lower case`},
		"forbidden":             {map[string]string{"a b.ndjson": "", "a b.mapping.json": anyMapping}, "a character that Elasticsearch forbids"},
		"hidden":                {map[string]string{".a.ndjson": "", ".a.mapping.json": anyMapping}, "a character that Elasticsearch forbids"},
		"no name":               {map[string]string{".ndjson": ""}, "expected 1 to 200 bytes"},
		"broken mapping":        {map[string]string{"city.ndjson": "", "city.mapping.json": "{\n\"mappings\":\n}"}, "city.mapping.json: line 3: invalid character"},
		"mapping of nothing":    {map[string]string{"city.ndjson": "", "city.mapping.json": `{"settings":{}}`}, `no "mappings" object`},
		"mapping null":          {map[string]string{"city.ndjson": "", "city.mapping.json": `{"mappings":null}`}, `no "mappings" object`},
		"mapping misspelled":    {map[string]string{"city.ndjson": "", "city.mapping.json": `{"mapings":{},"settings":{}}`}, `unknown key "mapings"`},
		"bare mappings":         {map[string]string{"city.ndjson": "", "city_mapping.json": `{"properties":{}}`}, `city_mapping.json: unknown key "properties": expected {"mappings"`},
		"a mapping type":        {map[string]string{"city.ndjson": "", "city_mapping.json": `{"city":{"mappings":{"_doc":{"properties":{}}}}}`}, `city_mapping.json: mapping type "_doc", which Elasticsearch 7 does not have`},
		"mapping in an array":   {map[string]string{"city.ndjson": "", "city_mapping.json": `[{}]`}, `city_mapping.json: json: cannot unmarshal array`},
		"compressed":            {map[string]string{"city.ndjson.gz": "", "city.mapping.json": anyMapping}, `city.ndjson.gz is compressed; unpack it: gunzip city.ndjson.gz`},
		"both reported":         {map[string]string{"a.ndjson": "x", "a.mapping.json": anyMapping, "b.ndjson": ""}, "b.ndjson has no mapping"},
	} {
		t.Run(name, func(t *testing.T) { testenv.Fails(t, testenv.Err(Dump(testenv.Folder(t, c.files))), c.want) })
	}
	_, err := Dump(filepath.Join(t.TempDir(), "absent"))
	testenv.Check(t, err != nil, "an absent folder was read")
}

func TestDumpLineTooLong(t *testing.T) {
	const head = `{"index":{}}` + "\n{"
	long := io.MultiReader(strings.NewReader(head), io.LimitReader(spaces{}, maxValue), strings.NewReader("}\n"))
	n := 0
	for _, err := range readBulk(long, "city.ndjson") {
		if n++; err == nil || !strings.Contains(err.Error(), "city.ndjson:2: a value longer than the 64 MiB allowed") {
			t.Errorf("error %v", err)
		}
	}
	testenv.Equal(t, n, 1)
}

// spaces are more than a file in practice has.
type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestReadMapping(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"as PUT takes it": {`{"settings":{"index":{"number_of_shards":2}},"mappings":{"dynamic":false}}`,
			`{"mappings":{"dynamic":false},"settings":{"index":{"number_of_shards":2}}}`},
		"settings flat": {`{"settings":{"number_of_shards":2,"index.refresh_interval":"1s"},"mappings":{}}`,
			`{"mappings":{},"settings":{"index":{"number_of_shards":2,"refresh_interval":"1s"}}}`},
		"GET _mapping":     {`{"city_v3":{"mappings":{"properties":{}}}}`, `{"mappings":{"properties":{}}}`},
		"only the mapping": {`{"mappings":{"properties":{}}}`, `{"mappings":{"properties":{}}}`},
		"GET the index": {`{"city_v3":{"aliases":{"city":{}},"mappings":{},"settings":{"index":{"uuid":"u","creation_date":"1","provided_name":"p","version":{"created":"7"},"number_of_shards":"1"}}}}`,
			`{"mappings":{},"settings":{"index":{"number_of_shards":"1"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := readMapping([]byte(c.in))
			got, _ := json.Marshal(of)
			testenv.Check(t, err == nil && string(got) == c.want, "got %s, %v; want %s", got, err, c.want)
		})
	}
}

func FuzzReadMapping(f *testing.F) {
	f.Add([]byte(`{"settings":{"index":{}},"mappings":{"_meta":{}}}`))
	f.Add([]byte(`{"city_v3":{"mappings":{"properties":{}}}}`))
	f.Add([]byte(`{"settings":null,"mappings":{}}`))
	f.Add([]byte(`{"city":{"mappings":{"_doc":{"properties":{}},"_default_":{}}}}`))
	f.Add([]byte(`[{"city":{"properties":{}}}]`))
	f.Add([]byte(`{"settings":{"index":null,"index.x":1},"properties":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		of, err := readMapping(data)
		if err != nil {
			return
		}
		once := testenv.Must(json.Marshal(of))(t)
		of, err = readMapping(once)
		twice, _ := json.Marshal(of)
		testenv.Check(t, err == nil && bytes.Equal(once, twice), "%s becomes %s and then %s, %v", data, once, twice, err)
	})
}

// A dump that can be read can be written and read again.
func FuzzReadBulk(f *testing.F) {
	f.Add([]byte(`{"index":{"_index":"old","_type":"_doc","_id":"a/b c"}}` + "\r\n" + `{"n":1}` + "\r\n"))
	f.Add([]byte(`{"create":{"_id":42,"routing":"r"}}` + "\n" + `{"n":2}`))
	f.Add([]byte("\n\n" + `{"index":{}}` + "\n{}\n\n"))
	f.Add([]byte(`{"index":{"_id":"\ud800\u0000\""}}` + "\n{}\n"))
	f.Add([]byte(`{"delete":{}}` + "\n"))
	f.Add([]byte(`{"_id":"1","_score":1,"_source":{"a":[1]}}` + "\n"))
	f.Add([]byte("[\n{\"_id\":\"1\",\"_source\":{\n}},{\"index\":{}},{\"a\":\n1}\n]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out []byte
		var docs []string
		for doc, err := range readBulk(bytes.NewReader(data), "f") {
			if err != nil {
				testenv.Check(t, strings.HasPrefix(err.Error(), "f:"), "error without file and line: %v", err)
				break
			}
			out = append(append(doc.AppendAction(out, "create"), doc.Source...), '\n')
			docs = append(docs, doc.ID+"|"+doc.Routing+"|"+string(doc.Source))
		}
		for doc, err := range readBulk(bytes.NewReader(out), "f") {
			testenv.Need(t, err == nil, "written dump cannot be read: %v\n%q", err, out)
			testenv.Need(t, len(docs) != 0 && doc.ID+"|"+doc.Routing+"|"+string(doc.Source) == docs[0],
				"%q was read again as %+v", docs, doc)
			docs = docs[1:]
		}
		testenv.Check(t, len(docs) == 0, "lost on the way: %q", docs)
	})
}

// writeDump writes set to a folder in the form that Dump reads.
func writeDump(dir string, set Set) error {
	err := os.MkdirAll(dir, 0o755)
	for _, index := range set.Indices() {
		var docs bytes.Buffer
		for doc, errDoc := range set.Documents(index.Name) {
			docs.Write(append(append(doc.AppendAction(nil, "index"), doc.Source...), '\n'))
			err = errors.Join(err, errDoc)
		}
		path := filepath.Join(dir, index.Name)
		err = errors.Join(err, os.WriteFile(path+".mapping.json", index.Mapping, 0o600),
			os.WriteFile(path+".ndjson", docs.Bytes(), 0o600))
	}
	return err
}
