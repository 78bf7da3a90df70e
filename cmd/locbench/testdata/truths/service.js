// The same as main.go in Node: MIX, LEAK and CACHE, and the counts to $TRUTH on SIGTERM.
const http = require('http');
const fs = require('fs');
const number = (name) => parseInt(process.env[name] || '0', 10);
const mix = number('MIX'), leak = number('LEAK'), cache = number('CACHE') << 20;
let inFlight = 0, crowd = 0, wrong = 0, responses = 0, next = 0;
const kept = [];

function keep(id) {
  const size = cache ? 4096 : leak;
  if (!size) return;
  const page = Buffer.alloc(size, id & 255);
  const most = cache / size;
  if (cache && kept.length >= most) kept[next++ % most] = page;
  else kept.push(page);
}

http.createServer((request, response) => {
  if (!request.url.startsWith('/items/')) return response.end();
  const together = ++inFlight;
  setTimeout(() => {
    let id = parseInt(request.url.slice('/items/'.length), 10);
    responses++;
    if (mix && Math.max(together, inFlight) >= 3 && ++crowd % mix === 0) {
      wrong++;
      id++;
    }
    keep(id);
    inFlight--;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ id, name: 'item ' + id, tags: ['a', 'b', 'c'], text: 'x'.repeat(900) }));
  }, 1);
}).listen(process.env.PORT, '127.0.0.1');

process.on('SIGTERM', () => {
  if (process.env.TRUTH) fs.writeFileSync(process.env.TRUTH, JSON.stringify({ responses, wrong }));
  process.exit(0);
});
