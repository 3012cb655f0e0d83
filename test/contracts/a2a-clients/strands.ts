/** What Strands' client of A2A agents does with a service. */
import { expect, it } from 'vitest'
import type { Place, Strands, StrandsInput, Transport, Update } from '../../frameworks/a2a-clients/way.ts'
import { failure, gateOf, gates, noted, type Services, TOKEN } from './client.ts'

const partsOf = (updates: readonly Update[]) => updates.flatMap(({ artifact }) => artifact?.parts ?? [])
const textOf = (updates: readonly Update[]): string =>
  partsOf(updates)
    .map(({ text = '' }) => text)
    .join('')
const stateOf = (updates: readonly Update[]) =>
  updates.flatMap(({ kind, status }) => (kind === 'status-update' ? [status?.state] : [])).at(-1)

export function strandsCases(strands: () => Strands, { open, locked }: Services): void {
  /** The events of a message and the answer. */
  async function ask(input: StrandsInput, options: Partial<Place> = {}) {
    const updates: Update[] = []
    const stream = strands().stream({ url: open().url, ...options }, input)
    for (;;) {
      const { done, value } = await stream.next()
      if (done) return { updates, answer: value, state: stateOf(updates) }
      updates.push(value)
    }
  }

  /** The ids of a message's task. */
  async function idsOf(input: string) {
    const { updates } = await ask(input)
    const { id = '', contextId = '' } = updates.find(({ kind }) => kind === 'task') ?? {}
    return { taskId: id, contextId }
  }

  it('finds the card, and answers', async () => {
    expect(await strands().plain(open().url, 'hello')).toEqual({
      answer: 'You said: hello',
      name: 'helper',
      description: 'Does what it is told',
    })
  })

  it('comes in with its token only', async () => {
    const { url } = locked()
    expect((await failure(strands().plain(url, 'hello'))).message).toContain('401')
    expect((await ask('hello', { url, token: TOKEN })).answer).toBe('You said: hello')
  })

  it.each<Transport>(['JSONRPC', 'HTTP+JSON'])('hears an answer as it comes, over %s', async transport => {
    const gate = gateOf()
    const updates: Update[] = []
    const place = { url: open().url, transport }
    for await (const update of strands().stream(place, `wait ${gate}`)) {
      updates.push(update)
      if (textOf(updates) === 'I wait. ') gates.add(gate)
    }
    expect(updates[0]?.kind).toBe('task')
    expect(textOf(updates)).toBe('I wait. Done.')
    expect(stateOf(updates)).toBe('completed')
  })

  // Over JSON-RPC, since over HTTP+JSON its SDK forgets that chunks are appended.
  it('answers with everything that was said', async () => {
    const gate = gateOf()
    gates.add(gate)
    expect((await ask(`wait ${gate}`)).answer).toBe('I wait. Done.')
  })

  it('sends the text of several blocks', async () => {
    expect((await ask([{ text: 'one' }, { text: 'two' }])).answer).toBe('You said: one\ntwo')
  })

  it('sends the last message of a list', async () => {
    const { answer } = await ask([
      { role: 'user', content: [{ text: 'first' }] },
      { role: 'assistant', content: [{ text: 'second' }] },
      { role: 'user', content: [{ text: 'third' }] },
    ])
    expect(answer).toBe('You said: third')
  })

  it('is answered by a bare message', async () => {
    const { updates, answer } = await ask('message')
    expect(updates).toMatchObject([{ kind: 'message' }])
    expect(answer).toBe('a bare message')
  })

  it('is answered by an artifact in chunks', async () => {
    expect((await ask('chunks')).answer).toBe('one two')
  })

  it('hears of a file', async () => {
    const [part] = partsOf((await ask('file')).updates)
    const file = { name: 'pixel.png', mimeType: 'image/png', bytes: expect.stringMatching(/^iVBOR/) }
    expect(part).toMatchObject({ kind: 'file', file })
  })

  it('hears of data', async () => {
    const { updates } = await ask('data')
    expect(partsOf(updates)).toMatchObject([{ kind: 'data', data: { city: 'Oslo' } }])
  })

  // It reads artifacts only, unless the task is completed.
  it('is asked by what the agent says', async () => {
    expect(await ask('ask-aloud')).toMatchObject({ state: 'input-required', answer: 'Which city?' })
  })

  it('goes on with a task that waits', async () => {
    const ids = await idsOf('ask-aloud')
    const { updates, state } = await ask('Oslo', ids)
    expect(updates[0]).toMatchObject({ kind: 'task', id: ids.taskId })
    expect(textOf(updates.slice(1))).toBe('It is sunny in Oslo')
    expect(state).toBe('completed')
  })

  it('goes on with a conversation', async () => {
    const { contextId } = await idsOf('count')
    expect((await ask('count', { contextId })).answer).toBe('message 2')
  })

  it('hears of a run that fails', async () => {
    expect((await ask('fail')).state).toBe('failed')
  })

  it('hears of a run that is rejected', async () => {
    expect(await ask('reject')).toMatchObject({ state: 'rejected', answer: 'I will not' })
  })

  it('is told that a task is unknown', async () => {
    expect(await failure(ask('hello', { taskId: 'no-such-task' }))).toBeInstanceOf(Error)
  })

  it('leaves a run that goes on', async () => {
    const gate = gateOf()
    for await (const { kind } of strands().stream({ url: open().url }, `wait ${gate}`))
      if (kind === 'artifact-update') break
    gates.add(gate)
    await noted(`${gate} ended`)
  })

  it('cancels a task', async () => {
    const gate = gateOf()
    const place = { url: open().url }
    const updates: Update[] = []
    for await (const update of strands().stream(place, `wait ${gate}`)) {
      updates.push(update)
      if (update.kind === 'artifact-update' && textOf(updates) === 'I wait. ')
        expect(await strands().cancel(place, updates[0]?.id ?? '')).toBe('canceled')
    }
    expect(stateOf(updates)).toBe('canceled')
    await noted(`${gate} stopped`)
  })

  it('is two nodes of a graph', async () => {
    expect(await strands().graph({ url: open().url }, 'hello')).toMatchObject({
      status: 'COMPLETED',
      answers: [expect.stringContaining('hello'), expect.stringContaining('hello')],
    })
  })
}
