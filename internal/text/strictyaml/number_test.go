package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// doc keeps a value as the JSON that is made of it.
type doc struct {
	Value jsonText `yaml:"value"`
}

type jsonText string

func (j *jsonText) UnmarshalStrict(v strictyaml.Value) { *j = jsonText(v.JSON()) }

// A number in JSON is the one in the file, digit by digit. What JSON cannot say is not guessed.
func TestNumbersAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"18446744073709551615":              "18446744073709551615",
		"123456789012345678901234567890":    "123456789012345678901234567890",
		"10.00":                             "10.00",
		"1.10":                              "1.10",
		"1e3":                               "1e3",
		"-1E-7":                             "-1E-7",
		"1e400":                             "1e400", // more than a float64 holds: the library's text
		"-0":                                "-0",
		"0":                                 "0",
		"0.30000000000000004":               "0.30000000000000004",
		`"02142"`:                           `"02142"`,
		`'1e3'`:                             `"1e3"`,
		"NO":                                `"NO"`,
		"yes":                               `"yes"`,
		"on":                                `"on"`,
		"y":                                 `"y"`,
		"[~, null]":                         "[null,null]",
		"True":                              "true",
		"2024-01-31":                        `"2024-01-31"`,
		"2024-01-31 10:00:00":               `"2024-01-31 10:00:00"`,
		"22:30:00":                          `"22:30:00"`,
		"1.2.3":                             `"1.2.3"`,
		"0x":                                `"0x"`,
		"[10.00, {a: 1.50}]":                `[10.00,{"a":1.50}]`,
		"{02142: x}":                        `{"02142":"x"}`,
		"|-\n  02142":                       `"02142"`,
		"0xdeadbeefdeadbeefdeadbeefdeadbee": `"0xdeadbeefdeadbeefdeadbeefdeadbee"`,
	} {
		var got doc
		err := strictyaml.Decode("f.yaml", []byte("value: "+text+"\n"), &got)
		testenv.Check(t, err == nil && string(got.Value) == want, "%s: %s, %v; want %s", text, got.Value, err, want)
	}
	for text, hint := range map[string]string{
		"02142":   "leave out the leading zero",
		"-017":    "leave out the leading zero",
		"08":      "leave out the leading zero",
		"007.5":   "leave out the leading zero",
		"0x1F":    "write 31, or put it in quotes if it is a text",
		"-0x1F":   "write -31,",
		"0o17":    "write 15,",
		"0b101":   "write 5,",
		"1_000":   "write 1000,",
		"1_000.5": "write 1000.5,",
		".5":      "write 0.5,",
		"-.5e3":   "write -0.5e3,",
		"+5":      "write 5,",
		"5.":      "write 5.0,",
		"5.e3":    "write 5.0e3,",
		".inf":    "JSON cannot write it: put it in quotes if it is a text",
		"-.Inf":   "JSON cannot write it",
		".NaN":    "JSON cannot write it",
	} {
		var got doc
		err := strictyaml.Decode("f.yaml", []byte("\nvalue:\n  a: 1\n  b: ["+text+"]\n"), &got)
		if err == nil || !strings.Contains(err.Error(), hint) || !strings.HasPrefix(err.Error(), "f.yaml:4: ") {
			t.Errorf("%s: %s, %v; want line 4, %q", text, got.Value, err, hint)
		}
	}
}

// A leading zero is not read as octal anywhere.
func TestLeadingZeros(t *testing.T) {
	var got struct {
		Number int    `yaml:"number"`
		Seed   uint64 `yaml:"seed"`
	}
	err := strictyaml.Decode("f.yaml", []byte("number: 010\nseed: 007\n"), &got)
	testenv.Check(t, err != nil && strings.Count(err.Error(), "leave out the leading zero") == 2, "%+v, %v", got, err)
	if err := strictyaml.Decode("f.yaml", []byte("number: 0x10\nseed: 0\n"), &got); err != nil || got.Number != 16 {
		t.Errorf("%+v, %v", got, err)
	}
}
