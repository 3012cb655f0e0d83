/** What the remote agent of the Agent Development Kit does with a service. */
import { describe, expect, it } from 'vitest'
import type {
  Adk,
  AdkEvent,
  AdkOptions,
  AdkPart,
  Place,
  Transport,
} from '../../frameworks/a2a-clients/way.ts'
import { gateOf, gates, noted, type Services, TOKEN } from './client.ts'

const partsOf = (events: readonly AdkEvent[]): AdkPart[] =>
  events.flatMap(({ content }) => content?.parts ?? [])
const textOf = (events: readonly AdkEvent[]): string =>
  partsOf(events)
    .map(({ text = '' }) => text)
    .join('')
const piecesOf = (events: readonly AdkEvent[]) => events.filter(({ partial }) => partial)
const wholeOf = (events: readonly AdkEvent[]) => events.filter(({ partial }) => !partial)
const errorOf = (events: readonly AdkEvent[]) => events.map(({ errorMessage }) => errorMessage).find(Boolean)
const factOf = (events: readonly AdkEvent[], name: string) =>
  events.map(({ customMetadata }) => customMetadata?.[`a2a:${name}`]).findLast(Boolean)

export function adkCases(adk: () => Adk, { open, locked }: Services): void {
  const talk = (options: AdkOptions = {}, place: Partial<Place> = {}) =>
    adk().talk({ url: open().url, ...place }, options)

  it('finds the card, and answers', async () => {
    const { say } = await adk().plain(open().url)
    expect(textOf(piecesOf(await say('hello')))).toBe('You said: hello')
  })

  it('comes in with its token only', async () => {
    const { url } = locked()
    const stranger = await adk().plain(url)
    expect(errorOf(await stranger.say('hello'))).toContain('401')
    const { say } = await talk({}, { url, token: TOKEN })
    expect(textOf(piecesOf(await say('hello')))).toBe('You said: hello')
  })

  it.each<Transport>(['JSONRPC', 'HTTP+JSON'])('hears an answer as it comes, over %s', async transport => {
    const gate = gateOf()
    const onUpdate = ({ kind }: { kind: string }) => void (kind === 'artifact-update' && gates.add(gate))
    const { say } = await talk({ onUpdate }, { transport })
    const pieces = piecesOf(await say(`wait ${gate}`)).filter(event => textOf([event]) !== '')
    expect(pieces.map(event => textOf([event]))).toEqual(['I wait. ', 'Done.'])
  })

  it('keeps the answer as a whole', async () => {
    const { say, kept } = await talk()
    expect(textOf(wholeOf(await say('hello')))).toBe('You said: hello')
    expect(textOf((await kept()).filter(({ author }) => author === 'remote'))).toBe('You said: hello')
  })

  describe.each([
    ['with streams', true],
    ['without streams', false],
  ])('%s', (_, isStreaming) => {
    it('goes on with a conversation', async () => {
      const { say } = await talk({ isStreaming })
      expect(textOf(wholeOf(await say('count')))).toBe('message 1')
      expect(textOf(wholeOf(await say('count')))).toBe('message 2')
    })

    it('is asked once', async () => {
      const { say } = await talk({ isStreaming })
      const events = await say('ask')
      expect(textOf(wholeOf(events))).toBe('Which city?')
      expect(events.at(-1)?.turnComplete).toBe(true)
    })

    it('is answered by a bare message', async () => {
      const { say, kept } = await talk({ isStreaming })
      expect(textOf(await say('message'))).toBe('a bare message')
      expect(await kept()).toHaveLength(2)
    })
  })

  it('goes on with a conversation after an artifact', async () => {
    const { say } = await talk()
    expect(textOf(wholeOf(await say('chunks')))).toBe('one two')
    expect(textOf(piecesOf(await say('count')))).toBe('message 2')
  })

  it('is given a file', async () => {
    const { say } = await talk()
    const parts = partsOf(wholeOf(await say('file')))
    const inlineData = { mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) }
    expect(parts).toContainEqual(expect.objectContaining({ inlineData: expect.objectContaining(inlineData) }))
  })

  it('is given a link to a file', async () => {
    const { say } = await talk()
    const fileData = { fileUri: 'https://example.com/a.pdf', mimeType: 'application/pdf' }
    const parts = partsOf(wholeOf(await say('link')))
    expect(parts).toContainEqual(expect.objectContaining({ fileData: expect.objectContaining(fileData) }))
  })

  it('is given data as JSON', async () => {
    const { say } = await talk()
    expect(textOf(wholeOf(await say('data')))).toBe('{"city":"Oslo"}')
  })

  it('sends a file', async () => {
    const { say } = await talk()
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0K' }
    expect(textOf(piecesOf(await say([{ text: 'look' }, { inlineData }])))).toBe('I see image/png')
  })

  it('goes on with a task by the answer to a function call', async () => {
    const { say } = await talk()
    const asking = await say('confirm')
    const [call] = partsOf(asking).flatMap(({ functionCall }) => functionCall ?? [])
    expect(call).toEqual({ id: 'call-1', name: 'confirm', args: { amount: 50 } })
    const functionResponse = { id: 'call-1', name: 'confirm', response: { ok: true } }
    const answer = await say([{ functionResponse }])
    expect(errorOf(answer)).toBeUndefined()
    expect(textOf(piecesOf(answer))).toContain('It is sunny in')
    expect(factOf(answer, 'task_id')).toBe(factOf(asking, 'task_id'))
  })

  it('hears of a run that fails', async () => {
    const { say } = await talk()
    expect(errorOf(await say('fail'))).toMatch(/./)
  })

  it('hears of a run that is rejected', async () => {
    const { say } = await talk()
    expect(textOf(wholeOf(await say('reject')))).toContain('I will not')
  })

  it('is told that a task is unknown', async () => {
    const { say } = await talk({}, { taskId: 'no-such-task' })
    expect(errorOf(await say('hello'))).toMatch(/./)
  })

  it('shows its callbacks what is sent and heard', async () => {
    const sent: unknown[] = []
    const heard: string[] = []
    const { say } = await talk({
      onSent: parts => void sent.push(parts),
      onUpdate: ({ kind }) => void heard.push(kind),
    })
    await say('hello')
    expect(sent).toEqual([[{ kind: 'text', text: 'hello' }]])
    expect([heard[0], heard.at(-1)]).toEqual(['task', 'status-update'])
  })

  it('leaves a run that goes on', async () => {
    const gate = gateOf()
    const leaving = new AbortController()
    const { say } = await talk({
      onUpdate: ({ kind }) => {
        if (kind === 'artifact-update') leaving.abort()
      },
    })
    expect(textOf(await say(`wait ${gate}`, leaving.signal))).not.toContain('Done.')
    gates.add(gate)
    await noted(`${gate} ended`)
  })

  it('cancels a task', async () => {
    const gate = gateOf()
    const place = { url: open().url }
    const states: Promise<string>[] = []
    let task = ''
    const { say } = await talk({
      onUpdate: ({ kind, id = '' }) => {
        if (kind === 'task') task = id
        if (kind === 'artifact-update' && states.length === 0) states.push(adk().cancel(place, task))
      },
    })
    await say(`wait ${gate}`)
    expect(await Promise.all(states)).toEqual(['canceled'])
    await noted(`${gate} stopped`)
  })

  it('is two agents of a sequence', async () => {
    const { say } = await adk().sequence({ url: open().url })
    const authors = (await say('hello')).map(({ author }) => author)
    expect([...new Set(authors)]).toEqual(['first', 'second'])
  })
}
