import { type DynamicModule, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { CitiesService } from './cities.service.js'
import { CONFIG, type Config } from './config.js'
import { ErrorsFilter } from './errors.filter.js'
import { LocationsController } from './locations.controller.js'
import { Store } from './store.js'

@Module({})
class LocationsModule {
  static with(config: Config): DynamicModule {
    return {
      module: LocationsModule,
      controllers: [LocationsController],
      providers: [{ provide: CONFIG, useValue: config }, Store, CitiesService],
    }
  }
}

/** Serves until SIGTERM, then finishes the requests in flight. The primary has a clock on that. */
export async function serve(config: Config): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(
    LocationsModule.with(config),
    new FastifyAdapter({ keepAliveTimeout: 60_000, forceCloseConnections: 'idle', return503OnClosing: false }),
    { logger: ['warn', 'error', 'fatal'], abortOnError: false },
  )
  app.useGlobalFilters(new ErrorsFilter())
  if (config.accessLog) {
    app.getHttpAdapter().getInstance().addHook('onResponse', (req, reply, done) => {
      const at = new Date().toISOString()
      console.log(`${at} ${req.method} ${req.url} ${reply.statusCode} ${reply.elapsedTime.toFixed(3)}ms`)
      done()
    })
  }
  await app.listen(config.port, '0.0.0.0')

  process.on('SIGINT', () => {}) // of a terminal, to the whole group: the primary sends SIGTERM
  process.once('SIGTERM', async () => {
    // A connection that was busy at the stop is idle later.
    setInterval(() => app.getHttpServer().closeIdleConnections(), 100)
    await app.close()
    process.exit(0)
  })
}
