/** Bodies that are refused before their end, and endless bodies. */
import { describe, expect, it } from 'vitest'
import { chunk, expectAlive, expectProblem, flood, raw, refusedMidway, type Server } from './client.ts'

const mib = 1024 * 1024
const json = 'content-type: application/json'
const chunked = 'transfer-encoding: chunked'
const requestLine = 'POST /api/agents/echo/run HTTP/1.1'

export function unreadCases(server: Server): void {
  describe('the size of a body', () => bodyCases(server))
  describe('files with a run', () => uploadCases(server))
  describe('a connection whose body was refused midway', () => midwayCases(server))
}

const form = 'content-type: multipart/form-data; boundary=b'

/** If the connection closes while the client still sends, the answer may be lost. */
function midwayCases(server: Server): void {
  const refused = async (status: number, lines: readonly string[], ...parts: [string | Buffer, Buffer?]) => {
    expect([status, undefined]).toContain(await refusedMidway(server, lines, ...parts))
    await expectAlive(server)
  }

  it('is closed or goes on after a form of too many parts', async () => {
    const part = '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n\r\n'
    const body = `${part.repeat(300_000)}--b--`
    await refused(
      400,
      ['POST /images/agents/parts/run HTTP/1.1', form, `content-length: ${body.length}`],
      body,
    )
  })

  it('is closed or goes on after a form that came too late', async () => {
    const body = Buffer.alloc(1000, 'x')
    const lines = ['POST /brief/agents/parts/run HTTP/1.1', form, `content-length: ${2 * body.length}`]
    await refused(400, lines, body, body)
  })

  it('is closed or goes on after a form that is too large', async () => {
    const body = chunk(`--b\r\n\r\n${'x'.repeat(40 * mib)}`) + chunk('x'.repeat(40 * mib)) + chunk('')
    await refused(413, ['POST /images/agents/parts/run HTTP/1.1', form, chunked], body)
  })

  it.each([
    ['413', 'x'.repeat(3 * mib)],
    ['400', `\xff${'x'.repeat(0.9 * mib)}`],
  ])('is closed or goes on after JSON that is refused with %s', async (status, text) => {
    const body = Buffer.from(chunk('{"input":"') + chunk(text) + chunk('"}') + chunk(''), 'latin1')
    await refused(Number(status), [requestLine, json, chunked], body)
  })

  it('is closed or goes on after JSON that says that it is too large', async () => {
    const body = 'x'.repeat(3 * mib)
    await refused(413, [requestLine, json, `content-length: ${body.length}`], body)
  })
}

function bodyCases(server: Server): void {
  it('is too large by one byte', async () => {
    const answer = await raw(server, [requestLine, json, `content-length: ${mib + 1}`])
    await expectProblem(server, answer, 413, 'body_too_large')
  })

  it('is counted in bytes, not in characters', async () => {
    const answer = await raw(server, [requestLine, json, chunked], chunk('ü'.repeat(mib / 2)) + chunk('x'))
    await expectProblem(server, answer, 413, 'body_too_large')
  })

  it('is refused by its declared length, before any of it has come', async () => {
    const answer = await raw(server, [requestLine, json, `content-length: ${100 * mib}`])
    await expectProblem(server, answer, 413, 'body_too_large')
  })

  it('is counted as it comes where it is not declared, and not read to its end', async () => {
    const body = chunk('{"input":"') + chunk('x'.repeat(mib))
    const answer = await raw(server, [requestLine, json, chunked], body)
    await expectProblem(server, answer, 413, 'body_too_large')
  })
}

function uploadCases(server: Server): void {
  it('are refused where they have no end, before much is read', async () => {
    const lines = ['POST /images/agents/parts/run HTTP/1.1', 'content-type: multipart/form-data; boundary=b']
    const start = '--b\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n'
    const { answer, sent } = await flood(server, lines, start, 1 << 30)
    // Twice the default limit, since the connection and the runtime have buffers.
    expect(sent).toBeLessThan(2 * 64 * 2 ** 20)
    // If the connection closes while the client still sends, the answer may be lost.
    if (answer !== undefined) expect(answer.status).toBe(413)
    await expectAlive(server)
  })

  it('are refused unread where they say that they are too large', async () => {
    const lines = [
      'POST /images/agents/parts/run HTTP/1.1',
      'content-type: multipart/form-data; boundary=b',
      `content-length: ${2 ** 30}`,
    ]
    // The handler must refuse it. A runtime with its own limit could not accept the files that the options allow.
    await expectProblem(server, await raw(server, lines, '--b\r\n'), 413, 'body_too_large')
  })

  it('must arrive in time', async () => {
    const lines = [
      'POST /brief/agents/parts/run HTTP/1.1',
      'content-type: multipart/form-data; boundary=b',
      'content-length: 1000',
    ]
    const answer = await raw(server, lines, '--b\r\n')
    expect([answer.status, JSON.parse(answer.text).detail]).toEqual([400, expect.stringContaining('300 ms')])
  })
}
