import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { type Answer, ask, chunk, expectProblem, post, raw, type Server } from './client.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const PDF = new TextEncoder().encode('%PDF-1.7 and so on')

/** Bun uses the file's name. Other runtimes use the declared type. */
const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'application/pdf': 'pdf',
  'text/plain': 'txt',
}

const file = (content: BlobPart, type: string, name = `a.${EXTENSIONS[type]}`) =>
  new File([content], name, { type })

interface Form {
  readonly fields?: Readonly<Record<string, string>>
  readonly files?: readonly File[]
}

async function send(server: Server, path: string, { fields = {}, files = [] }: Form): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const each of files) form.append('files', each)
  // The form is sent in one piece. A client that still writes may not read the refusal.
  const whole = new Response(form)
  const headers = { 'content-type': whole.headers.get('content-type') ?? '' }
  return ask(server, path, { method: 'POST', headers, body: await whole.arrayBuffer() })
}

const textOf = (answer: Answer): string => {
  expect(answer.status, answer.text).toBe(200)
  return (JSON.parse(answer.text) as RunResult).text
}

export function uploadCases(server: Server): void {
  describe('files with a run', () => {
    it('come as parts after the text, by what they are', async () => {
      const files = [
        file(PNG, 'image/png'),
        file(PDF, 'application/pdf', 'b.pdf'),
        file('hi', 'text/plain', 'c.txt'),
      ]
      const answer = await send(server, '/upload/agents/parts/run', { fields: { input: 'see' }, files })
      expect(textOf(answer)).toBe('see, image image/png, file application/pdf, file text/plain')
    })

    it('come with their bytes and their names', async () => {
      const answer = await send(server, '/upload/agents/shown/run', {
        files: [file(PDF, 'application/pdf', 'b.pdf')],
      })
      expect(JSON.parse(textOf(answer))).toEqual([
        { type: 'file', data: btoa('%PDF-1.7 and so on'), mimeType: 'application/pdf', filename: 'b.pdf' },
      ])
    })

    it('are what their first bytes say where nobody says it', async () => {
      const files = [file(PNG, '', 'a'), file(PDF, '', 'b')]
      const answer = await send(server, '/upload/agents/parts/run', { files })
      expect(textOf(answer)).toBe('image image/png, file application/pdf')
    })

    it('come by the names of files, without folders', async () => {
      for (const name of ['../../etc/b.pdf', 'C:\\\\b.pdf']) {
        const answer = await send(server, '/upload/agents/shown/run', {
          files: [file(PDF, 'application/pdf', name)],
        })
        expect(JSON.parse(textOf(answer))).toMatchObject([{ filename: 'b.pdf' }])
      }
    })

    it('are no images or sound where they are video, or may be', async () => {
      const files = ['ftypisom', 'ftypqt  ', 'ftypM4A '].map(brand => file(`\0\0\0\x20${brand}`, '', 'a'))
      files.splice(2, 1, file(new Uint8Array([0x1a, 0x45, 0xdf, 0xa3, 1]), '', 'b'))
      const answer = await send(server, '/upload/agents/parts/run', { files })
      expect(textOf(answer)).toBe(Array(3).fill('file application/octet-stream').join(', '))
      const avif = file('\0\0\0\x20ftypavif', '', 'c')
      expect(textOf(await send(server, '/upload/agents/parts/run', { files: [avif] }))).toBe(
        'image image/avif',
      )
    })

    it('are not needed: a form with text alone is text', async () => {
      const answer = await send(server, '/upload/agents/shown/run', { fields: { input: 'just text' } })
      expect(JSON.parse(textOf(answer))).toBe('just text')
    })

    it('come with the other fields of a run', async () => {
      const fields = { input: 'x', sessionId: 's1', userId: 'u1' }
      const answer = await send(server, '/upload/agents/told/run', { fields })
      expect(JSON.parse(answer.text).structured).toMatchObject({ sessionId: 's1', userId: 'u1' })
      const keyed = await send(server, '/upload/agents/keys-none/run', {
        fields: { input: 'x', apiKey: 'sk-test-FORM' },
      })
      expect(JSON.parse(keyed.text).structured).toMatchObject({ apiKey: 'FORM' })
    })

    it('go to streams, teams and workflows too', async () => {
      const fields = { input: 'one two' }
      const stream = await send(server, '/upload/agents/echo/stream', { fields })
      expect(stream.text).toContain('"type":"finish"')
      expect(textOf(await send(server, '/upload/teams/line/run', { fields }))).toBe('ONE TWO')
      expect(textOf(await send(server, '/upload/workflows/count/run', { fields }))).toBe('2 words')
    })

    it('are refused where they are off, and told how to turn them on', async () => {
      const answer = await send(server, '/api/agents/parts/run', { fields: { input: 'x' } })
      const problem = await expectProblem(server, answer, 415, 'unsupported_media_type')
      expect(problem.detail).toContain('fileUpload')
    })

    it.each<[string, Form, number, string, string]>([
      ['one too large', { files: [file('x'.repeat(1001), 'text/plain')] }, 413, 'body_too_large', 'files.0'],
      [
        'too many',
        { files: Array.from({ length: 4 }, () => file('x', 'text/plain')) },
        400,
        'invalid_body',
        'files',
      ],
      [
        'what is no image',
        { files: [file('<svg onload=x>', 'image/png')] },
        415,
        'unsupported_media_type',
        'files.0',
      ],
      [
        'a PDF that says it is text',
        { files: [file(PDF, 'text/plain')] },
        415,
        'unsupported_media_type',
        'files.0',
      ],
      ['no text and no file', { fields: { sessionId: 's' } }, 400, 'invalid_body', 'input'],
      ['what is no flag', { fields: { input: 'x', background: 'yes' } }, 400, 'invalid_body', 'background'],
      ['empty text', { fields: { input: '' } }, 400, 'invalid_body', 'input'],
      ['an empty file', { files: [file('', 'text/plain')] }, 400, 'invalid_body', 'input'],
      [
        'too many fields',
        { fields: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, 'x'])) },
        400,
        'invalid_body',
        'fields',
      ],
    ])('are refused where there is %s', async (_, form, status, code, names) => {
      const problem = await expectProblem(
        server,
        await send(server, '/upload/agents/parts/run', form),
        status,
        code,
      )
      expect(problem.detail).toContain(names)
    })

    it('are taken by their types where those are named', async () => {
      const path = '/images/agents/parts/run'
      expect(textOf(await send(server, path, { files: [file(PNG, 'image/png')] }))).toBe('image image/png')
      const refused = await send(server, path, { files: [file('x', 'text/plain')] })
      const problem = await expectProblem(server, refused, 415, 'unsupported_media_type')
      expect(problem.detail).toContain('image/*')
    })

    it('are cut off where all of them together are too many bytes', async () => {
      const files = Array.from({ length: 3 }, () => file('x'.repeat(1000), 'text/plain'))
      const within = await send(server, '/upload/agents/parts/run', { files })
      expect(within.status).toBe(200)
      const fields = { input: 'y'.repeat(20_000) }
      // Bare workerd may close the connection while the client still sends.
      const sent = send(server, '/upload/agents/parts/run', { fields, files })
      const answer = await (server().runtime === 'workerd' ? sent.catch(() => undefined) : sent)
      if (answer !== undefined) await expectProblem(server, answer, 413, 'body_too_large')
    })

    it('are counted where they come without a length', async () => {
      const boundary = 'b'
      const part = `--${boundary}\r\ncontent-disposition: form-data; name="input"\r\n\r\n`
      const body = `${chunk(part) + chunk('x'.repeat(15_000)) + chunk('x'.repeat(15_000))}0\r\n\r\n`
      const lines = [
        'POST /upload/agents/parts/run HTTP/1.1',
        `content-type: multipart/form-data; boundary=${boundary}`,
        'transfer-encoding: chunked',
      ]
      expect((await raw(server, lines, body)).status).toBe(413)
    })

    it('are refused where they are no form, whatever they are', async () => {
      const bodies = malformed()
      expect(bodies.length).toBeGreaterThan(500)
      for (const body of bodies) {
        const answer = await ask(server, '/upload/agents/shout/run', {
          method: 'POST',
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
          body,
        })
        expect(answer.status, body).toBeOneOf([400, 413, 415])
      }
      // As many at once as allowed, so none of the earlier ones is still counted.
      const form = { fields: { input: 'x' } }
      // Other tests may hold some places for a moment.
      await eventually(async () => {
        const all = Array.from({ length: 16 }, () => send(server, '/upload/agents/shout/run', form))
        expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(16).fill(200))
      })
    })

    it('need a boundary', async () => {
      for (const type of [
        'multipart/form-data',
        'multipart/form-data; boundary=',
        `multipart/form-data; boundary=${'b'.repeat(71)}`,
        'multipart/mixed; boundary=b',
      ]) {
        const init = { method: 'POST', headers: { 'content-type': type }, body: '--b--' }
        expect((await ask(server, '/upload/agents/shout/run', init)).status).toBeOneOf([400, 415])
      }
    })

    it('are no JSON', async () => {
      expect((await post(server, '/upload/agents/shout/run', { input: 'json' })).status).toBe(200)
    })
  })
}

