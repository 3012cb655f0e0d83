/** What every stock client of OpenAI's interface gets of the service, with Chat Completions and with Responses. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Way } from '../../frameworks/openai-clients/way.ts'
import { own } from '../runs/client.ts'
import { DOT, type Server, tell } from './server.ts'

/** How the ways of clients differ. */
export interface Traits {
  /** It shows thoughts. */
  readonly thinks?: true
  /** It goes on from responses that are kept, and answers approvals. */
  readonly goesOn?: true
  /** It takes a stream that failed for one that ended. */
  readonly isDeaf?: true
}

/** An error of any client, as far as it tells what the service said. */
interface Refusal {
  readonly status: number | undefined
  readonly code: unknown
  readonly message: unknown
}

function refusalIn(error: unknown): Refusal {
  const { status, statusCode, code, message, responseBody } = Object(error)
  const body = typeof responseBody === 'string' ? JSON.parse(responseBody).error : undefined
  return { status: status ?? statusCode, code: body?.code ?? code, message: body?.message ?? message }
}

async function refusalOf(asked: Promise<unknown>): Promise<Refusal> {
  return refusalIn(
    await asked.then(
      answer => expect.unreachable(`it is answered: ${JSON.stringify(answer)}`),
      error => error,
    ),
  )
}

/** Where the client tells how an answer ended, it ended well. */
const WELL = [undefined, 'stop', 'completed']

export function wayCases(
  { thinks, goesOn, isDeaf }: Traits,
  way: () => Way,
  wrong: () => Way,
  server: Server,
): void {
  it('gets an answer', async () => {
    const { finish, ...answer } = await way().ask({ model: 'says', text: 'Ann' })
    expect(answer).toEqual({ text: 'Hello, Ann!', reasoning: '', usage: [3, 4] })
    expect(WELL).toContain(finish)
  })

  it('gets an answer in pieces', async () => {
    const pieces: string[] = []
    const { finish, ...answer } = await way().stream({ model: 'says', text: 'Ann' }, piece =>
      pieces.push(piece),
    )
    expect(pieces).toEqual(['Hello, ', 'Ann!'])
    expect(answer).toEqual({ text: 'Hello, Ann!', reasoning: '', usage: [3, 4] })
    expect(WELL).toContain(finish)
  })

  it('tells what was said before, whatever the service has thought and done', async () => {
    const first = 'I look. one after '
    expect(await way().converse('mulls', 'one', 'two')).toBe(`I look. two after one, ${first}`)
  })

  it('shows thoughts apart from the answer', async () => {
    const answer = { text: 'Here it is.', reasoning: thinks ? 'Let me see.' : '' }
    expect(await way().ask({ model: 'thinks', text: 'x' })).toMatchObject(answer)
    expect(await way().stream({ model: 'thinks', text: 'x' })).toMatchObject(answer)
  })

  it('takes no tool of the service for its own', async () => {
    const { finish, text } = await way().ask({ model: 'looks', text: 'x' })
    expect(text).toBe('I look. 21 degrees.')
    const streamed = await way().stream({ model: 'looks', text: 'x' })
    expect(streamed.text).toBe('I look. 21 degrees.')
    expect(WELL).toContain(finish)
    expect(WELL).toContain(streamed.finish)
  })

  it.each(['withTool', 'streamWithTool'] as const)('runs its own tools: %s', async method => {
    const calls: unknown[] = []
    const text = await way()[method]({ model: 'paints', text: 'wall door' }, args => {
      calls.push(args)
      return `red ${args.of}`
    })
    expect(calls).toEqual([{ of: 'wall' }, { of: 'door' }])
    expect(text).toBe('Painted red wall, red door.')
  })

  it('hands a conversation over to another model', async () => {
    const told = await way().handOver?.({ model: 'paints', text: 'wall' }, 'remembers')
    if (told !== undefined) expect(told).toMatch(/^assistant I paint\. , tool .*> wall$/)
  })

  it('gets an object', async () => {
    const asked = { model: 'weighs', text: 'x' }
    expect(await way().object(asked)).toEqual({ grams: 12 })
    if (way().streamObject) expect(await way().streamObject?.(asked)).toEqual({ grams: 12 })
  })

  it('is refused an object by an agent that gives none', async () => {
    const refusal = await refusalOf(way().object({ model: 'says', text: 'x' }))
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_body' })
  })

  it('shows a picture', async () => {
    const asked = { model: 'sees', text: 'What is it?', image: `data:image/png;base64,${DOT}` }
    const text = `What is it?, image image/png ${DOT}`
    expect(await way().ask(asked)).toMatchObject({ text })
    expect(await way().stream(asked)).toMatchObject({ text })
  })

  it('is told that there is no such model', async () => {
    const refusal = await refusalOf(way().ask({ model: 'nobody', text: 'x' }))
    expect(refusal).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it('is told that its key is wrong', async () => {
    const asked = { model: 'says', text: 'x' }
    expect(await refusalOf(wrong().ask(asked))).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(await refusalOf(wrong().stream(asked))).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('is told that a run failed, and does not run it again', async () => {
    const text = own('refused')
    const refusal = await refusalOf(way().ask({ model: 'refuses', text }))
    expect(refusal).toMatchObject({ status: 500, code: 'agent_failed' })
    expect(refusal.message).toContain('Internal server error')
    expect(await tell(server, text)).toBe('1')
  })

  it('is told that a run failed in the middle', async () => {
    const text = own('broken')
    const pieces: string[] = []
    const failure = await way()
      .stream({ model: 'breaks', text }, piece => pieces.push(piece))
      .then(({ finish }) => finish, refusalIn)
    expect(pieces).toEqual(['Half of '])
    expect(await tell(server, text)).toBe('1')
    if (isDeaf) expect(failure).toBeUndefined()
    else expect(WELL).not.toContain(failure)
    expect(JSON.stringify(failure) ?? '').not.toContain('secret')
  })

  if (goesOn) {
    it('goes on from the response before', async () => {
      expect(await way().sayBoth?.('remembers', 'one', 'two')).toBe('user one, assistant  > one > two')
    })

    it.each([
      [true, (amount: string) => `paid ${amount}`, '1'],
      [false, () => 'not paid: The call was denied', '0'],
    ])('decides a call that needs an approval: %s', async (isApproved, end, times) => {
      const amount = amountOfItsOwn()
      const asked: unknown[] = []
      const text = await way().approve?.({ model: 'pays', text: amount }, args => {
        asked.push(args)
        return isApproved
      })
      expect(asked).toEqual([{ amount: Number(amount) }])
      expect(text).toBe(end(amount))
      expect(await tell(server, amount, 'paid')).toBe(times)
    })
  }
}

/** No other test pays it. */
export function amountOfItsOwn(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return String(random)
}

/** How the runs that clients have left ended. */
export async function leaving(ways: Readonly<Record<string, Way>>, server: Server): Promise<object> {
  const fates = Object.entries(ways).map(async ([name, way]) => [name, await left(way, server)])
  return Object.fromEntries(await Promise.all(fates))
}

/** Leaves after the first piece. */
async function left(way: Way, server: Server): Promise<object> {
  const text = own('waits')
  const leaving = new AbortController()
  const pieces: string[] = []
  const hear = (piece: string) => {
    pieces.push(piece)
    leaving.abort()
  }
  const outcome = await way.stream({ model: 'waits', text, signal: leaving.signal }, hear).then(
    () => 'it ended',
    () => 'it was left',
  )
  await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
  return { pieces, outcome }
}
