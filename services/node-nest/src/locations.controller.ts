import { setTimeout as sleep } from 'node:timers/promises'
import { Controller, Get, NotFoundException, Query } from '@nestjs/common'
import { CitiesService, type CityResponse } from './cities.service.js'
import { type CityParams, CityParamsPipe, DelayPipe } from './params.js'

@Controller()
export class LocationsController {
  constructor(private readonly cities: CitiesService) {}

  @Get()
  root() {
    return { service: 'locations' }
  }

  @Get('city/v1/get')
  async get(@Query(CityParamsPipe) { id, language }: CityParams): Promise<CityResponse> {
    const city = await this.cities.get(id, language)
    if (!city) throw new NotFoundException(`id: there is no city ${id}`)
    return city
  }

  /** Waits on a timer of the event loop: nothing else waits for it. */
  @Get('v1/benchmark')
  async benchmark(@Query('delay', DelayPipe) delay: number): Promise<void> {
    if (delay > 0) await sleep(delay)
  }
}
