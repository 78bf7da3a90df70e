import { Pool } from 'undici'

const TIMEOUT = 10_000 // ms
const MAX_ANSWER = 16 << 20 // bytes of one answer
const CONNECTIONS = 256 // of one worker; a request beyond them waits

/** Asks Elasticsearch over kept connections. */
export class Store {
  #pool
  #base
  #headers

  constructor(url) {
    this.#pool = new Pool(url.origin, {
      connections: CONNECTIONS,
      connectTimeout: 5_000,
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      maxResponseSize: MAX_ANSWER,
    })
    this.#base = url.pathname.replace(/\/+$/, '')
    if (url.username) {
      const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
      this.#headers = { authorization: `Basic ${Buffer.from(user).toString('base64')}` }
    }
  }

  /** Makes one round trip. */
  async ping() {
    await this.#get('/', AbortSignal.timeout(TIMEOUT))
  }

  /** The document of that id without its geometry, which is most of it; undefined if there is none. */
  source(index, id) {
    return this.#get(`/${index}/_source/${id}?_source_excludes=geometry,population`)
  }

  close() {
    return this.#pool.close()
  }

  async #get(path, signal) {
    const { statusCode, body } = await this.#pool.request({ path: this.#base + path, method: 'GET', headers: this.#headers, signal })
    if (statusCode === 200) return body.json()
    await body.dump() // so that the connection can be used again
    if (statusCode === 404) return undefined
    throw new Error(`GET ${path}: status ${statusCode}`)
  }
}
