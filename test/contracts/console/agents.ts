/** Agents that do what a console has to show. */
import { Agent, sequence, steps, Team, textOf, tool, Workflow } from '../../../src/index.ts'

const forecast = tool({
  name: 'forecast',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: args => ({ sky: 'clear', city: String(Object(args).city) }),
})

const remove = tool({
  name: 'remove',
  description: 'Removes a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  needsApproval: true,
  execute: args => `removed ${String(Object(args).city)}`,
})

/** Calls a tool and tells of it in Markdown. */
const helper = new Agent({
  name: 'helper',
  register: false,
  description: 'Tells the weather of a city',
  tools: [forecast],
  corrections: true,
  async *run(input, { callTool }) {
    const city = textOf(input)
    const { sky } = (yield* callTool(forecast, { city })) as { sky: string }
    yield `It will be **${sky}** in ${city}.\n\n`
    yield '- one\n- two\n'
  },
})

/** Asks before it removes something. */
const remover = new Agent({
  name: 'remover',
  register: false,
  description: 'Removes a city, if a person approves',
  tools: [remove],
  async *run(input, { callTool }) {
    try {
      yield String(yield* callTool(remove, { city: textOf(input) }))
    } catch (error) {
      yield `not removed: ${(error as Error).message}`
    }
  },
})

/** Asks two things at once. */
const planner = new Agent({
  name: 'planner',
  register: false,
  description: 'Asks where to, and how many',
  async *run(_, { ask, parallel }) {
    const [place, count] = yield* parallel([
      ask('place', { message: 'A place', schema: { type: 'string', title: 'Where to?' } }),
      ask('count', { message: 'A number', schema: { type: 'integer', title: 'How many?' } }),
    ])
    yield `${count} to ${place}`
  },
})

/** Makes a file of each kind that a page may show. */
const maker = new Agent({
  name: 'maker',
  register: false,
  description: 'Makes files',
  async *run() {
    const picture =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.hacked = 1</script></svg>')
    yield { type: 'thinking', text: 'What **kinds** are there?' }
    yield {
      type: 'artifact',
      artifactId: 'a',
      name: 'dot.png',
      parts: [{ type: 'image', data: picture, mimeType: 'image/png' }],
    }
    yield {
      type: 'artifact',
      artifactId: 'b',
      name: 'dot.svg',
      parts: [{ type: 'image', data: svg, mimeType: 'image/svg+xml' }],
    }
    yield {
      type: 'artifact',
      artifactId: 'c',
      name: 'far.png',
      parts: [{ type: 'image', data: 'https://evil.example/far.png' }],
    }
    yield {
      type: 'artifact',
      artifactId: 'd',
      name: 'numbers',
      parts: [{ type: 'data', data: { answer: 42 } }],
    }
    yield { type: 'message', parts: [{ type: 'text', text: 'All *made*.' }] }
  },
})

/** Its output is an object. */
const clerk = new Agent({
  name: 'clerk',
  register: false,
  description: 'Writes an address down as an object',
  async *run(input) {
    yield 'Written down.'
    return { structured: { city: textOf(input), size: { code: 'M' } } }
  },
})

/** Says so many words slowly, until it is cancelled. */
const slow = new Agent({
  name: 'slow',
  register: false,
  description: 'Counts to a number, ten a second',
  async *run(input, { signal }) {
    const until = Number(textOf(input)) || 100
    for (let count = 1; count <= until && !signal.aborted; count++) {
      yield `${count} `
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  },
})

/** Counts slowly until somebody tells it to stop. */
const listener = new Agent({
  name: 'listener',
  register: false,
  description: 'Counts, and takes messages meanwhile',
  steering: true,
  async *run(input, { signal, steering }) {
    if (textOf(input) !== 'count') {
      yield `Heard ${textOf(input)}.`
      return
    }
    for (let count = 1; count <= 300 && !signal.aborted; count++) {
      yield `${count} `
      for (const message of yield* steering.take()) {
        if (textOf(message.input) !== 'stop') continue
        yield 'Stopped.'
        return
      }
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  },
})

/** Fails after its first words. */
const failing = new Agent({
  name: 'failing',
  register: false,
  description: 'Fails',
  async *run() {
    yield 'so far so good, '
    throw new Error('the model is away')
  },
})

/** Says the tricks that a page must not fall for. */
const hostile = new Agent({
  name: 'hostile',
  register: false,
  description: 'Says HTML, addresses of scripts, and text in disguise',
  async *run() {
    yield '<img src="https://evil.example/x.png" onerror="globalThis.hacked = 1"><script>globalThis.hacked = 1</script>\n\n'
    yield '[a](javascript:globalThis.hacked=1) [b](data:text/html,<script>hacked=1</script>) ![c](https://evil.example/c.png)\n\n'
    yield '<svg onload="globalThis.hacked = 1"></svg> <iframe src="javascript:globalThis.hacked=1"></iframe>\n\n'
    yield 'abc\u202edcba\u202c \u2067x\u2069\n\n'
    yield `${'>'.repeat(5000)} deep\n\n`
    yield `${Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n')}\n\n`
    yield `${'long '.repeat(200_000)}\n\n`
    yield '*'.repeat(10_000) + '['.repeat(10_000) + '`'.repeat(10_001)
    yield '\n\nthe end'
  },
})

/** Says so many events at once. */
const chatty = new Agent({
  name: 'chatty',
  register: false,
  description: 'Says a number of words at once',
  async *run(input) {
    const until = Number(textOf(input))
    for (let count = 1; count <= until; count++) yield `${count} `
  },
})

const pay = tool({
  name: 'pay',
  description: 'Pays an amount',
  parameters: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  needsApproval: true,
  editable: true,
  execute: args => `paid ${String(Object(args).amount)}`,
})

/** Asks before it pays. The amount may be changed. */
const payer = new Agent({
  name: 'payer',
  register: false,
  description: 'Pays, if a person approves',
  tools: [pay],
  async *run(input, { callTool }) {
    yield String(yield* callTool(pay, { amount: Number(textOf(input)), to: 'abc\u202edcb' }))
  },
})

const both = new Team({
  name: 'both',
  register: false,
  description: 'Asks the helper, and counts its words',
  members: [helper, slow],
  strategy: sequence,
})

const initials = new Workflow({
  name: 'initials',
  register: false,
  description: 'The first letters of words',
  steps: steps()
    .step('split', input => textOf(input).split(' '))
    .step('join', words => words.map(word => word.charAt(0)).join('')),
})

export const agents = [
  helper,
  remover,
  planner,
  maker,
  clerk,
  slow,
  listener,
  failing,
  hostile,
  chatty,
  payer,
  both,
  initials,
] as const
