/** What every stock client of MCP gets of the service. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Block, Connect, Connected, Form, Result, Said, Say } from '../../frameworks/mcp-clients/way.ts'
import { DOT } from '../ai-sdk-ui/agents.ts'
import { own } from '../runs/client.ts'
import { amountOfItsOwn, openGate, type Server, TOKEN, tell } from './server.ts'

/** How the ways of clients differ. */
export interface Traits {
  /** The revision that it agrees upon with the service, where it tells. */
  readonly revision?: string
  /** It is asked in results, and calls again with what is said. */
  readonly callsAgain?: true
  /** It hears of no progress, and has no time-out of a call. */
  readonly isPlain?: true
}

export const textOf = ({ content }: Result): string => content.map(({ text = '' }: Block) => text).join('')

const texts = (...all: readonly string[]) => all.map(text => ({ type: 'text', text }))

/** Answers each form by its message, and notes it. */
function saying(answers: Readonly<Record<string, Said>>): { readonly say: Say; readonly forms: Form[] } {
  const forms: Form[] = []
  const say: Say = form => {
    forms.push(form)
    const found = Object.entries(answers).find(([text]) => form.message.includes(text))
    return found?.[1] ?? { action: 'cancel' }
  }
  return { say, forms }
}

const accept = (content: Record<string, string> = {}): Said => ({ action: 'accept', content })

const DECISIONS: readonly Said[] = [
  accept({ decision: 'approve' }),
  accept({ decision: 'deny', reason: 'No' }),
  { action: 'decline' },
]

/** Connects, calls a tool, and closes. */
export async function once(
  connect: Connect,
  { server, name, args, say }: { server: Server; name: string; args: Record<string, unknown>; say?: Say },
): Promise<Result> {
  const client = await connect({ url: `${server().url}/mcp`, token: TOKEN, say })
  try {
    return await client.call(name, args)
  } finally {
    await client.close()
  }
}

