import process from 'node:process'
import { serve } from '../../../src/runtimes/node.ts'
import { answerExercise } from '../../contracts/client/exercise.ts'

const server = await serve(answerExercise, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
