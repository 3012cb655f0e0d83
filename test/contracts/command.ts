/** What holds of the command `servable`, whatever runtime serves what it asks. The command runs on Node. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { COMPILED, root } from '../runtimes/process.ts'
import { HOSTILE } from './command/service.ts'
import { served } from './served.ts'

/** How a command ended. */
interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A command at work. */
interface Working {
  readonly out: () => string
  readonly err: () => string
  readonly ended: Promise<Ended>
  interrupt(): void
  kill(): void
}

export const cli = join(root, 'src/command/cli.ts')

/** Starts the real command in a process of its own, without the variables of the test runner. */
export function begin(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  piped = '',
  cwd = root,
): Working {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {}).end(piped)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    err += text
  })
  return {
    out: () => out,
    err: () => err,
    ended: new Promise(resolve => child.once('close', code => resolve({ code, out, err }))),
    interrupt: () => child.kill('SIGINT'),
    kill: () => child.kill('SIGKILL'),
  }
}

// No control character but the end of a line, and nothing that changes the order of text.
const CLEAN = /^(?:[^\p{Cc}\p{Cf}\u2028\u2029]|\n)*$/u

const linesOf = (text: string) => text.trimEnd().split('\n')
const jsonOf = (text: string): Record<string, unknown>[] => linesOf(text).map(line => JSON.parse(line))