/** Bodies with the boundary `b` that are not a form with an `input`, more than 500. */
function malformed(): string[] {
  const input = 'content-disposition: form-data; name="input"'
  const text = 'content-disposition: form-data; name="files"; filename="a.txt"\r\ncontent-type: text/plain'
  const whole = `--b\r\n${text}\r\n\r\na file of some length\r\n--b\r\n${input}\r\n\r\nvalue\r\n--b--\r\n`
  const cuts = Array.from({ length: whole.length - 12 }, (_, index) => whole.slice(0, index))
  const nameless = [
    'content-disposition: form-data',
    'content-disposition: form-data; name=""',
    'content-type: text/plain',
    'x: y',
    ': y',
    'x',
    '\0',
    '',
  ].flatMap(head => [form('b', head), `--b\r\n${head}\r\n\r\nvalue`])
  const bombs = Array.from({ length: 100 }, (_, index) =>
    form('b', `${'x: y\r\n'.repeat(index * 20)}content-disposition: form-data; name="else"`),
  )
  const nested = Array.from({ length: 60 }, (_, index) =>
    form('b', `content-type: multipart/mixed; boundary=c${index}`, form(`c${index}`, input)),
  )
  const others = Array.from({ length: 160 }, (_, index) => form(`c${index}`, input))
  return [...cuts, ...nameless, ...bombs, ...nested, ...others]
}

const form = (boundary: string, head: string, content = 'value') =>
  `--${boundary}\r\n${head}\r\n\r\n${content}\r\n--${boundary}--\r\n`
