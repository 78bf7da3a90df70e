// The same service as ../bookings-go, for Node.js alone: a login by cookie, bookings with a Location and an ETag, pages with
// a link to the next, responses in gzip, 422 for what it cannot take. At its end it writes a journal.
'use strict';
const http = require('node:http');
const { gzipSync } = require('node:zlib');
const { randomUUID } = require('node:crypto');

const sessions = new Map(); // guest by session
const bookings = [];
const at = new Map(); // in bookings, by id
// Requests by route and status; bookings that were read by their guest, and by another; pages after the first; logins by guest.
const did = { requests: {}, own: 0, others: 0, next: 0, guests: {} };
const more = (counts, key) => { counts[key] = (counts[key] || 0) + 1; };
const add = (guest, room) => {
  const id = randomUUID();
  at.set(id, bookings.length);
  bookings.push({ id, guest, room });
  return id;
};
for (let n = 0; n < 100; n++) add('house', n);

const problem = (status, error) => [status, { error }];
const parsed = (body) => { try { return JSON.parse(body); } catch { return {}; } };
const guestOf = (req) => {
  const sid = /(?:^|; )sid=([^;]+)/.exec(req.headers.cookie || '');
  return sid && sessions.get(sid[1]);
};

const routes = [
  ['GET /healthz', /^$/, () => [200, {}]],
  ['POST /login', /^$/, (req, res, _, body) => {
    const form = new URLSearchParams(body), guest = form.get('guest');
    if (form.get('phrase') !== `words of ${guest}`) return problem(401, 'wrong phrase');
    const id = randomUUID();
    sessions.set(id, guest);
    more(did.guests, guest);
    res.setHeader('Set-Cookie', ['sid=; Path=/; Max-Age=0', `sid=${id}; Path=/bookings; Max-Age=3600; HttpOnly; SameSite=Lax`]);
    return [204, null];
  }],
  ['GET /bookings/{id}', /^\/([^/]+)$/, (req, res, [, id]) => {
    const guest = guestOf(req), found = bookings[at.get(id)];
    if (!guest) return problem(401, 'log in first');
    if (!found) return problem(404, 'booking not found');
    if (found.guest !== guest) {
      did.others++;
      return problem(403, 'not yours');
    }
    did.own++;
    const tag = `"${found.id}-${found.room}"`;
    res.setHeader('ETag', tag);
    return req.headers['if-none-match'] === tag ? [304, null] : [200, found];
  }],
  ['POST /bookings', /^$/, (req, res, _, body) => {
    const guest = guestOf(req), { room } = parsed(body);
    if (!guest) return problem(401, 'log in first');
    if (room === undefined) return problem(422, 'room is missing');
    res.setHeader('Location', `http://${req.headers.host}/bookings/${add(guest, room)}`);
    return [201, null];
  }],
  ['GET /bookings', /^$/, (req, res, _, body, query) => {
    const limit = Math.max(1, Math.min(Number(query.get('limit')) || 0, 50)), after = query.get('after');
    if (after && !at.has(after)) return problem(404, 'page not found');
    if (after) did.next++;
    const from = after ? at.get(after) + 1 : 0, items = bookings.slice(from, from + limit);
    const next = from + limit < bookings.length ? `/bookings?limit=${limit}&after=${items[items.length - 1].id}` : undefined;
    return [200, { items, next }];
  }],
].map(([name, rest, answer]) => ({ name, start: name.replace(/\/\{id\}$/, ''), rest, answer }));

const server = http.createServer((req, res) => {
  const url = new URL(req.url, 'http://any');
  const called = `${req.method} ${url.pathname}`;
  for (const { name, start, rest, answer } of routes) {
    const match = called.startsWith(start) && rest.exec(called.slice(start.length));
    if (!match) continue;
    let body = '';
    req.on('data', (part) => { body += part; });
    req.on('end', () => {
      const [status, value] = answer(req, res, match, body, url.searchParams);
      if (name !== 'GET /healthz') more(did.requests, `${name} ${status}`);
      if (value === null) return void res.writeHead(status).end();
      let text = Buffer.from(JSON.stringify(value));
      if (/gzip/.test(req.headers['accept-encoding'] || '')) {
        text = gzipSync(text);
        res.setHeader('Content-Encoding', 'gzip');
      }
      res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      res.end(text);
    });
    return;
  }
  res.writeHead(404).end();
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    server.close(() => { console.log(JSON.stringify(did)); process.exit(0); });
    server.closeIdleConnections();
  });
}
server.listen(Number(process.env.PORT), () => console.log('listening on', process.env.PORT));
