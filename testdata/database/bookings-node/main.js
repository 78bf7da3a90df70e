// Books rooms. Its rows are in PostgreSQL, with rooms cached in Redis, or all in a file of SQLite.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { json } from "node:stream/consumers";

const { SQLITE, DATABASE_URL, CACHE, POOL, LISTEN, PORT } = process.env;

// one(sql, …) returns the first row of a statement; undefined: it has none.
let one, cache;
if (SQLITE) {
  const { default: Database } = await import("better-sqlite3");
  const db = new Database(SQLITE);
  db.pragma("journal_mode = wal");
  db.exec(readFileSync(new URL("sqlite.sql", import.meta.url), "utf8"));
  const prepared = {};
  one = async (sql, ...values) => (prepared[sql] ??= db.prepare(sql.replace("$1", "?"))).get(...values);
} else {
  const { default: pg } = await import("pg");
  const { createClient } = await import("redis");
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL) });
  one = async (sql, ...values) => (await pool.query(sql, values)).rows[0];
  cache = await createClient({ url: `redis://${CACHE}` }).on("error", console.error).connect();
}

async function room(id) {
  const found = await cache?.get(`room:${id}`);
  if (found) return [200, found, { "X-Cache": "hit" }];
  const row = await one("SELECT id, beds FROM rooms WHERE id = $1", id);
  if (!row) return [404, '{"error":"room not found"}'];
  const text = JSON.stringify(row);
  await cache?.set(`room:${id}`, text, { EX: 60 });
  return [200, text, { "X-Cache": "miss" }];
}

async function respond(request) {
  const { method, url } = request;
  if (method === "GET" && url.startsWith("/rooms/")) return room(Number(url.slice("/rooms/".length)));
  switch (`${method} ${url}`) {
    case "GET /health":
      await Promise.all([cache?.ping(), one("SELECT 1")]);
      return [200, '{"ok":true}'];
    case "GET /bookings/count":
      return [200, JSON.stringify({ count: Number((await one("SELECT count(*) AS count FROM bookings")).count) })];
    case "POST /bookings": {
      const row = await one("INSERT INTO bookings (room) VALUES ($1) RETURNING id", (await json(request)).room);
      return [201, JSON.stringify({ id: Number(row.id) })];
    }
  }
  return [404, '{"error":"path not found"}'];
}

const server = createServer(async (request, response) => {
  const [status, text, header] = await respond(request).catch((e) => [500, JSON.stringify({ error: e.message })]);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), ...header }).end(text);
});
server.listen(Number(PORT), LISTEN);
process.on("SIGTERM", () => process.exit(0));
