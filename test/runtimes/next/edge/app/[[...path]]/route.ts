import { nextHandlers, type Route } from '../../../../../../src/runtimes/next.ts'
import { answerExercise } from '../../../../../contracts/client/exercise.ts'
import { handler } from '../../../../../contracts/fixture.ts'

export const runtime = 'edge'

const routes: Route = nextHandlers((request, platform) =>
  new URL(request.url).pathname === '/exercise' ? answerExercise(request) : handler(request, platform),
)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = routes