/** The service keeps what it keeps wherever `deploy` says. */
export function commandContract(deploy: Deploy): void {
  const server = served(() => deploy(''))
  const url = () => `${server().url}/api`
  const clientOf = (who: string): Client =>
    createClient({ baseUrl: url(), headers: { authorization: `Bearer for-${who}` } })
  const servable = (who: string, ...args: string[]) =>
    begin(args, { SERVABLE_URL: url(), SERVABLE_TOKEN: `for-${who}` })
  let folder: string
  beforeAll(async () => {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    folder = await mkdtemp(join(root, 'test/.tmp/command-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** A run of Ada that has ended. */
  const ran = async (name: string, input: string, sessionId?: string) => {
    const client = clientOf('ada')
    const { id } = await client.runs.start({ kind: 'agent', name }, input, { sessionId })
    await client.runs.result(id).catch(() => {})
    return id
  }

  describe('runs ls', () => {
    it('lists runs with what they took, and those of nobody else', async () => {
      const id = await ran('says', 'hello')
      const { code, out } = await servable('ada', 'runs', 'ls').ended
      expect(code).toBe(0)
      expect(linesOf(out)[0]).toMatch(/^ID +STATUS +WHAT +STARTED +NUMBERS +TITLE$/)
      const line = linesOf(out).find(each => each.startsWith(id))
      expect(line).toMatch(/ completed +agent says +\d{4}-.*Z +.+ {2}3→5 tokens {2}\$0\.013 {2}1 tool call$/)
      const others = await servable('bob', 'runs', 'ls').ended
      expect(others).toEqual({ code: 0, out: '', err: 'There are no such runs\n' })
    })

    it('filters, bounds and says that there is more', async () => {
      await ran('says', 'one')
      await ran('says', 'two')
      const failed = await ran('says', 'fails')
      const filter = ['--status', 'failed', '--agent', 'says', '--since', '2026-01-01', '--json']
      const { code, out } = await servable('ada', 'runs', 'ls', ...filter).ended
      expect(code).toBe(0)
      expect(jsonOf(out)).toContainEqual(expect.objectContaining({ id: failed, status: 'failed' }))
      expect(jsonOf(out).every(({ status }) => status === 'failed')).toBe(true)
      const rated = await servable('ada', 'runs', 'ls', '--feedback', 'any', '--json').ended
      expect([rated.code, rated.out]).toEqual([0, ''])
      const one = await servable('ada', 'runs', 'ls', '--limit', '1', '--json').ended
      expect(jsonOf(one.out)).toHaveLength(1)
      const bounded = await servable('ada', 'runs', 'ls', '--limit=2').ended
      expect(linesOf(bounded.out)).toHaveLength(3)
      expect(bounded.err).toBe('There are more: --limit 2 was reached\n')
    })
  })

  describe('runs show', () => {
    it('shows a record and its answer, and as JSON the record itself', async () => {
      const id = await ran('says', 'hello')
      const { code, out } = await servable('ada', 'runs', 'show', id).ended
      expect(code).toBe(0)
      expect(out).toMatch(new RegExp(`^${id}  completed\n`))
      expect(out).toContain('\nyou said hello\nand 2\n')
      const json = await servable('ada', 'runs', 'show', id, '--json').ended
      expect(jsonOf(json.out)).toEqual([await clientOf('ada').runs.get(id)])
    })

    it('exits with 1 for a run that is not there, or is not yours', async () => {
      const id = await ran('says', 'hello')
      const { code, out, err } = await servable('bob', 'runs', 'show', id).ended
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(/^servable: There is no such run \(run_not_found, request [\w-]+\)\n$/)
    })
  })

  describe('runs tail', () => {
    it('follows a run until it ends', async () => {
      const { id } = await clientOf('ada').runs.start({ kind: 'agent', name: 'waits' }, 'tail-live')
      const tail = servable('ada', 'runs', 'tail', id)
      await eventually(() => expect(tail.out()).toContain('waiting '))
      expect(tail.out()).not.toContain('no more')
      await clientOf('ada').agent('opens').run('tail-live')
      const { code, out } = await tail.ended
      expect(code).toBe(0)
      expect(out).toMatch(new RegExp(`^${id}  agent waits  .*  running\nwaiting no more\ncompleted  .+\n$`))
    })

    it('shows tools on lines of their own, and the numbers at the end', async () => {
      const id = await ran('says', 'hello')
      const { code, out } = await servable('ada', 'runs', 'tail', id).ended
      expect(code).toBe(0)
      expect(linesOf(out).slice(1)).toEqual([
        'you said hello',
        expect.stringMatching(/^→ add \(.+\)$/),
        expect.stringMatching(/ \{"a":1\}$/),
        expect.stringMatching(/^← .+ 2$/),
        'and 2',
        expect.stringMatching(/^completed {2}.+ {2}3→5 tokens {2}\$0\.013 {2}1 tool call$/),
      ])
    })

    it('gives the events as JSON, also after one of them', async () => {
      const id = await ran('says', 'hello')
      const all = await servable('ada', 'runs', 'tail', id, '--json').ended
      const events = jsonOf(all.out)
      expect(events.map(each => each.id)).toEqual(events.map((_, index) => index + 1))
      expect(events.at(-1)?.event).toMatchObject({ type: 'finish' })
      const rest = await servable('ada', 'runs', 'tail', id, '--json', '--after', '2').ended
      expect(jsonOf(rest.out)).toEqual(events.slice(2))
    })

    it('exits with 1 for a run that fails, and says why', async () => {
      const id = await ran('says', 'fails')
      const { code, out } = await servable('ada', 'runs', 'tail', id).ended
      expect(code).toBe(1)
      expect(linesOf(out).at(-1)).toMatch(/^failed {2}agent_failed/)
    })

    it('leaves with Ctrl-C, says so, and the run goes on', async () => {
      const client = clientOf('ada')
      const { id } = await client.runs.start({ kind: 'agent', name: 'waits' }, 'tail-left')
      const tail = servable('ada', 'runs', 'tail', id)
      await eventually(() => expect(tail.out()).toContain('waiting '))
      tail.interrupt()
      const { code, err } = await tail.ended
      expect({ code, err }).toEqual({
        code: 130,
        err: `The run goes on. To cancel it: servable runs cancel ${id}\n`,
      })
      expect((await client.runs.get(id)).status).toBe('running')
      const cancelled = await servable('ada', 'runs', 'cancel', id).ended
      expect(cancelled).toMatchObject({ code: 0, err: '' })
      await eventually(async () => expect((await client.runs.get(id)).status).toBe('cancelled'))
    })
  })

  it('keeps what an agent says from steering the terminal', async () => {
    const id = await ran('hostile', 'go')
    for (const args of [
      ['show', id],
      ['tail', id],
      ['show', id, '--json'],
      ['tail', id, '--json'],
    ]) {
      const { code, out } = await servable('ada', 'runs', ...args).ended
      expect(code).toBe(0)
      expect(out).toMatch(CLEAN)
      expect(out).toContain('gnp.exe')
    }
    const { out } = await servable('ada', 'runs', 'show', id, '--json').ended
    expect(jsonOf(out)).toMatchObject([{ result: { text: HOSTILE } }])
  })

  describe('login', () => {
    it('keeps a token in a file that only its user may read, for one address', async () => {
      const home = await mkdtemp(join(folder, 'home-'))
      const at = (args: string[], more = {}, piped = '') =>
        begin(args, { XDG_CONFIG_HOME: home, SERVABLE_URL: url(), ...more }, piped).ended
      const path = join(home, 'servable/tokens.json')
      const id = await ran('says', 'hello')
      expect((await at(['runs', 'show', id])).code).toBe(1)
      const refused = await at(['login'], {}, 'for-nobody\n')
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('unauthorized') })
      await expect(stat(path)).rejects.toThrow('ENOENT')
      for (const wrong of ['', 'two words', 'for-ada\nfor-bob', '\u00fc'])
        expect(await at(['login'], {}, wrong)).toMatchObject({ code: 2, out: '' })
      const done = await at(['login'], {}, 'for-ada\n')
      expect(done).toEqual({ code: 0, out: '', err: `Logged in: the token for ${url()} is in ${path}\n` })
      expect([(await stat(path)).mode & 0o777, (await stat(join(home, 'servable'))).mode & 0o777]).toEqual([
        0o600, 0o700,
      ])
      expect((await at(['runs', 'show', id])).code).toBe(0)
      // Another address gets no token, and a token that is given wins.
      const elsewhere = url().replace('127.0.0.1', 'localhost')
      expect((await at(['runs', 'show', id], { SERVABLE_URL: elsewhere })).code).not.toBe(0)
      expect((await at(['runs', 'show', id], { SERVABLE_TOKEN: 'for-bob' })).code).toBe(1)
      expect((await at(['logout'])).err).toBe(`Logged out of ${url()}\n`)
      expect((await at(['runs', 'show', id])).code).toBe(1)
      expect((await at(['logout'])).code).toBe(1)
      await writeFile(path, 'no JSON')
      expect(await at(['runs', 'show', id])).toMatchObject({
        code: 1,
        err: expect.stringContaining('is no file of tokens: delete it, and log in again'),
      })
    })
  })

  describe('tenants delete', () => {
    it('deletes what is kept of the users of a tenant, and of nobody else', async () => {
      const { id } = await clientOf('cid').runs.start({ kind: 'agent', name: 'says' }, 'x', {
        sessionId: 'c',
      })
      await clientOf('cid').runs.result(id)
      const kept = await ran('says', 'x')
      expect((await servable('ada', 'tenants', 'delete', 'acme', '--yes').ended).err).toContain('not_found')
      expect((await servable('root', 'tenants', 'delete', 'acme').ended).code).toBe(2)
      const { code, out } = await servable('root', 'tenants', 'delete', 'acme', '--yes').ended
      expect([code, out]).toEqual([0, 'Deleted all that is kept of the tenant acme: 1 user\n'])
      expect((await clientOf('cid').runs.list()).runs).toEqual([])
      expect((await clientOf('cid').sessions.list()).sessions).toEqual([])
      expect(await clientOf('ada').runs.get(kept)).toMatchObject({ id: kept })
      const again = await servable('root', 'tenants', 'delete', 'acme', '--yes', '--json').ended
      expect(jsonOf(again.out)).toEqual([{ deleted: { tenant: 'acme', users: 0 } }])
    })
  })

  describe('agents pause and resume', () => {
    it('are for those with a role', async () => {
      expect((await servable('ada', 'agents', 'pause', 'hostile').ended).code).toBe(1)
      const paused = await servable('eve', 'agents', 'pause', 'hostile', '--reason', 'It loops').ended
      expect(paused).toMatchObject({ code: 0, out: 'Paused the agent hostile\n' })
      const start = clientOf('ada').runs.start({ kind: 'agent', name: 'hostile' }, 'x')
      await expect(start).rejects.toMatchObject({ code: 'agent_paused' })
      const resumed = await servable('eve', 'agents', 'resume', '--agent', 'hostile', '--json').ended
      expect(jsonOf(resumed.out)).toEqual([{ kind: 'agent', name: 'hostile' }])
      expect((await servable('eve', 'agents', 'resume').ended).code).toBe(2)
      expect((await servable('eve', 'agents', 'stop', 'hostile').ended).code).toBe(2)
      expect((await servable('eve', 'agents', 'pause', 'nobody').ended).err).toContain('agent_not_found')
    })
  })

  describe('--owner', () => {
    it('is for those with a role', async () => {
      const id = await ran('says', 'hello')
      const asked = ['runs', 'show', id, '--owner', 'ada']
      expect((await servable('eve', ...asked).ended).out).toContain(id)
      expect((await servable('bob', ...asked).ended).code).toBe(1)
      const listed = await servable('eve', 'runs', 'ls', '--owner', 'ada', '--json').ended
      expect(jsonOf(listed.out).map(run => run.id)).toContain(id)
      expect((await servable('bob', 'runs', 'ls', '--owner', 'ada').ended).code).toBe(1)
    })
  })

  describe('sessions export', () => {
    it('writes turns to stdout, or into a file that only you read', async () => {
      await ran('says', 'for the export', 'chat-1')
      const { code, out } = await servable('ada', 'sessions', 'export', '--agent', 'says').ended
      expect(code).toBe(0)
      expect(jsonOf(out)).toContainEqual(expect.objectContaining({ sessionId: 'chat-1' }))
      const path = join(folder, 'turns.jsonl')
      const written = await servable('ada', 'sessions', 'export', '--agent', 'says', '--output', path).ended
      expect(written).toMatchObject({ code: 0, out: '' })
      expect(written.err).toMatch(/^\d+ turns? in .+turns\.jsonl\n$/)
      expect(jsonOf(await readFile(path, 'utf8'))).toEqual(jsonOf(out))
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect((await readdir(folder)).filter(name => name.endsWith('.part'))).toEqual([])
    })
  })

  describe('sessions delete', () => {
    it('asks first, and deletes', async () => {
      await ran('says', 'to be deleted', 'chat-2')
      const asks = await servable('ada', 'sessions', 'delete', 'chat-2', '--agent', 'says').ended
      expect(asks).toEqual({
        code: 2,
        out: '',
        err: 'servable: Nobody can be asked here: repeat with --yes\n',
      })
      const deleted = await servable('ada', 'sessions', 'delete', 'chat-2', '--agent', 'says', '--yes').ended
      expect(deleted).toEqual({ code: 0, out: 'Deleted the session chat-2 of agent says\n', err: '' })
      const again = await servable('ada', 'sessions', 'delete', 'chat-2', '--agent', 'says', '--yes').ended
      expect(again.code).toBe(1)
      expect(again.err).toContain('session_not_found')
    })
  })

  it('takes the token from a file, and exits with 1 without a valid one', async () => {
    const path = join(folder, 'token')
    await writeFile(path, 'for-ada\n')
    const args = ['runs', 'ls', '--url', url(), '--json']
    expect((await begin([...args, '--token-file', path]).ended).code).toBe(0)
    const refused = await begin(args, { SERVABLE_TOKEN: 'not-a-token-of-anyone' }).ended
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('unauthorized')
    expect(refused.err).not.toContain('not-a-token-of-anyone')
  })
}
