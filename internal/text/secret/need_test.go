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
		{Name: "db", Kind: "container", From: bench.NeedContainer, Of: bench.FormFrom([]byte(form))},
		{Name: "plain", Kind: "container", From: bench.NeedContainer, Of: bench.FormFrom([]byte(`{"z":"<&>", "a":1}`))},
		{Name: "named", Kind: "container", From: bench.NeedExternal, URL: "postgres://app:${PGPASSWORD}@10.0.0.5:5432/shop"},
		{Name: "address", Kind: "container", From: bench.NeedExternal, URL: "10.0.0.5:5432"},
	}}}
	m := New(Of(run, nil)...)
	all := m.Run(run).Profile.Needs
	got := all[0].Of.String()
	for _, text := range []string{
		`"image":"postgres:17"`, `"POSTGRES_USER":"app"`, `"POSTGRES_PASSWORD":"***"`, `"ADMIN_PASSWORD":"${PGPASSWORD}"`,
		`"OTHER_PASSWORD_FILE":"/run/secrets/pw"`, `"DSN_PASSWORD":"***"`, `"--requirepass","***","--port","6379"`,
		`"postgres://***@db/shop"`, `"main":5432`, `18446744073709551615`,
	} {
		testenv.Check(t, strings.Contains(got, text), "no %s in %s", text, got)
	}
	testenv.Equal(t, all[1].Of.String(), run.Profile.Needs[1].Of.String(), "without a secret it keeps its form")
	testenv.Equal(t, all[2].URL, run.Profile.Needs[2].URL)
	testenv.Equal(t, all[3].URL, "10.0.0.5:5432")
	testenv.Equal(t, m.Text("hunter22 s3cretary longpass"), "*** *** ***")
	testenv.Equal(t, m.Text("image postgres:17"), "image postgres:17", "a password that is part of the image's name")
	testenv.Equal(t, run.Profile.Needs[0].Of.String(), form, "the original")
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

// TestPlaces: the record keeps the places of variables, also after an option
// and within a word, and masks what is around them if that is long enough to be a secret.
func TestPlaces(t *testing.T) {
	for written, want := range map[string]string{
		`{"command":["redis-server","--requirepass","${DBPW}"]}`:                    "",
		`{"seed":[{"command":["-password=${DBPW}"],"image":"x"}]}`:                  "",
		`{"command":["PASSWORD=${DBPW}"],"environment":{"APP_SECRET":"x${DBPW}y"}}`: "",
		`{"environment":{"DATABASE_URL":"postgres://u:${DBPW}@h/x"}}`:               "",
		`{"environment":{"DATABASE_URL":"postgres://a-long-user:${DBPW}@h/x"}}`:     "",
		`{"environment":{"APP_SECRET":"${DBPW:?write it}"}}`:                        "",
		`{"environment":{"APP_SECRET":"${DBPW:-a-default}"}}`:                       `{"environment":{"APP_SECRET":"***"}}`,
		`{"command":["mysql","-p${DBPW}"]}`:                                         "",
		`{"command":["sh","-c","redis-cli -a ${DBPW} get a"]}`:                      "",
		`{"command":["curl","-u","shopuser:${DBPW}"]}`:                              "",
		`{"environment":{"APP_SECRET":"pepper-and-${DBPW}-salt"}}`:                  `{"environment":{"APP_SECRET":"***${DBPW}-salt"}}`,
		`{"command":["--db-password=pepper-and-${DBPW}"]}`:                          `{"command":["--db-password=***${DBPW}"]}`,
		`{"environment":{"APP_SECRET":"$${DBPW}"}}`:                                 `{"environment":{"APP_SECRET":"***"}}`,
		`{"environment":{"APP_SECRET":"short"}}`:                                    `{"environment":{"APP_SECRET":"***"}}`,
	} {
		if want == "" {
			want = written
		}
		run := bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{{Name: "db", Of: bench.FormFrom([]byte(written))}}}}
		values := Of(run, nil)
		testenv.Equal(t, New(values...).Run(run).Profile.Needs[0].Of.String(), want, written)
		for _, v := range values {
			testenv.Check(t, !strings.Contains(v, "${DBPW}") || strings.Contains(v, "$$"), "%s: %q is taken for a secret", written, v)
		}
	}
	got := New().Run(bench.Run{Profile: bench.Profile{Settings: []bench.Settings{{Env: map[string]string{"A_SECRET": "x${B}", "B_SECRET": "pepper-and-${B}"}}}}})
	testenv.Equal(t, got.Profile.Settings[0].Env, map[string]string{"A_SECRET": "x${B}", "B_SECRET": "***${B}"})
}

