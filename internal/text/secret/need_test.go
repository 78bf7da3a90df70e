package secret

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestNeeds: the record of a run has no password of a need's environment, command or address, and
// no other text has it. A variable and a file that only name one stay, and so does what is not
// secret.
func TestNeeds(t *testing.T) {
	const form = `{"image":"postgres:17","environment":{"POSTGRES_USER":"app","POSTGRES_PASSWORD":"hunter22","ADMIN_PASSWORD":"${PGPASSWORD}",` +
		`"OTHER_PASSWORD_FILE":"/run/secrets/pw","DSN_PASSWORD":"postgres"},"command":["redis-server","--requirepass","s3cretary","--port","6379"],` +
		`"seed":["a.sql",{"command":["psql","postgres://app:longpass@db/shop"]}],"ports":{"main":5432},"big":18446744073709551615}`
	run := bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{
		{Name: "db", Kind: "container", From: bench.NeedContainer, Of: json.RawMessage(form)},
		{Name: "plain", Kind: "container", From: bench.NeedContainer, Of: json.RawMessage(`{"z":"<&>", "a":1}`)},
		{Name: "named", Kind: "container", From: bench.NeedExternal, URL: "postgres://app:${PGPASSWORD}@10.0.0.5:5432/shop"},
		{Name: "address", Kind: "container", From: bench.NeedExternal, URL: "10.0.0.5:5432"},
	}}}
	m := New(Of(run, nil)...)
	all := m.Run(run).Profile.Needs
	got := string(all[0].Of)
	for _, text := range []string{
		`"image":"postgres:17"`, `"POSTGRES_USER":"app"`, `"POSTGRES_PASSWORD":"***"`, `"ADMIN_PASSWORD":"${PGPASSWORD}"`,
		`"OTHER_PASSWORD_FILE":"/run/secrets/pw"`, `"DSN_PASSWORD":"***"`, `"--requirepass","***","--port","6379"`,
		`"postgres://***@db/shop"`, `"main":5432`, `18446744073709551615`,
	} {
		testenv.Check(t, strings.Contains(got, text), "no %s in %s", text, got)
	}
	testenv.Equal(t, string(all[1].Of), string(run.Profile.Needs[1].Of), "without a secret it keeps its form")
	testenv.Equal(t, all[2].URL, run.Profile.Needs[2].URL)
	testenv.Equal(t, all[3].URL, "10.0.0.5:5432")
	testenv.Equal(t, m.Text("hunter22 s3cretary longpass"), "*** *** ***")
	testenv.Equal(t, m.Text("image postgres:17"), "image postgres:17", "a password that is part of the image's name")
	testenv.Equal(t, string(run.Profile.Needs[0].Of), form, "the original")
}

func TestAddresses_OfNeeds(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.5:5432": "10.0.0.5:5432", "db:5432": "db:5432", "[::1]:6379": "[::1]:6379",
		"me:pw@db:5432": Unreadable, "postgres://app:pw@db:5432/shop": "postgres://db:5432/shop",
	} {
		testenv.Equal(t, WithoutUser(text), want, text)
		testenv.Equal(t, Address(text), want, text)
	}
}
