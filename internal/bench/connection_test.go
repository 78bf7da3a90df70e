package bench

import (
	"net/url"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// hardPassword has what one of the formats takes for its own syntax.
const hardPassword = `p;w'd"x=@/%41$& +#?{}\ü`

// These strings have been read with pgjdbc 42.7, Connector/J 9.1, MariaDB's driver 3.5, SQLAlchemy
// 2.1, pgx 5 and go-sql-driver 1.9: user, password and database were these. Npgsql's format is that
// of ADO.NET, which quotes with " and doubles it within.
func TestNeedAddress_Connection(t *testing.T) {
	hard := NeedAddress{Kind: Postgres, Host: "db", Port: "5432", User: "a b", Password: hardPassword, Database: "shop"}
	const escaped = "p%3Bw%27d%22x%3D%40%2F%2541%24%26%20%2B%23%3F%7B%7D%5C%C3%BC"
	easy := NeedAddress{Host: "db", Port: "3306", User: "app", Password: "s3cret", Database: "shop"}
	of := func(a NeedAddress, kind Database) NeedAddress { a.Kind = kind; return a }
	for _, c := range []struct {
		a          NeedAddress
		form, want string
	}{
		{hard, "ADO", `Host=db;Port=5432;Username="a b";Password="p;w'd""x=@/%41$& +#?{}\ü";Database=shop`},
		{hard, "JDBC", "jdbc:postgresql://db:5432/shop?user=a%20b&password=" + escaped},
		{hard, "SQLAlchemy", "postgresql://a%20b:" + escaped + "@db:5432/shop"},
		{hard, "Go", "postgres://a%20b:" + escaped + "@db:5432/shop"},
		{of(hard, MySQL), "ADO", `Server=db;Port=5432;User ID="a b";Password="p;w'd""x=@/%41$& +#?{}\ü";Database=shop`},
		{of(hard, MySQL), "JDBC", "jdbc:mysql://db:5432/shop?user=a%20b&password=" + escaped},
		{of(hard, MySQL), "SQLAlchemy", "mysql://a%20b:" + escaped + "@db:5432/shop"},
		{of(hard, MySQL), "Go", "a b:" + hardPassword + "@tcp(db:5432)/shop"},
		{of(hard, MariaDB), "SQLAlchemy", "mariadb://a%20b:" + escaped + "@db:5432/shop"},
		{of(easy, MariaDB), "ADO", "Server=db;Port=3306;User ID=app;Password=s3cret;Database=shop"},
		{of(easy, MariaDB), "JDBC", "jdbc:mariadb://db:3306/shop?user=app&password=s3cret"},
		{of(easy, MariaDB), "Go", "app:s3cret@tcp(db:3306)/shop"},
		{NeedAddress{Kind: Postgres, Host: "::1", Port: "5432"}, "ADO", "Host=::1;Port=5432"},
		{NeedAddress{Kind: Postgres, Host: "::1", Port: "5432", User: "a"}, "SQLAlchemy", "postgresql://a@[::1]:5432/"},
	} {
		testenv.Equal(t, testenv.Must(c.a.Connection(c.form))(t), c.want, c.form)
	}
	_, err := of(hard, MariaDB).Connection("JDBC")
	testenv.Fails(t, err, "cannot have blanks or any of `%+&=#?/`; use Host, Port, User, Password and Database")
	_, err = easy.Connection("ADO")
	testenv.Fails(t, err, "ADO is for PostgreSQL, MySQL and MariaDB; use Host, Port, User, Password and Database, or URL")
	for scheme, want := range map[string]Database{"postgresql": Postgres, "postgres": Postgres, "mysql": MySQL, "mariadb": MariaDB, "redis": ""} {
		testenv.Equal(t, DatabaseOf(scheme), want, scheme)
	}
}

// FuzzConnection reads each string as its format is defined: the password is the same.
func FuzzConnection(f *testing.F) {
	f.Add(hardPassword)
	f.Add(`"`)
	f.Add(" ")
	f.Fuzz(func(t *testing.T, password string) {
		if password == "" || strings.ContainsRune(password, 0) {
			return
		}
		a := NeedAddress{Kind: Postgres, Host: "db", Port: "1", User: "u", Password: password, Database: "d"}
		testenv.Equal(t, readADO(testenv.Must(a.Connection("ADO"))(t))["Password"], password)
		u, err := url.Parse(testenv.Must(a.Connection("SQLAlchemy"))(t))
		testenv.OK(t, err)
		got, _ := u.User.Password()
		testenv.Equal(t, got, password)
		_, query, _ := strings.Cut(testenv.Must(a.Connection("JDBC"))(t), "?")
		values, err := url.ParseQuery(query)
		testenv.OK(t, err)
		testenv.Equal(t, values.Get("password"), password)
	})
}

// readADO reads a connection string of ADO.NET.
func readADO(text string) map[string]string {
	all := map[string]string{}
	for text != "" {
		key, rest, _ := strings.Cut(text, "=")
		value := ""
		if strings.HasPrefix(rest, `"`) {
			rest = rest[1:]
			for {
				part, after, _ := strings.Cut(rest, `"`)
				value += part
				if rest = after; !strings.HasPrefix(rest, `"`) {
					break
				}
				value, rest = value+`"`, rest[1:]
			}
			rest = strings.TrimPrefix(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
		}
		all[key], text = value, rest
	}
	return all
}
