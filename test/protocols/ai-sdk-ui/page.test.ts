import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import type { Turn } from '../../../src/agents/turn.ts'
import { messagesOf, stopChat } from '../../../src/protocols/ai-sdk-ui/page.ts'
import { root } from '../../runtimes/process.ts'

const turn = (runId: string, more: Partial<Turn>): Turn => ({
  ...{ runId, kind: 'agent', name: 'helper', input: `${runId}?`, status: 'completed', at: 0 },
  ...more,
})

const INPUT = '/api/runs/0b0d4f43-2f1c-4a4f-9d3c-6f3f3a0a9f57/input'

/** Turns as the service tells them, newest first. */
const told = (...turns: Turn[]) => messagesOf(turns.toReversed())

describe('messagesOf', () => {
  it('makes a message of what was said, and one of the answer, oldest first', () => {
    const messages = told(
      turn('r1', { messageId: 'm1', text: 'one', finishReason: 'stop' }),
      turn('r2', { text: 'two', finishReason: 'length' }),
    )
    expect(messages).toEqual([
      { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'r1?' }] },
      {
        ...{ id: 'r1', role: 'assistant', parts: [{ type: 'text', text: 'one' }] },
        metadata: { runId: 'r1', finishReason: 'stop' },
      },
      { id: 'r2:user', role: 'user', parts: [{ type: 'text', text: 'r2?' }] },
      {
        ...{ id: 'r2', role: 'assistant', parts: [{ type: 'text', text: 'two' }] },
        metadata: { runId: 'r2', finishReason: 'length' },
      },
    ])
  })

  it('makes one answer of the runs that go on from each other', () => {
    const messages = told(
      turn('r1', { messageId: 'm1', text: 'Which?', finishReason: 'input_required' }),
      turn('r2', { messageId: 'm1', continuedFrom: 'r1', finishReason: 'input_required' }),
      turn('r3', { messageId: 'm1', continuedFrom: 'r2', text: 'That.', finishReason: 'stop' }),
    )
    expect(messages.map(({ id }) => id)).toEqual(['m1', 'r1'])
    expect(messages[1]).toMatchObject({
      metadata: { runId: 'r3', finishReason: 'stop' },
      parts: [{ text: 'Which?' }, { text: 'That.' }],
    })
  })

  it('names the answer for the run before, where that is of an earlier page', () => {
    const messages = told(turn('r2', { messageId: 'm1', continuedFrom: 'r1', text: 'That.' }))
    expect(messages.map(({ id }) => id)).toEqual(['m1', 'r1'])
  })

  it('leaves the answer of a run at work to its stream, with what it goes on from', () => {
    const waited = turn('r1', { text: 'Which?', finishReason: 'input_required' })
    const messages = told(waited, turn('r2', { continuedFrom: 'r1', status: 'running' }))
    expect(messages.map(({ id }) => id)).toEqual(['r1:user'])
  })

  it('has an answer of a run that broke off only where it had said something', () => {
    const messages = told(
      turn('r1', { status: 'failed', error: 'agent_failed' }),
      turn('r2', { status: 'cut', text: 'ha', finishReason: 'cancelled' }),
      turn('r3', { status: 'interrupted' }),
      turn('r4', { text: 'whole' }),
    )
    expect(messages.map(({ id }) => id)).toEqual([
      'r1:user',
      ...['r2:user', 'r2'],
      'r3:user',
      ...['r4:user', 'r4'],
    ])
  })

  it('asks again what the newest run waits for', () => {
    const turns = [turn('r1', { text: 'Which?', finishReason: 'input_required' })]
    const requests = [
      {
        id: 'r1/approve:pay',
        kind: 'approval',
        toolCallId: 'c1',
        toolName: 'pay',
        args: { sum: 3 },
        digest: 'd',
      },
      { id: 'r1/size', kind: 'question', message: 'Size?', schema: { type: 'string' }, digest: 'd' },
      {
        id: 'r1/client_tool:pick',
        kind: 'client_tool',
        toolCallId: 'c2',
        toolName: 'pick',
        args: {},
        digest: 'd',
      },
    ] as const
    expect(messagesOf(turns, requests)[1]?.parts).toEqual([
      { type: 'text', text: 'Which?' },
      {
        ...{ type: 'dynamic-tool', toolName: 'pay', toolCallId: 'c1', providerExecuted: true },
        ...{ state: 'approval-requested', input: { sum: 3 }, approval: { id: 'r1/approve:pay' } },
      },
      {
        ...{ type: 'tool-question', toolCallId: 'r1/size', state: 'input-available' },
        input: { message: 'Size?', schema: { type: 'string' } },
      },
      { type: 'tool-pick', toolCallId: 'c2', state: 'input-available', input: {} },
    ])
  })

  it('makes files of files, wherever they are', () => {
    const png = 'data:image/png;base64,iVBORw0KGgo='
    const jpeg = '/9j/4AAQSkZJRgABAQ=='
    const [message] = told(
      turn('r1', {
        input: [
          { type: 'text', text: 'Look' },
          { type: 'data', data: { not: 'shown' } },
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'image', data: jpeg },
          { type: 'audio', data: 'https://files.example/a', mimeType: 'audio/wav' },
          { type: 'file', data: `${INPUT}?part=4`, mimeType: 'text/csv', filename: 'a.csv' },
          { type: 'file', data: INPUT, mimeType: 'text/csv' },
        ],
      }),
    )
    expect(message?.parts).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'file', mediaType: 'image/png', url: png },
      { type: 'file', mediaType: 'image/*', url: `data:image/*;base64,${jpeg}` },
      { type: 'file', mediaType: 'audio/wav', url: 'https://files.example/a' },
      { type: 'file', mediaType: 'text/csv', url: `${INPUT}?part=4`, filename: 'a.csv' },
      { type: 'file', mediaType: 'text/csv', url: INPUT },
    ])
  })
})

