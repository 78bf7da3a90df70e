import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import morgan from 'morgan'
import { Cities } from './cities.js'
import { Problem, cityParams, delayParam } from './params.js'

export function createApp(store, accessLog) {
  const cities = new Cities(store)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  if (accessLog) app.use(morgan(':date[iso] :method :url :status :response-time ms'))

  app.get('/', (req, res) => {
    res.json({ service: 'locations' })
  })

  app.get('/city/v1/get', async (req, res) => {
    const { id, language } = cityParams(req.query)
    const city = await cities.get(id, language)
    if (!city) throw new Problem(404, `id: there is no city ${id}`)
    res.json(city)
  })

  // A timer of the event loop: nothing else waits for it.
  app.get('/v1/benchmark', async (req, res) => {
    const delay = delayParam(req.query)
    if (delay > 0) await sleep(delay)
    res.end()
  })

  app.use(() => {
    throw new Problem(404, 'path: there is nothing here')
  })

  // Express knows an error handler by its four parameters.
  app.use((err, req, res, next) => {
    if (res.headersSent) return next(err)
    if (err instanceof Problem) return res.status(err.status).json({ message: err.message })
    if (err.status >= 400 && err.status < 500) return res.status(err.status).json({ message: `request: ${err.message}` })
    console.error(`error: ${req.path}: ${err.message}`)
    res.status(502).json({ message: 'store: Elasticsearch did not answer as it should' })
  })
  return app
}
