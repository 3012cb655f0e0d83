export { answerExercise as handler } from '../../contracts/client/exercise.ts'
