import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { begin, commandContract } from '../contracts/command.ts'
import { listening } from '../listening.ts'
import { ELSEWHERE } from '../tags.ts'
import { deploymentsOf } from './deployments.ts'

const { nodeInMemory, bun, workerd } = deploymentsOf('command')

describe('the command, with Node', () => commandContract(nodeInMemory))

describe.each(Object.entries({ bun, workerd }))('the command, with %s', ELSEWHERE, (_, deploy) =>
  commandContract(deploy),
)

describe('a command that is wrong', () => {
  const url = ['--url', 'http://127.0.0.1:9/api']
  it.each([
    [['runs', 'ls'], 'Give --url, or SERVABLE_URL'],
    [['nothing'], '`nothing` is unknown'],
    [['runs', 'watch', ...url], '`runs watch` is unknown: use ls, show, tail, cancel'],
    [['runs', 'show', ...url], 'Give the id of a run'],
    [['runs', 'ls', 'an-id', ...url], '`runs ls` takes no id'],
    [['runs', 'ls', '--status', 'done', ...url], '--status must be one of queued,'],
    [['runs', 'ls', '--feedback', 'good', ...url], '--feedback must be one of positive,'],
    [['runs', 'ls', '--limit', '0', ...url], '--limit must be a whole number from 1 to 10000'],
    [['runs', 'ls', '--limit', 'many', ...url], '--limit must be a whole number'],
    [['runs', 'ls', '--since', 'yesterday', ...url], '--since must be a time'],
    [['runs', 'ls', '--agent', 'a', '--team', 'b', ...url], 'Give one of --agent, --team and --workflow'],
    [['runs', 'ls', '--agent', 'a', '--agent', 'b', ...url], 'Give --agent once'],
    [['runs', 'ls', '--token', 'secret', ...url], 'Unknown option `--token`'],
    [['runs', 'ls', '--token-file', '/nowhere/token', ...url], '--token-file cannot be read'],
    [['runs', 'ls', '--url', 'ftp://example.com'], '`baseUrl` must be'],
    [['runs', 'ls', '--url'], 'value is missing'],
    [['sessions', 'delete', 'an-id', ...url], 'Give the id of a session and whose it is'],
    [['sessions', 'drop', ...url], '`sessions drop` is unknown'],
    [['runs'], 'The command is not complete: servable runs <act> [id]'],
    [['run'], 'The command is not complete: servable run <name> [...input]'],
    [['runs', '\u001b[31mls', ...url], '`runs \\u{1b}[31mls` is unknown'],
  ])('%j', async (args, text) => {
    const { code, out, err } = await begin(args).ended
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^servable: [^\n]*\n$/)
    expect(err).toContain(text)
  })

  it('exits with 2 and the help if there is none', async () => {
    const { code, out } = await begin([]).ended
    expect(code).toBe(2)
    expect(out).toContain('runs <act> [id]')
  })
})

it.each([
  ['runs', '--status <status>'],
  ['sessions', '--output <path>'],
  ['store', '--listen-url <address>'],
])('tells the options of %s with --help', async (command, option) => {
  const { code, out } = await begin([command, '--help']).ended
  expect(code).toBe(0)
  expect(out).toContain(option)
  expect(out).toContain(`$ servable ${command}`)
})

describe('a service that cannot be reached', () => {
  const id = '0b5ce6fc-5f6b-4d8c-9f0a-3c8d1f0e8a11'
  const serving = async (answer: RequestListener) => {
    const { url, stop } = await listening(createServer(answer))
    onTestFinished(stop)
    return `${url}/api`
  }

  it('exits with 3, and says why', async () => {
    const SERVABLE_URL = await serving(request => request.socket.destroy())
    const { code, out, err } = await begin(['runs', 'show', id], { SERVABLE_URL }).ended
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^servable: `GET .*` got no answer: .+ \(network_error\)\n$/)
  })

  it('exits with 3 for an answer of something else, with a hint', async () => {
    const SERVABLE_URL = await serving((_, response) => void response.end('<html>'))
    const { code, err } = await begin(['runs', 'show', id], { SERVABLE_URL }).ended
    expect(code).toBe(3)
    expect(err).toContain('Does the address have the prefix')
  })

  it.each([
    ['in the middle of a line', '{"sessionId":"a"}\n{"sess', true],
    ['between two lines', '{"sessionId":"a"}\n', false],
  ])('leaves the file of an export that breaks off %s as it was', async (_, text, isEnded) => {
    const folder = await mkdtemp(join(tmpdir(), 'servable-export-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const SERVABLE_URL = await serving((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(text, () => {
        if (isEnded) response.end()
        else response.destroy()
      })
    })
    const path = join(folder, 'turns.jsonl')
    await writeFile(path, 'as it was\n')
    const { code, err } = await begin(['sessions', 'export', '--output', path], { SERVABLE_URL }).ended
    expect(code).toBe(3)
    expect(err).toContain('broke off')
    expect(await readdir(folder)).toEqual(['turns.jsonl'])
  })
})
