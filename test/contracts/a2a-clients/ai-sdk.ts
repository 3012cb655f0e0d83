/** What the A2A provider of the AI SDK does with a service. */
import { describe, expect, it } from 'vitest'
import type { AiSdk, ModelInput } from '../../frameworks/a2a-clients/way.ts'
import { failure, gateOf, gates, type Services } from './client.ts'

const fileOf = (mediaType: string) => ({ type: 'file', mediaType, data: Uint8Array.of(1, 2, 3) }) as const

export function aiSdkCases(aiSdk: () => AiSdk, { open }: Pick<Services, 'open'>): void {
  describe.each(['generate', 'stream'] as const)('%s', way => {
    const ask = (input: ModelInput, contextId?: string) =>
      aiSdk()[way](open().url, input, contextId === undefined ? {} : { contextId })

    it('gives the answer', async () => {
      expect(await ask('hello')).toMatchObject({ text: 'You said: hello', finishReason: 'stop' })
    })

    it('goes on with a conversation', async () => {
      const contextId = crypto.randomUUID()
      expect((await ask('count', contextId)).text).toBe('message 1')
      expect((await ask('count', contextId)).text).toBe('message 2')
    })

    it('begins a conversation without a context', async () => {
      expect((await ask('count')).text).toBe('message 1')
      expect((await ask('count')).text).toBe('message 1')
    })

    it('sends the last of several messages', async () => {
      const { text } = await ask([
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ])
      expect(text).toBe('You said: three')
    })

    it('is answered by a bare message', async () => {
      expect((await ask('message')).text).toBe('a bare message')
    })

    it('is answered by an artifact in chunks', async () => {
      expect((await ask('chunks')).text).toBe('one two')
    })

    it('is given a file', async () => {
      expect((await ask('file')).files).toMatchObject([
        { mediaType: 'image/png', base64: expect.stringMatching(/^iVBOR/) },
      ])
    })

    it('ends after data, which it cannot show', async () => {
      expect(await ask('data')).toMatchObject({ text: '', finishReason: 'stop' })
    })

    it('sends a file', async () => {
      const content = [{ type: 'text' as const, text: 'look' }, fileOf('image/png')]
      expect((await ask([{ role: 'user', content }])).text).toBe('I see image/png')
    })

    it('is told that a file is not taken', async () => {
      const error = await failure(ask([{ role: 'user', content: [fileOf('model/gltf')] }]))
      expect(error.message).toContain('model/gltf')
    })

    it('is asked once', async () => {
      // A stream shows no message of a status.
      const question = way === 'stream' ? 'ask-aloud' : 'ask'
      expect(await ask(question)).toMatchObject({ text: 'Which city?', finishReason: 'stop' })
    })
  })

  it.each(['reject', 'fail'])('ends a stream with an error: %s', async what => {
    expect((await aiSdk().stream(open().url, what)).finishReason).toBe('error')
  })

  it('hears an answer as it comes', async () => {
    const gate = gateOf()
    const pieces: string[] = []
    const onText = (text: string) => {
      pieces.push(text)
      gates.add(gate)
    }
    await aiSdk().stream(open().url, `wait ${gate}`, { onText })
    expect(pieces.filter(text => text !== '')).toEqual(['I wait. ', 'Done.'])
  })
}
