package bench

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Database is a kind of needs with its own form of connection strings in libraries.
type Database string

// The databases with such strings.
const (
	Postgres Database = "postgres"
	MySQL    Database = "mysql"
	MariaDB  Database = "mariadb"
)

// DatabaseOf returns the database with a scheme of URLs; "": none of these.
func DatabaseOf(scheme string) Database {
	if scheme == "postgresql" {
		return Postgres
	}
	if d := Database(scheme); slices.Contains([]Database{Postgres, MySQL, MariaDB}, d) {
		return d
	}
	return ""
}

// Connections are the forms of connection strings, which are fields of an address too.
func Connections() []string { return []string{"ADO", "JDBC", "SQLAlchemy", "Go"} }

// Connection returns the address in one of these forms. The error says why there is none, and what
// to use.
func (a NeedAddress) Connection(form string) (string, error) {
	const others = "use Host, Port, User, Password and Database"
	switch {
	case a.Kind == "":
		return "", errors.New(form + " is for PostgreSQL, MySQL and MariaDB; " + others + ", or URL")
	case form == "ADO":
		return a.ado(), nil
	case form == "JDBC" && a.Kind == MariaDB && notDecoded.MatchString(a.User+a.Password+a.Database):
		return "", fmt.Errorf("the driver for MariaDB does not decode JDBC URLs, so user, password and database cannot have "+
			"blanks or any of `%%+&=#?/`; %s", others)
	case form == "JDBC":
		return a.jdbc(), nil
	case form == "Go" && a.Kind != Postgres:
		return a.goMySQL(), nil
	case form == "Go":
		return a.url("postgres"), nil
	case a.Kind == Postgres:
		return a.url("postgresql"), nil
	}
	return a.url(string(a.Kind)), nil
}

// ado returns "Host=…;Port=…": as Npgsql reads it, or MySqlConnector and Connector/NET.
func (a NeedAddress) ado() string {
	host, user := "Host", "Username"
	if a.Kind != Postgres {
		host, user = "Server", "User ID"
	}
	var parts []string
	for _, pair := range [][2]string{{host, a.Host}, {"Port", a.Port}, {user, a.User}, {"Password", a.Password}, {"Database", a.Database}} {
		value := pair[1]
		if value == "" {
			continue
		}
		if !bareADO.MatchString(value) {
			value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
		}
		parts = append(parts, pair[0]+"="+value)
	}
	return strings.Join(parts, ";")
}

// bareADO matches values that need no quotes.
var bareADO = regexp.MustCompile(`^[\w.:-]+$`)

// jdbc returns jdbc:postgresql://…, or that of MySQL or MariaDB.
func (a NeedAddress) jdbc() string {
	scheme := string(a.Kind)
	if a.Kind == Postgres {
		scheme = "postgresql"
	}
	text := "jdbc:" + scheme + "://" + net.JoinHostPort(a.Host, a.Port) + "/"
	escape := percent
	if a.Kind == MariaDB {
		escape = func(text string) string { return text } // see notDecoded
	}
	text += escape(a.Database)
	if a.User != "" {
		text += "?user=" + escape(a.User) + "&password=" + escape(a.Password)
	}
	return text
}

// notDecoded matches what a driver that decodes nothing would take for a part of the URL, and one
// that does for something else.
var notDecoded = regexp.MustCompile(`[\s%+&=#?/]`)

// goMySQL returns user:password@tcp(host:port)/database: go-sql-driver takes user and password
// unchanged, and decodes the database.
func (a NeedAddress) goMySQL() string {
	text := "tcp(" + net.JoinHostPort(a.Host, a.Port) + ")/" + url.PathEscape(a.Database)
	if a.User != "" {
		text = a.User + ":" + a.Password + "@" + text
	}
	return text
}

func (a NeedAddress) url(scheme string) string {
	text := scheme + "://"
	if a.User != "" {
		text += percent(a.User)
		if a.Password != "" {
			text += ":" + percent(a.Password)
		}
		text += "@"
	}
	return text + net.JoinHostPort(a.Host, a.Port) + "/" + percent(a.Database)
}

// percent escapes all that may have a meaning in a URL. A blank becomes %20: not all libraries
// decode +.
func percent(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
