import { ServableError, type StepContext, steps, textOf, Workflow, type Yielded } from '../../src/index.ts'
import { type Section, splitSections } from './sections.ts'
import { splitSentences, tidy } from './sentences.ts'
import { summarizer } from './summarizer.ts'

interface Point extends Section {
  readonly summary: string
}

/** Splits a text into sections, has the summarizer summarize each, and writes one outline in markdown. */
export const digest: Workflow = new Workflow({
  name: 'digest',
  description: 'Turns a long text into an outline: its sections, each in two sentences',
  steps: steps()
    .step('split', input => split(textOf(input)))
    .step('summarize', summarizeAll)
    .step('outline', outline),
})

function split(text: string): Section[] {
  const sections = splitSections(text)
  if (sections.length > 0) return sections
  throw new ServableError('invalid_input', '`input` has no text to digest')
}

async function* summarizeAll(sections: Section[], context: StepContext): AsyncGenerator<Yielded, Point[]> {
  const points: Point[] = []
  for (const section of sections) points.push({ ...section, summary: yield* summaryOf(section, context) })
  return points
}

async function* summaryOf(section: Section, context: StepContext): AsyncGenerator<Yielded, string> {
  if (section.text === '') return ''
  const result = yield* context.call(summarizer, `In two sentences:\n${section.text}`)
  return result.text
}

async function* outline(points: Point[]): AsyncGenerator<Yielded, undefined> {
  for (const [index, point] of points.entries()) yield (index === 0 ? '' : '\n\n') + entryOf(point)
  return undefined
}

function entryOf({ title, level, summary }: Point): string {
  const heading = title === '' ? [] : [`${'#'.repeat(level)} ${title}`]
  const items = splitSentences(summary).map(sentence => `- ${withoutBullet(tidy(sentence))}`)
  return [...heading, items.join('\n')].filter(part => part !== '').join('\n\n')
}

function withoutBullet(sentence: string): string {
  return sentence.replace(/^(?:[-*+•]|\d{1,3}[.)])\s+/, '')
}
