#!/bin/bash
# The health check of the official image of MariaDB: all checks that its options name must succeed.
set -euo pipefail

# query runs a statement over TCP, which the temporary server does not have, as the user that the entrypoint has made.
query() {
  mariadb --defaults-extra-file=/var/lib/mysql/.my-healthcheck.cnf --protocol=tcp --host=localhost --skip-column-names --batch --execute "$1"
}

[ $# -gt 0 ] || { echo "expected an option, such as --connect" >&2; exit 1; }
for check in "$@"; do
  case "$check" in
    --connect) query 'SELECT 1' >/dev/null ;;
    --innodb_initialized) [ "$(query "SELECT 1 FROM information_schema.engines WHERE engine = 'InnoDB' AND support IN ('YES', 'DEFAULT')")" = 1 ] ;;
    *) echo "unknown option $check" >&2; exit 1 ;;
  esac
done
