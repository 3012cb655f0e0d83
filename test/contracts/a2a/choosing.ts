import { describe, expect, it } from 'vitest'
import {
  callOf,
  expectError,
  hear,
  type Json,
  messageOf,
  openSend,
  type Server,
  sendForTask,
  type Tongue,
  tongues,
} from './client.ts'

export function choosingCases(server: Server): void {
  describe.each(tongues)('the agent that answers: %s', (_, tongue) => {
    const asked = (metadata: Json, base = '', ofRequest?: Json) => {
      const message = messageOf(tongue.dialect, { metadata })
      return hear(server, tongue, callOf(tongue, 'send', { message, metadata: ofRequest }, { base }))
    }
    const isMirror = async (heard: ReturnType<typeof asked>) =>
      expect((await heard).task?.artifacts[0]?.id).toBe('mirror')

    it('is the one that the message names, or its skill', async () => {
      await isMirror(asked({ agentName: 'mirror' }))
      await isMirror(asked({ skillId: 'mirror' }))
      await isMirror(asked({ agentName: 'mirror', skillId: 'echo' }))
      await isMirror(asked({ agentName: 'mirror' }, '/many'))
      await isMirror(asked({}, '', { agentName: 'mirror' }))
    })

    it('is the default where it names none', async () => {
      const { task } = await asked({})
      expect(task?.artifacts).toMatchObject([{ id: 'response', text: 'hello' }])
    })

    it('is the only one where there is one', async () => {
      await isMirror(asked({}, '/one'))
    })

    it('is the one of the endpoint, whatever the message names', async () => {
      await isMirror(asked({ agentName: 'echo' }, '/agents/mirror'))
      await isMirror(asked({ agentName: 'echo' }, '/many/agents/mirror'))
      const stream = await openSend(server, tongue, { base: '/agents/says' })
      expect((await stream.next())?.kind).toBe('message')
    })

    it('is named in the path of a tenant where that is free', async () => {
      if (tongue.isRpc) return
      await isMirror(asked({}, '/many/mirror'))
    })

    it('has to be named where nothing tells it, and the refusal lists who there is', async () => {
      for (const metadata of [
        {},
        { agentName: 'nobody' },
        { agentName: '__proto__' },
        { skillId: 'nobody' },
      ]) {
        const { message } = expectError(tongue, await asked(metadata, '/many'), 'invalidParams')
        for (const name of ['echo', 'mirror', 'clerk']) expect(message).toContain(name)
      }
    })

    it('stays the one of the task', async () => {
      const { id } = await sendForTask(server, tongue, { agent: 'clerk', base: '/many' })
      const task = await sendForTask(server, tongue, { taskId: id, text: 'Oslo', base: '/many' })
      expect(task.artifacts.at(-1)?.text).toBe('sunny in Oslo')
    })

    it('is not found at the endpoint of nobody', async () => {
      const { status } = await notFound(server, tongue)
      expect([200, 404]).toContain(status)
    })
  })
}

/** Checks an endpoint that does not exist. Its answer is a problem or an error of the tongue. */
async function notFound(server: Server, tongue: Tongue): Promise<Response> {
  const { path, init } = callOf(
    tongue,
    'send',
    { message: messageOf(tongue.dialect) },
    { base: '/agents/nobody' },
  )
  const response = await fetch(`${server().url}${path}`, init)
  const text = await response.text()
  if (response.status === 200) expect(text).toContain('"error"')
  return response
}
