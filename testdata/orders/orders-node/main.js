// The same service as ../orders-go, for Node.js alone: GET /items/{id}, GET /items?q=WORD, and with a token from
// POST /login also POST /orders, GET /orders/{id} and DELETE /orders. At its end it writes a journal.
'use strict';
const http = require('node:http');
const { randomUUID } = require('node:crypto');

const words = ['lamp', 'chair', 'table', 'shelf'];
const items = Array.from({ length: 10000 }, (_, i) => ({ id: i + 1, name: `${words[(i + 1) % 4]} ${i + 1}`, price: (i + 1) % 500 }));
const tokens = new Set();
const orders = new Map();
let last = 0;
const zeros = () => new Array(100).fill(0);
// Requests by route and status; requested items by id (1 to 100, 101 to 200 …) and by their last two digits; orders, and
// those that were requested once.
const did = { requests: {}, hundreds: zeros(), units: zeros(), words: {}, orders: 0, seen_once: 0 };
const more = (counts, key) => { counts[key] = (counts[key] || 0) + 1; };

const known = (req) => tokens.has((req.headers.authorization || '').replace(/^Bearer /, ''));
const problem = (status, error) => [status, { error }];
const parsed = (body) => { try { return JSON.parse(body); } catch { return {}; } };

const routes = [
  ['GET /health', /^$/, () => [200, {}]],
  ['POST /login', /^$/, (req, _, body) => {
    if (parsed(body).password !== process.env.PASSWORD) return problem(401, 'wrong password');
    const token = randomUUID();
    tokens.add(token);
    return [200, { token }];
  }],
  ['GET /items/{id}', /^\/(\d+)$/, (req, [, id]) => {
    const item = items[id - 1];
    if (!item) return problem(404, 'item not found');
    did.hundreds[Math.floor((id - 1) / 100)]++;
    did.units[id % 100]++;
    return [200, item];
  }],
  ['GET /items', /^$/, (req, _, body, query) => {
    const word = query.get('q') || '', found = [];
    more(did.words, word);
    for (const item of items) if (item.name.includes(word) && found.push(item) === 10) break;
    return [200, { items: found }];
  }],
  ['POST /orders', /^$/, (req, _, body) => {
    if (!known(req)) return problem(401, 'log in first');
    const { item, count } = parsed(body);
    if (!items[item - 1] || !(count >= 1)) return problem(400, 'an order is an item and a count');
    const order = { id: ++last, item, count, total: count * items[item - 1].price };
    did.orders++;
    orders.set(order.id, { order, seen: 0 });
    return [201, order];
  }],
  ['GET /orders/{id}', /^\/(\d+)$/, (req, [, id]) => {
    if (!known(req)) return problem(401, 'log in first');
    const found = orders.get(Number(id));
    if (!found) return problem(404, 'order not found');
    found.seen++;
    did.seen_once += found.seen === 1 ? 1 : found.seen === 2 ? -1 : 0;
    return [200, found.order];
  }],
  ['DELETE /orders', /^$/, (req) => {
    if (!known(req)) return problem(401, 'log in first');
    orders.clear();
    return [204, null];
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
      const [status, value] = answer(req, match, body, url.searchParams);
      if (name !== 'GET /health') more(did.requests, `${name} ${status}`);
      if (value === null) return void res.writeHead(status).end();
      const text = JSON.stringify(value);
      res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
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
