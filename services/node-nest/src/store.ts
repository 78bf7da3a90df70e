import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common'
import { Pool } from 'undici'
import { CONFIG, type Config } from './config.js'

const TIMEOUT = 10_000 // ms
const MAX_ANSWER = 16 << 20 // bytes of one answer
const CONNECTIONS = 256 // of one worker; a request beyond them waits

/** Asks Elasticsearch over kept connections. */
@Injectable()
export class Store implements OnApplicationShutdown {
  private readonly pool: Pool
  private readonly base: string
  private readonly headers: Record<string, string> = {}

  constructor(@Inject(CONFIG) { store: url }: Config) {
    this.pool = new Pool(url.origin, {
      connections: CONNECTIONS,
      connectTimeout: 5_000,
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      maxResponseSize: MAX_ANSWER,
    })
    this.base = url.pathname.replace(/\/+$/, '')
    if (url.username) {
      const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
      this.headers.authorization = `Basic ${Buffer.from(user).toString('base64')}`
    }
  }

  /** Makes one round trip. */
  async ping(): Promise<void> {
    await this.get('/', AbortSignal.timeout(TIMEOUT))
  }

  /** The document of that id without its geometry, which is most of it; undefined if there is none. */
  source<T>(index: string, id: string | number): Promise<T | undefined> {
    return this.get(`/${index}/_source/${id}?_source_excludes=geometry,population`) as Promise<T | undefined>
  }

  onApplicationShutdown(): Promise<void> {
    return this.pool.close()
  }

  private async get(path: string, signal?: AbortSignal): Promise<unknown> {
    const { statusCode, body } = await this.pool.request({ path: this.base + path, method: 'GET', headers: this.headers, signal })
    if (statusCode === 200) return body.json()
    await body.dump() // so that the connection can be used again
    if (statusCode === 404) return undefined
    throw new Error(`GET ${path}: status ${statusCode}`)
  }
}