export function wayCases({ revision, callsAgain }: Traits, connect: () => Connect, server: Server): void {
  const call = (name: string, args: Record<string, unknown>, say?: Say) =>
    once(connect(), { server, name, args, ...(say && { say }) })

  /** What was said before a question stands in the question, for one who calls again. */
  const before = (said: string) => (callsAgain ? '' : said)

  it('agrees upon a revision, and lists tools', async () => {
    const client = await connect()({ url: `${server().url}/mcp`, token: TOKEN })
    expect({ revision: client.revision, instructions: client.instructions }).toEqual({
      revision,
      instructions: 'Ask before you pay.',
    })
    const tools = await client.tools()
    await client.close()
    const named = (wanted: string) => tools.find(({ name }) => name === wanted)
    expect(named('says')).toMatchObject({
      description: 'Says hello',
      inputSchema: { properties: { input: { type: 'string' }, sessionId: {} }, required: ['input'] },
      annotations: { openWorldHint: true },
    })
    expect(named('weighs')?.outputSchema).toEqual({
      type: 'object',
      properties: { grams: { type: 'number' } },
      required: ['grams'],
    })
    expect(named('multiply')).toMatchObject({
      description: 'Multiplies two numbers',
      inputSchema: { properties: { a: { type: 'number' } }, required: ['a', 'b'] },
    })
    expect(named('tells')).toBeUndefined()
  })

  it('gets text, a picture, and structured content', async () => {
    expect((await call('says', { input: 'Ann' })).content).toEqual(texts('Hello, Ann!'))
    expect((await call('draws', { input: 'x' })).content).toEqual([
      ...texts('Here it is.'),
      { type: 'image', data: DOT, mimeType: 'image/png' },
    ])
    const weighed = await call('weighs', { input: 'x' })
    expect(weighed).toMatchObject({ content: texts('{"grams":12}'), structuredContent: { grams: 12 } })
    const product = await call('multiply', { a: 6, b: 7 })
    expect(product).toMatchObject({ content: texts('{"product":42}'), structuredContent: { product: 42 } })
  })

  it('is told of what failed, and of no secret', async () => {
    const failed = await call('refuses', { input: 'x' })
    expect(failed).toMatchObject({ content: texts('Internal server error'), isError: true })
    await expect(call('nobody', {})).rejects.toMatchObject({ code: -32602 })
    const misfit = await call('multiply', { a: 'six', b: 7 })
    expect(misfit.isError).toBe(true)
  })

  it('answers questions, one after the other', async () => {
    const { say, forms } = saying({ size: accept({ size: 'M' }), color: accept({ answer: 'red' }) })
    expect(textOf(await call('asks', { input: 'a shirt' }, say))).toBe(
      `${before('A shirt. ')}It is red, in M.`,
    )
    expect(forms).toMatchObject([
      {
        message: 'A shirt. \n\nWhich size?',
        requestedSchema: { properties: { size: { type: 'string', enum: ['S', 'M'] } }, required: ['size'] },
      },
      { requestedSchema: { properties: { answer: { type: 'string' } }, required: ['answer'] } },
    ])
  })

  it('is told that nobody answers', async () => {
    const refused = (['decline', 'cancel'] as const).map(async action => {
      const { say, forms } = saying({ size: { action } })
      const result = await call('asks', { input: 'a shirt' }, say)
      return { isError: result.isError, text: textOf(result), asked: forms.length }
    })
    const text = 'Nobody has answered: the run was cancelled'
    const fate = { isError: true, text, asked: 1 }
    expect(await Promise.all(refused)).toEqual([fate, fate])
  })

  it('decides calls that need an approval', async () => {
    const decided = DECISIONS.map(async said => {
      const amount = amountOfItsOwn()
      const { say, forms } = saying({ [amount]: said })
      const text = textOf(await call('pays', { input: amount }, say))
      const paid = await tell(server, amount, 'paid')
      return { text: text.replace(amount, 'it'), asked: forms.length, paid }
    })
    expect(await Promise.all(decided)).toEqual([
      { text: `${before('I pay. ')}paid it`, asked: 1, paid: '1' },
      { text: `${before('I pay. ')}not paid: The call was denied: No`, asked: 1, paid: '0' },
      { text: `${before('I pay. ')}not paid: The call was denied`, asked: 1, paid: '0' },
    ])
  })

  it('answers in words where it shows no forms', async () => {
    const asked = textOf(await call('words', { input: 'a shirt' }))
    const [, sessionId] = /Which size\?.*`sessionId` `([^`]+)`/s.exec(asked) ?? []
    expect(sessionId, asked).toBeDefined()
    expect(textOf(await call('words', { input: 'M', sessionId }))).toBe('It is M.')
  })

  it('is told that its token is wrong', async () => {
    const place = { url: `${server().url}/mcp`, token: 'wrong' }
    const error = await connect()(place).then(
      () => expect.unreachable('it is let in'),
      error => error,
    )
    expect(String(error)).toMatch(/401|[Uu]nauthorized|Not authorized/)
  })
}

/** A call, a question and its answer, and a call that is left: what may differ between runtimes. */
export function shortCases(traits: Traits, connect: () => Connect, server: Server): void {
  it(`calls, answers and leaves in ${traits.revision}`, async () => {
    const client = await connect()({
      url: `${server().url}/mcp`,
      token: TOKEN,
      say: () => accept({ answer: 'M' }),
    })
    expect(client.revision).toBe(traits.revision)
    expect(textOf(await client.call('says', { input: 'Ann' }))).toBe('Hello, Ann!')
    expect(textOf(await client.call('words', { input: 'a shirt' }))).toBe('It is M.')
    expect(await stoppedBySignal(client, server)).toBe('it was left')
    await client.close()
  })
}

/** What becomes of calls that take long, by way. They take their time, so all ways have them at once. */
export async function longCalls(
  ways: Readonly<Record<string, readonly [Traits, Connect]>>,
  server: Server,
): Promise<Readonly<Record<string, object>>> {
  const fates = Object.entries(ways).map(async ([name, [{ isPlain }, connect]]) => {
    const client = await connect({ url: `${server().url}/mcp`, token: TOKEN })
    try {
      const stopped = stoppedBySignal(client, server)
      if (isPlain) return [name, { stopped: await stopped }]
      const [late, patient] = await Promise.all([stoppedByTime(client, server), patientCall(client, server)])
      return [name, { stopped: await stopped, late, patient }]
    } finally {
      await client.close()
    }
  })
  return Object.fromEntries(await Promise.all(fates))
}

const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'it ended',
    () => 'it was left',
  )

async function stoppedBySignal(client: Connected, server: Server): Promise<string> {
  const text = own('waits')
  const leaving = new AbortController()
  const outcome = outcomeOf(client.call('waits', { input: text }, { signal: leaving.signal }))
  await eventually(async () => expect(await tell(server, text)).toBe('started'))
  leaving.abort()
  await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
  return outcome
}

/** Milliseconds after which the clients give up. */
const PATIENCE_MS = 2000

async function stoppedByTime(client: Connected, server: Server): Promise<string> {
  const text = own('waits')
  const outcome = outcomeOf(client.call('waits', { input: text }, { timeout: PATIENCE_MS }))
  await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
  return outcome
}

/** A call that lasts longer than the client has patience, if it heard of nothing. */
async function patientCall(client: Connected, server: Server): Promise<object> {
  const gate = own('gate')
  const begunAt = Date.now()
  const told: number[] = []
  let message: string | undefined
  const onProgress = (progress: number, said: string | undefined) => {
    told.push(progress)
    message = said
    if (Date.now() - begunAt > PATIENCE_MS + 500) void openGate(server, gate)
  }
  const result = await client.call('counts', { input: gate }, { timeout: PATIENCE_MS, onProgress })
  return {
    end: textOf(result).slice(-9),
    grows: told.every((progress, at) => at === 0 || progress > (told[at - 1] ?? 0)),
    message: /\d+$/.test(message ?? ''),
  }
}

/** What is to become of them. */
export function longFate({ isPlain }: Traits): object {
  const stopped = 'it was left'
  return isPlain
    ? { stopped }
    : { stopped, late: stopped, patient: { end: 'and done.', grows: true, message: true } }
}
