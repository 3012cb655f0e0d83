/** What an agent can say to clients of A2A, and what it knows of their messages. */
import { describe, expect, it } from 'vitest'
import { CITATIONS } from './agents.ts'
import {
  callOf,
  getTask,
  hear,
  type Json,
  messageOf,
  openGate,
  openSend,
  own,
  type SeenEvent,
  type Server,
  send,
  sendForTask,
  type Tongues,
  tongues,
} from './client.ts'

/** The status of an event of a stream. */
const statusOf = ({ json }: SeenEvent): Json =>
  ((json.kind === undefined ? (json.statusUpdate as Json) : json)?.status ?? {}) as Json

export function wordCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('what an agent says: %s', (_, tongue) => {
    const hasMetadata = tongue.generation === '1.0' || tongue.isRpc

    it.each([
      ['stop', 'completed'],
      ['rejected', 'rejected'],
      ['input_required', 'input-required'],
    ])('of its end stands in the status, and its text in the artifact: %s', async (text, state) => {
      const sent = await sendForTask(server, tongue, { agent: 'talks', text })
      for (const task of [sent, await getTask(server, tongue, sent.id)]) {
        expect(task.state).toBe(state)
        expect(task.says).toMatchObject({ role: 'agent', text: `about ${text}`, taskId: task.id })
        if (hasMetadata) expect(task.says?.parts[0]?.metadata).toEqual({ tone: 'calm' })
        expect(task.artifacts[0]?.text).toBe('an answer goes on')
      }
    })

    it('of what it waits for is never nothing', async () => {
      const { state, says } = await sendForTask(server, tongue, { agent: 'silent' })
      expect([state, says?.text]).toEqual(['auth-required', 'The agent needs authorization to go on'])
    })

    it('of an artifact is with it', async () => {
      const { json } = await sendForTask(server, tongue, { agent: 'talks', text: 'stop' })
      const map = (json.artifacts as Json[]).find(({ artifactId }) => artifactId === 'map')
      expect(map).toMatchObject({
        name: 'map.json',
        description: 'Where it is',
        metadata: { scale: 3 },
        extensions: [CITATIONS],
      })
      const [part] = (map?.parts ?? []) as Json[]
      if (hasMetadata) expect(part?.metadata).toEqual({ unit: 'km' })
    })

    it('on its way is a status, and its answer goes on', async () => {
      const stream = await openSend(server, tongue, { agent: 'talks', text: 'stop' })
      const events = await stream.rest()
      const said = events
        .map(statusOf)
        .flatMap(({ message }) => (message === undefined ? [] : [message as Json]))
      expect(JSON.stringify(said[0])).toContain('looking')
      expect(said).toHaveLength(2)
      const answer = events.flatMap(({ artifact }) => (artifact?.id === 'response' ? [artifact] : []))
      expect(answer.map(({ text, append }) => [text, append])).toEqual([
        ['an answer', false],
        [' goes on', true],
        // The artifact is whole.
        ['', true],
      ])
      expect(answer.map(({ lastChunk }) => lastChunk)).toEqual([false, false, true])
      expect(JSON.stringify((events.at(-1)?.json ?? {}) as Json)).toContain('about stop')
    })

    it.each(['send', 'stream'] as const)('is a message where that is promised, on %s', async operation => {
      const gate = own('gate')
      const sending = { agent: 'brief', text: gate, wait: false }
      if (operation === 'send') {
        const heard = send(server, tongue, sending)
        await openGate(server, gate)
        expect((await heard).message).toMatchObject({ role: 'agent', text: 'here it is' })
        return
      }
      // The stream is open before the agent has said anything.
      const stream = await openSend(server, tongue, sending)
      await openGate(server, gate)
      const events = await stream.rest()
      expect(events.map(({ kind, message }) => [kind, message?.text])).toEqual([['message', 'here it is']])
      const { json } = events[0]!
      const message = (json.kind === undefined ? json.message : json) as Json
      expect(message).toMatchObject({ metadata: { asked: gate }, extensions: [CITATIONS] })
    })

    it('is a task where it promised a message and says something else', async () => {
      const gate = own('gate')
      await openGate(server, gate)
      const { state, artifacts } = await sendForTask(server, tongue, {
        agent: 'brief',
        text: `${gate} text`,
      })
      expect([state, artifacts[0]?.text]).toEqual(['completed', 'no message after all'])
    })
  })
}

export function knowledgeCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('what an agent knows: %s', (_, tongue) => {
    const known = async (members: Json, base = '', headers = {}, configuration?: Json) => {
      const message = messageOf(tongue.dialect, members)
      const call = callOf(
        tongue,
        'send',
        { message, metadata: { a2a: { tenant: 'forged' } } },
        { base, headers },
      )
      const body = JSON.parse(String(call.init.body)) as Json
      const params = (tongue.isRpc ? body.params : body) as Json
      if (configuration !== undefined) params.configuration = configuration
      const { task, text } = await hear(server, tongue, {
        ...call,
        init: { ...call.init, body: JSON.stringify(body) },
      })
      const [part] = task?.artifacts[0]?.parts ?? []
      expect(part, text).toBeDefined()
      // 0.3 on HTTP+JSON has the object one level deeper.
      const data = part?.data as Json
      return (data.data ?? data) as Json
    }

    it('is what the message and its request say', async () => {
      const members = {
        messageId: 'm-7',
        metadata: { agentName: 'knows', colour: 'red' },
        referenceTaskIds: ['t-1', 't-2'],
      }
      const headers = { 'a2a-extensions': `urn:nobody,${CITATIONS}` }
      const modes = { acceptedOutputModes: ['text/html'], blocking: true }
      expect(await known(members, '/apart', headers, modes)).toEqual({
        messageId: 'm-7',
        metadata: { agentName: 'knows', colour: 'red' },
        acceptedOutputModes: ['text/html'],
        extensions: [CITATIONS],
        referenceTaskIds: ['t-1', 't-2'],
        ids: [true, true],
        sessionId: '',
      })
    })

    it('is nothing where they say nothing, whatever the metadata claims', async () => {
      const members = { metadata: { agentName: 'knows' } }
      expect(await known(members)).toMatchObject({
        acceptedOutputModes: [],
        extensions: [],
        referenceTaskIds: [],
      })
      expect(await known(members)).not.toHaveProperty('tenant')
    })
  })
}
