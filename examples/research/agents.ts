import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { steps, textOf, Workflow } from 'servable'
import { ModelAgent } from 'servable/model-agent'
import { model } from './model.ts'

const SOURCES = join(import.meta.dirname, 'sources')

const SLOW_MS = 1_000

async function fetchSource(name: string): Promise<string> {
  await new Promise(resolve => setTimeout(resolve, SLOW_MS))
  return readFile(join(SOURCES, name), 'utf8')
}

export const summarizer = new ModelAgent({
  name: 'summarizer',
  description: 'Shortens a text',
  model,
  instructions: 'Say in one sentence what the text says.',
})

export const research = new Workflow({
  name: 'research',
  description: 'Reads the sources of a topic, and writes a report',
  steps: steps()
    .step('find', async input => {
      const topic = textOf(input)
      const files = await readdir(SOURCES)
      return { topic, files: files.filter(file => file.startsWith(topic)).toSorted() }
    })
    .step('read', async function* ({ topic, files }, { step }) {
      const texts: string[] = []
      for (const name of files)
        texts.push(
          yield* step(name, async function* () {
            yield `process ${process.pid} reads ${name}`
            return fetchSource(name)
          }),
        )
      return { topic, texts }
    })
    .step('summarise', async function* ({ topic, texts }, { call }) {
      const points: string[] = []
      for (const text of texts) points.push((yield* call(summarizer, text)).text)
      return { topic, points }
    })
    .step('report', ({ topic, points }) => reportOf(topic, points)),
})

function reportOf(topic: string, points: readonly string[]): string {
  return `# ${topic}\n${points.map(point => `\n- ${point}`).join('')}\n`
}
