import { answerExercise } from '../../contracts/client/exercise.ts'

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default { fetch: answerExercise } as { fetch(request: Request): Promise<Response> }