// TestTools: passwords in SQL and in options of programs are masked in lists of words, in lines for a
// shell, and wherever else they occur.
func TestTools(t *testing.T) {
	const value = "hunter2-hunter2"
	for name, argv := range map[string][]string{
		"CREATE USER":     {"psql", "-c", "CREATE ROLE a LOGIN PASSWORD '" + value + "'"},
		"quotes":          {"sh", "-c", `psql -c "ALTER ROLE a WITH ENCRYPTED  PASSWORD '` + value + `'"`},
		"IDENTIFIED":      {"mysql", "-e", "CREATE USER a IDENTIFIED BY '" + value + "'"},
		"IDENTIFIED WITH": {"mysql", "-e", "create user a identified with caching_sha2_password by '" + value + "'"},
		"mysql":           {"mysql", "-u", "root", "-p" + value, "shop"},
		"path":            {"/usr/bin/mariadb", "-p" + value},
		"mysqldump":       {"sh", "-c", "mysqldump -uroot -p" + value + " shop"},
		"mysql in sh":     {"sh", "-c", "sleep 1; mysql -p" + value + "; redis-cli ping"},
		"quoted":          {"sh", "-c", "mysql -p'" + value + "' shop"},
		"redis-cli":       {"redis-cli", "-h", "db", "-a", value, "get", "a"},
		"redis-cli in sh": {"sh", "-c", "true && redis-cli -a " + value + " get a"},
		"mongosh":         {"mongosh", "-u", "root", "-p", value},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Contains(t, strings.Join(Masker{}.Args(argv), " "), "!"+value, Mask)
			form := testenv.Must(json.Marshal(map[string]any{"command": argv}))(t)
			run := bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{{Name: "db", Of: bench.FormFrom(form)}}}}
			testenv.Equal(t, New(Of(run, nil)...).Text("it said "+value), "it said ***")
		})
	}
	for _, argv := range [][]string{
		{"psql", "-p", "5433"}, {"mysql", "-p"}, {"mysql", "-P3306"}, {"tool", "-a", "all"}, {"sh", "-c", "mysql shop; grep -pattern x"}, {"mysql", "--port=1"},
	} {
		testenv.Equal(t, Masker{}.Args(argv), argv)
	}
	testenv.Equal(t, New(`a"b'c"d`).Text(`value "a""b'c""d" and 'a"b''c"d'`), `value "***" and '***'`)
}

// Of a connection string only the settings of its pool and time limits are shown, and nothing of what may be
// a part of a password or a cookie.
func TestMasked(t *testing.T) {
	for v, want := range map[string]string{
		"Host=h;Username=u;Password=hunter22;Maximum Pool Size=2;Pooling=true": "***;Maximum Pool Size=2;Pooling=true",
		"Server=h;Password=123456;":              "***",
		"Server=h;Pwd=1;Timeout=15;":             "***;Timeout=15",
		"Server=h;Key=1234567":                   "***",
		`Password="a;b=1;c=2"`:                   "***",
		"Password='a;b=1;c=2'":                   "***",
		"Password=a;b;Timeout=15":                "***",
		"Timeout=15":                             "***",
		"user=u password=hunter22 host=h pool=2": "***",
		"hunter22":                               "***",
		"a=1; session=123456":                    "***",
		"Server=h;Lucky Number=7":                "***",
	} {
		got, _ := around(v)
		testenv.Equal(t, got, want, v)
	}
}
