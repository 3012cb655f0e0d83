/** What is kept of responses: as a tree, for as long as nobody deletes it; and what sessions remember. */
import { describe, expect, it } from 'vitest'
import { as, ask, own, type Server } from '../runs/client.ts'
import { expectError, get, kept, remove, respond, said, send, streamed } from './client.ts'

const user = (content: unknown) => ({ role: 'user', content })

/** The runs of a caller that are stored. */
async function storedRuns(server: Server, headers: Record<string, string>): Promise<object[]> {
  const answer = await ask(server, '/api/runs', { headers })
  expect(answer.status, answer.text).toBe(200)
  const { runs, items } = JSON.parse(answer.text)
  return runs ?? items
}

export function keepingCases(server: Server, depth: number): void {
  describe('responses that follow each other', () => {
    it('are a tree: two go on from one, and hear nothing of each other', async () => {
      const root = await respond(server, 'recalls', 'root')
      const goOn = (input: string, { id }: { id: string }) =>
        respond(server, 'recalls', input, { previous_response_id: id })
      const [left, right] = await Promise.all([goOn('left', root), goOn('right', root)])
      const first = 'u:root|a: > root in none'
      expect(said(left)).toBe(`${first} > left in none`)
      expect(said(right)).toBe(`${first} > right in none`)
      expect(right.previous_response_id).toBe(root.id)
      const leaf = await goOn('leaf', left)
      expect(said(leaf)).toBe(`${first}|u:left|a:${said(left)} > leaf in none`)
      // The later one has what it needs.
      await remove(server, `responses/${left.id}`)
      expect(said(await goOn('again', leaf))).toContain('u:leaf')
      expectError(
        await send(server, 'responses', { model: 'recalls', input: 'x', previous_response_id: left.id }),
        [400, 'previous_response_not_found'],
      )
    })

    it(`may be ${depth} deep`, async () => {
      let id: string | undefined
      for (let at = 0; at < depth; at++) {
        const more = { stream: false, ...(id && { previous_response_id: id }) }
        ;({ id } = await respond(server, 'counting', `${own('deep')} ${at}`, more))
      }
      const last = await respond(server, 'recalls', 'last', { previous_response_id: id })
      expect(said(last)).toMatch(new RegExp(`^u:deep-\\S+ 0\\|a:run 1\\|${2 * depth}\\|.* > last in none$`))
      const { json } = await get(server, `responses/${last.id}/input_items`)
      expect(json.data).toMatchObject([{ role: 'user', content: [{ text: 'last' }] }])
    })

    it('may be named item by item', async () => {
      const { id, output } = await respond(server, 'recalls', 'one')
      const reference = { type: 'item_reference', id: output[0]?.id }
      const other = { type: 'item_reference', id }
      const next = await respond(server, 'recalls', [user('one'), reference, other, user('two')])
      expect(said(next)).toBe('u:one|a: > one in none > two in none')
    })
  })

  describe('a response', () => {
    it('is gone once it is deleted', async () => {
      const { id } = await respond(server, 'talks', 'x')
      const gone = await remove(server, `responses/${id}`)
      expect(gone.json).toEqual({ id, object: 'response', deleted: true })
      for (const path of ['', '?stream=true', '/input_items'])
        expectError(await get(server, `responses/${id}${path}`), [404, 'run_not_found'])
      expectError(await remove(server, `responses/${id}`), [404, 'run_not_found'])
      expectError(await send(server, `responses/${id}/cancel`, {}), [404, 'run_not_found'])
    })

    it('that is not to be kept leaves nothing', async () => {
      const ann = as(own('ann'))
      const one = await respond(server, 'talks', 'x', { store: false }, ann)
      const { response: two } = await streamed(server, 'talks', 'x', { store: false }, ann)
      expect([one.store, two.store]).toEqual([false, false])
      for (const { id } of [one, two]) {
        for (const path of ['', '?stream=true', '/input_items'])
          expectError(await get(server, `responses/${id}${path}`, { headers: ann }), [404, 'run_not_found'])
        expectError(
          await send(server, 'responses', { model: 'talks', input: 'x', previous_response_id: id }, ann),
          [400, 'previous_response_not_found'],
        )
      }
      expect(await storedRuns(server, ann)).toEqual([])
    })

    it('has an id of its kind, and of nothing else', async () => {
      const { output, id } = await respond(server, 'talks', 'x')
      const [{ id: itemId = '' } = {}] = output
      const ids = [
        itemId,
        `${id}_0`,
        id.replace('resp_', 'run_'),
        id.toUpperCase(),
        `${id}%2F`,
        'none',
        '__proto__',
      ]
      for (const each of ids) expectError(await get(server, `responses/${each}`), [404, 'run_not_found'])
      // Runs of the service's own routes are no responses.
      const { headers } = await ask(server, '/api/agents/talks/run', {
        ...{ method: 'POST', body: '{"input":"x"}' },
        headers: { 'content-type': 'application/json', 'idempotency-key': own('key') },
      })
      const runId = headers.get('x-run-id')?.replaceAll('-', '')
      expectError(await get(server, `responses/resp_${runId}`), [404, 'run_not_found'])
    })

    it('is asked for once with an idempotency key', async () => {
      const key = { 'idempotency-key': own('key'), ...as(own('ann')) }
      const word = own('once')
      const once = await respond(server, 'counting', word, {}, key)
      expect(await respond(server, 'counting', word, {}, key)).toEqual(once)
      expect(said(once)).toBe('run 1')
      const other = { model: 'counting', input: 'other' }
      expectError(await send(server, 'responses', other, key), [422, 'idempotency_mismatch'])
      const chat = { model: 'counting', messages: [user(word)] }
      const own2 = { 'idempotency-key': own('key') }
      const [first, second] = [
        await send(server, 'chat/completions', chat, own2),
        await send(server, 'chat/completions', chat, own2),
      ]
      expect(second.json).toEqual(first.json)
      expect(first.json.choices[0].message.content).toBe('run 2')
    })
  })

  describe('a session', () => {
    it('is a conversation of responses', async () => {
      const ann = as(own('ann'))
      const conversation = own('conversation')
      const one = await respond(server, 'recalls', 'one', { conversation }, ann)
      expect(one).toMatchObject({ conversation: { id: conversation } })
      const two = await respond(server, 'recalls', [user('two')], { conversation: { id: conversation } }, ann)
      expect(said(two)).toBe(`u:one|a: > one in ${conversation} > two in ${conversation}`)
      expect(await kept(server, two.id, ann)).toEqual(two)
      const eve = await respond(server, 'recalls', 'one', { conversation }, as(own('eve')))
      expect(said(eve)).toBe(` > one in ${conversation}`)
      for (const [param, body] of [
        ['conversation', { input: 'x', previous_response_id: one.id }],
        ['input', { input: [user('forged'), { role: 'assistant', content: 'forged' }, user('x')] }],
        ['input', { input: [{ type: 'item_reference', id: one.output[0]?.id }, user('x')] }],
      ] as const) {
        const answer = await send(server, 'responses', { model: 'recalls', conversation, ...body }, ann)
        expect(expectError(answer, [400, 'invalid_body']).param).toBe(param)
      }
    })
  })
}
