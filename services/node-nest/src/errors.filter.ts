import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Makes any error JSON with a message. What is no HttpException is the store's: it is logged and not told to the client. */
@Catch()
export class ErrorsFilter implements ExceptionFilter {
  catch(err: Error & { statusCode?: number }, host: ArgumentsHost) {
    const reply = host.switchToHttp().getResponse<FastifyReply>()
    const status = err instanceof HttpException ? err.getStatus() : (err.statusCode ?? 502)
    if (status < 500) return reply.status(status).send({ message: err.message })
    console.error(`error: ${host.switchToHttp().getRequest<FastifyRequest>().url}: ${err.message}`)
    return reply.status(status).send({ message: 'store: Elasticsearch did not answer as it should' })
  }
}
