import { createServer } from 'node:http'
import { createApp } from './app.js'
import { Store } from './store.js'

/** Serves until SIGTERM, then finishes the requests in flight. The primary has a clock on that. */
export function serve(config) {
  const store = new Store(config.store)
  let stopping = false
  const server = createServer({ keepAliveTimeout: 60_000 })
  server.on('request', (req, res) => {
    if (stopping) res.setHeader('Connection', 'close')
  })
  server.on('request', createApp(store, config.accessLog))
  server.on('error', (err) => {
    console.error(`cannot listen: ${err.message}`)
    process.exit(1)
  })
  server.listen(config.port, '0.0.0.0')

  process.on('SIGINT', () => {}) // of a terminal, to the whole group: the primary sends SIGTERM
  process.on('SIGTERM', () => {
    if (stopping) return
    stopping = true
    server.close(async () => {
      await store.close()
      process.exit(0)
    })
    setInterval(() => server.closeIdleConnections(), 100)
  })
}
