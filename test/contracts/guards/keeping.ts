/** What is kept of what guards have changed: only what they let through. */
import { describe, expect, it } from 'vitest'
import type { Turn } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { filesIn } from '../run-host/folder.ts'
import { accept, as, ask, ended, own, post, type Server } from '../runs/client.ts'
import { send } from './ways.ts'

/** Digits of one test, as clients send them: no file of another test has them. */
function card(): string {
  const digits = String(Math.floor(Math.random() * 9e7) + 1e7)
  return `${digits.slice(0, 4)}-${digits.slice(4)}`
}

const PASSPORT = 'PP-123456'

/** A text of its own without digits, which guards may take for those of a card. */
const newMark = (): string => own('mark').replaceAll(/\d/g, digit => 'ghijklmnop'[Number(digit)] ?? '')

async function expectKept(server: Server, text: string, secret: string): Promise<void> {
  const { folder } = server()
  if (folder === undefined) return
  const holding = async (each: string) =>
    [...(await filesIn(folder)).values()].filter(bytes => bytes.includes(each))
  await eventually(async () => expect(await holding(text)).not.toEqual([]))
  expect(await holding(secret)).toEqual([])
}

export function keepingCases(server: Server): void {
  const json = async (path: string, headers: Readonly<Record<string, string>>) =>
    JSON.parse((await ask(server, path, { headers })).text)

  describe('what is kept', () => {
    it('of a stored run: its input, its events and its result, and the same when it runs again', async () => {
      const ann = as(own('ann'))
      const secret = card()
      const mark = newMark()
      const { id } = await accept(server, 'agents/clerk', { input: `${mark} ${secret}` }, ann)
      const record = await ended(server, id, ann)
      expect(record.status).toBe('completed')
      expect(record.result?.structured).toMatchObject({ whole: '[passport]' })
      const { text: kept } = await ask(server, `/api/runs/${id}?include=input`, { headers: ann })
      const { text: log } = await ask(server, `/api/runs/${id}/events?format=json`, { headers: ann })
      expect(kept).toContain(`${mark} [card]`)
      for (const text of [kept, log]) {
        expect(text).not.toContain(secret)
        expect(text).not.toContain(PASSPORT)
      }
      const again = await post(server, `/api/runs/${id}/retry`, {}, ann)
      expect(again.status, again.text).toBe(200)
      expect(again.text).toContain(`heard ${mark} [card]`)
      await expectKept(server, mark, secret)
    })

    it('of a session: turns, and what the agent remembers', async () => {
      const ann = as(own('ann'))
      const secret = card()
      const sessionId = own('session')
      const body = { input: `my ${secret}`, sessionId }
      await post(server, '/api/agents/clerk/run', body, ann)
      const second = JSON.parse((await post(server, '/api/agents/clerk/run', body, ann)).text)
      expect(second.structured.before).toContain('my [card]')
      expect(second.structured.before).toContain('I am [passport]')
      const { turns } = (await json(`/api/agents/clerk/sessions/${sessionId}/messages`, ann)) as {
        turns: Turn[]
      }
      expect(turns).toHaveLength(2)
      for (const { input, text } of turns) {
        expect(input).toBe('my [card]')
        expect(text).toContain('heard my [card]. I am [passport]')
      }
      await expectKept(server, sessionId, secret)
    })

    it('of an output that is refused or replaced: not what the agent would remember', async () => {
      const ann = as(own('ann'))
      const sessionId = own('session')
      const say = (input: string) => post(server, '/api/agents/speaker/run', { input, sessionId }, ann)
      expect((await say('a bad ghost')).status).toBe(422)
      expect((await say('a worse ghost')).status).toBe(200)
      expect((await say('a good one')).status).toBe(200)
      const { turns } = (await json(`/api/agents/speaker/sessions/${sessionId}/messages`, ann)) as {
        turns: Turn[]
      }
      const texts = turns.map(({ text, status, error }) => text ?? error ?? status)
      expect(texts).toEqual(['A GOOD ONE', 'Something better', 'output_refused'])
      const { text } = JSON.parse((await say('recall')).text)
      const answers = JSON.parse(text).flatMap((each: Record<string, string>) =>
        each.ROLE === 'ASSISTANT' ? each.CONTENT : [],
      )
      expect(answers).toEqual(['SOMETHING BETTER', 'A GOOD ONE'])
    })

    it('of what a client tells of before', async () => {
      const secret = card()
      const history = [
        { role: 'user', content: `it is ${secret}` },
        { role: 'assistant', content: [{ type: 'text', text: secret }] },
      ]
      const answer = await post(server, '/api/agents/clerk/run', { input: 'x', history })
      expect(JSON.parse(answer.text).structured.history).toBe(
        JSON.stringify([
          { role: 'user', content: 'it is [card]' },
          { role: 'assistant', content: [{ type: 'text', text: '[card]' }] },
        ]),
      )
    })

    it('of answers: they come in, and requests go out, as guards let them', async () => {
      const ann = as(own('ann'))
      const secret = card()
      const mark = newMark()
      const asked = JSON.parse((await post(server, '/api/agents/asks/run', { input: mark }, ann)).text)
      const [request] = asked.requests
      expect(request.message).toBe('[passport] asks')
      const answer = (value: unknown) =>
        post(server, `/api/runs/${asked.runId}/answers`, { answers: [{ id: request.id, value }] }, ann)
      const refused = await answer({ deep: ['forbidden'] })
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([422, 'input_refused'])
      const went = await answer(`it is ${secret}`)
      expect(went.status, went.text).toBe(200)
      expect(JSON.parse(went.text).text).toContain('then it is [card].')
      await expectKept(server, mark, secret)
    })

    it('of a task of A2A: its history, and the answer to what it asks', async () => {
      const headers = { ...as(own('ann')), 'a2a-version': '1.0' }
      const secret = card()
      const rpc = async (method: string, params: object) => {
        const body = { jsonrpc: '2.0', id: 1, method, params }
        return JSON.parse(await send(server, '/agents/asks', body, headers))
      }
      const say = (text: string, more: object = {}) =>
        rpc('SendMessage', {
          message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
        })
      const { task } = (await say(`first ${secret}`)).result
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
      const refused = await say('forbidden', { taskId: task.id })
      expect(refused.error).toMatchObject({ message: 'Not about that' })
      await say(`then ${secret}`, { taskId: task.id })
      await eventually(async () => {
        const after = JSON.stringify((await rpc('GetTask', { id: task.id })).result)
        expect(after).toContain('TASK_STATE_COMPLETED')
        expect(after).toContain('then [card]')
        expect(after).toContain('first [card]')
        expect(after).not.toContain(secret)
      })
      await expectKept(server, task.id, secret)
    })

    it('of a failure: not what the agent said of it', async () => {
      const answer = await post(server, '/api/agents/fails/run', { input: 'x' })
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'invalid_input', error: '[passport] is wrong' })
      expect(server().log()).not.toContain(PASSPORT)
    })
  })
}
