import { routeTo, Team, textOf } from '../../src/index.ts'
import { calculator } from './calculator.ts'
import { findArithmetic } from './find-arithmetic.ts'
import { summarizer } from './summarizer.ts'

/** Gives a message with arithmetic to the calculator, and any other message to the summarizer. */
export const desk: Team = new Team({
  name: 'desk',
  description: 'Calculates what can be calculated and summarizes everything else',
  members: [calculator, summarizer],
  strategy: routeTo(input => (findArithmetic(textOf(input)).length > 0 ? calculator.name : summarizer.name)),
})