describe('stopChat', () => {
  const answering = (status: number, text = '', code?: string) => {
    const asked: Request[] = []
    const answer = async (url: string | URL | Request, init?: RequestInit) => {
      asked.push(new Request(new URL(String(url), 'http://localhost'), init))
      const body = status === 204 ? null : text
      return new Response(body, { status, headers: code === undefined ? {} : { 'x-error-code': code } })
    }
    return { fetch: answer, asked }
  }

  it('asks for the chat by its id, with the headers of the page', async () => {
    const { fetch, asked } = answering(204)
    await stopChat('/api/agents/helper/chat', 'a/b c', { fetch, headers: { authorization: 'Bearer t' } })
    expect(asked.map(({ method, url }) => [method, url])).toEqual([
      ['POST', 'http://localhost/api/agents/helper/chat/a%2Fb%20c/stop'],
    ])
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer t')
  })

  it('has stopped where nothing is at work', async () => {
    const { fetch } = answering(404, 'No run of this chat is at work', 'run_not_found')
    await expect(stopChat('/chat', 'c', { fetch })).resolves.toBeUndefined()
  })

  it.each([
    ['There is nothing here', answering(404, 'There is nothing here', 'not_found')],
    ['Not you', answering(403, 'Not you', 'forbidden')],
    ['The service answered 502', answering(502)],
  ])('rejects with the words of the service: %s', async (words, { fetch }) => {
    await expect(stopChat('/chat', 'c', { fetch })).rejects.toThrow(words)
  })

  it('can be left', async () => {
    const { fetch, asked } = answering(204)
    const leaving = new AbortController()
    await stopChat('/chat', 'c', { fetch, signal: leaving.signal })
    leaving.abort()
    expect(asked[0]?.signal.aborted).toBe(true)
  })
})

describe('servable/ai-sdk-ui/page', () => {
  it('is less than a KiB, and nothing else comes with it', async () => {
    const { outputFiles, metafile } = await build({
      ...{
        entryPoints: ['src/protocols/ai-sdk-ui/page.ts'],
        absWorkingDir: root,
        write: false,
        metafile: true,
      },
      ...{ bundle: true, minify: true, format: 'esm', target: 'es2022' },
    })
    expect(Object.keys(metafile.inputs)).toEqual(['src/protocols/ai-sdk-ui/page.ts'])
    expect(gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).byteLength).toBeLessThan(1024)
  })

  it.each(['ai-sdk-5.0', 'ai-sdk-5', 'ai-sdk-6', 'ai'])('types the messages of `%s`', async name => {
    const parent = join(root, 'test/.tmp')
    await mkdir(parent, { recursive: true })
    const folder = await mkdtemp(join(parent, 'chat-page-'))
    const config = {
      extends: '../../types/tsconfig.json',
      compilerOptions: {
        rootDir: '../../..',
        paths: { ai: [`../../../node_modules/${name}/dist/index.d.ts`] },
      },
      files: ['../../types/chat-page.ts'],
      include: [],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    try {
      const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [
        '-p',
        folder,
        '--listFiles',
      ])
      expect(stdout).toContain(`/node_modules/${name}/dist/index.d.ts`)
    } catch (error) {
      throw new Error(Object(error).stdout ?? error)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
