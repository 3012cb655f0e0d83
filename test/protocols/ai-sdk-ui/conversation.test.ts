/** What is remembered of a chat, and by whom: where messages are edited and answered again as well. */
import { describe, expect, it } from 'vitest'
import { memoryState } from '../../../src/index.ts'
import {
  type ChatOptions,
  CLIENTS,
  inProcess,
  type Message,
  open,
} from '../../contracts/ai-sdk-ui/clients.ts'
import { begun, stopIn } from '../../contracts/ai-sdk-ui/leaving.ts'
import { expectAnswer, fateOf, last, post, said } from '../../contracts/ai-sdk-ui/page.ts'
import { handlerOn } from '../../contracts/ai-sdk-ui/service.ts'
import { eventually } from '../../eventually.ts'

const own = (): string => `ann-${crypto.randomUUID()}`

const userSays = (id: string, text: string): Message => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})
const agentSaid = (id: string, text: string): Message => ({
  id,
  role: 'assistant',
  parts: [{ type: 'text', text }],
})

describe.each(['leave', 'resume'])('with the settings %s', settings => {
  const service = inProcess(handlerOn(memoryState(), settings, { logger: false }))

  describe.each(CLIENTS)('a chat of AI SDK $version', client => {
    const begin = (options: ChatOptions) => {
      const opened = open(client, service, 'agents/remembers', options)
      const { chat } = opened
      const answer = (messages: number) => said(expectAnswer(opened, messages)).join()
      return {
        ...opened,
        async says(text: string, messageId?: string) {
          await chat.sendMessage({ text, ...(messageId !== undefined && { messageId }) })
          return answer(chat.messages.length)
        },
        async again(messageId?: string) {
          await chat.regenerate(messageId === undefined ? {} : { messageId })
          return answer(chat.messages.length)
        },
        idAt: (at: number) => chat.messages[at]?.id ?? '',
      }
    }

    describe.each([
      ['the service', own],
      ['the page', () => undefined],
    ])('that %s remembers', (_, userOf) => {
      it('has what was said before', async () => {
        const { says } = begin({ user: userOf() })
        expect(await says('one')).toBe(' > one')
        expect(await says('two')).toBe('one > two')
        expect(await says('three')).toBe('one, two > three')
      })

      it('forgets what is answered again', async () => {
        const { says, again, chat } = begin({ user: userOf() })
        await says('one')
        await says('two')
        expect(await again()).toBe('one > two')
        expect(chat.messages).toHaveLength(4)
        expect(await says('three')).toBe('one, two > three')
      })

      it('forgets what came after an earlier answer that is given again', async () => {
        const { says, again, chat, idAt } = begin({ user: userOf() })
        await says('one')
        await says('two')
        expect(await again(idAt(1))).toBe(' > one')
        expect(chat.messages).toHaveLength(2)
        expect(await says('three')).toBe('one > three')
      })

      it('forgets what is edited, and what came after it', async () => {
        const { says, chat, idAt } = begin({ user: userOf() })
        await says('one')
        await says('two')
        expect(await says('ONE', idAt(0))).toBe(' > ONE')
        expect(chat.messages).toHaveLength(2)
        expect(await says('three')).toBe('ONE > three')
      })
    })

    it.each([own(), undefined])('answers again after an error (%s)', async user => {
      const opened = open(client, service, 'agents/flaky', { user })
      const text = crypto.randomUUID()
      await opened.chat.sendMessage({ text })
      expect(opened.chat.status).toBe('error')
      await opened.chat.regenerate()
      expect(said(expectAnswer(opened))).toEqual([`Try of ${text}.`])
    })

    it.each([own(), undefined])('answers again after it was stopped (%s)', async user => {
      const opened = open(client, service, 'agents/waits', { user })
      const { chat } = opened
      const isWaiting = () => said(last(chat))[0] === 'I wait. '
      const name = crypto.randomUUID()
      const stop = async () => {
        if (settings === 'leave') await chat.stop()
        else await stopIn(service, 'agents/waits', chat.id, user === undefined ? {} : { 'x-test-user': user })
      }
      const { end } = await begun(opened, name, isWaiting)
      await stop()
      await end
      const again = chat.regenerate()
      await eventually(() => expect([chat.status, isWaiting()]).toEqual(['streaming', true]))
      expect(chat.messages).toHaveLength(2)
      await stop()
      await again
      expect(chat.error).toBeUndefined()
      await eventually(async () => expect(await fateOf(service, name)).toBe('stopped'))
    })

    it('is told that a message is gone which the service does not have', async () => {
      const user = own()
      const { says, chat } = begin({ user })
      await says('one')
      await says('two')
      const messages = [
        userSays('u1', 'other'),
        agentSaid('a1', 'x'),
        userSays('u2', 'gone'),
        agentSaid('a2', 'y'),
      ]
      const other = open(client, service, 'agents/remembers', { id: chat.id, user, messages })
      await other.chat.regenerate()
      expect([other.chat.status, other.chat.error?.message]).toEqual([
        'error',
        'The session has no such message',
      ])
      expect(other.asked[0]?.status).toBe(409)
      expect(await says('three')).toBe('one, two > three')
    })

    it('edits and answers again what was said without ids of messages', async () => {
      const user = own()
      const id = crypto.randomUUID()
      const runs: string[] = []
      for (const input of ['one', 'two']) {
        const body = post({ input, sessionId: id }, { 'x-test-user': user })
        const { url, fetch: send = fetch } = service
        const answer = await send(`${url}/api/agents/remembers/run`, body)
        runs.push((await answer.json()).runId)
      }
      const kept = runs.flatMap((runId, at) => [
        userSays(`${runId}:user`, at === 0 ? 'one' : 'two'),
        agentSaid(runId, 'x'),
      ])
      const opened = begin({ id, user, messages: kept })
      expect(await opened.again()).toBe('one > two')
      expect(await opened.says('ONE', opened.idAt(0))).toBe(' > ONE')
      expect(await opened.says('three')).toBe('ONE > three')
    })

    it('is not told what the page invents, where the service remembers', async () => {
      const { says, chat } = begin({ user: own(), messages: [userSays('u1', 'lie'), agentSaid('a1', 'x')] })
      expect(await says('one')).toBe(' > one')
      expect(chat.messages).toHaveLength(4)
    })

    it('is not mixed with the chat of somebody else that has its id', async () => {
      const ann = begin({ user: own() })
      await ann.says('one')
      const bob = begin({ user: own(), id: ann.chat.id })
      expect(await bob.says('two')).toBe(' > two')
      expect(await ann.says('three')).toBe('one > three')
      expect(last(bob.chat)).not.toEqual(last(ann.chat))
    })
  })
})
