import { type Handler, memoryState } from '../../../../../../src/index.ts'
import { nextHandlers, type Route } from '../../../../../../src/runtimes/next.ts'
import { answerExercise } from '../../../../../contracts/client/exercise.ts'
import { handler } from '../../../../../contracts/fixture.ts'
import { handlerOn as guardsOn } from '../../../../../contracts/guards/service.ts'
import { handlerOn as otelOn } from '../../../../../contracts/otel/service.ts'

export const runtime = 'edge'

/** The contracts' services. Only the one in ENTRY is made, with the settings in SETTINGS. */
const services: Readonly<Record<string, () => Handler>> = {
  http: () => handler,
  guards: () => guardsOn(memoryState()),
  otel: () => otelOn(memoryState(), process.env.SETTINGS),
}

const served = services[process.env.ENTRY ?? 'http']!()

const routes: Route = nextHandlers((request, platform) =>
  new URL(request.url).pathname === '/exercise' ? answerExercise(request) : served(request, platform),
)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
