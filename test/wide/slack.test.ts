/** The example `slack`: Chat SDK's bot on `servable/chat-state`, against a fake of Slack's Web API and with requests that are signed as Slack's. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../eventually.ts'
import {
  BOT,
  eventOf,
  type FakeSlack,
  type Posted,
  press,
  type Said,
  type Sent,
  send,
  startFakeSlack,
} from '../examples/fake-slack.ts'
import { snippetOf } from '../pages/pages.ts'
import { type Examples, installExamples } from '../runtimes/example-folders.ts'
import { root, type Started, start } from '../runtimes/process.ts'

const JSON_TYPE = 'application/json'
const APPROVER = 'UEVE'

let examples: Examples
let slack: FakeSlack
let folder: string
let bot: Started
let clock = 1_700_000_000

const urlOf = (started: Started) => started.ready[1] ?? ''

/** Starts the bot, of which several may share a database. */
const serve = (database = 'slack.db') =>
  start({
    command: process.execPath,
    args: ['--import', pathToFileURL(join(root, 'test/examples/slack-files.ts')).href, 'server.ts'],
    cwd: examples.of('slack').folder,
    env: {
      PORT: '0',
      DATABASE: join(folder, database),
      SLACK_API_URL: `${slack.url}/api/`,
      SLACK_BOT_TOKEN: 'xoxb-token',
      SLACK_SIGNING_SECRET: 'signing-secret-of-the-test',
      FAKE_SLACK: slack.url,
      APPROVERS: `slack:T1:${APPROVER}`,
    },
    until: /listening (http:\/\/127\.0\.0\.1:\d+)/,
    startMs: 60_000,
  })

beforeAll(async () => {
  examples = await installExamples(['slack'])
  folder = await mkdtemp(join(tmpdir(), 'servable-slack-'))
  slack = await startFakeSlack()
  bot = await serve()
})
afterAll(async () => {
  await bot?.stop()
  await slack?.stop()
  await examples?.remove()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** A module of the example that imports types of others alone. */
const module = (name: string) => import(pathToFileURL(join(examples.of('slack').folder, name)).href)

/** A time that no other message has. */
const newTs = () => `${++clock}.000200`

async function tell(type: 'app_mention' | 'message', said: Said, sent: Sent = {}, to = bot): Promise<void> {
  expect((await send(urlOf(to), eventOf(type, said), JSON_TYPE, sent)).status).toBe(200)
}

/** Mentions the bot, and returns the thread. Slack sends both events. */
async function mention(text: string, user = 'UADA', more: Partial<Said> = {}, to = bot): Promise<string> {
  const said = { user, text: `<@${BOT}> ${text}`, ts: newTs(), ...more }
  await Promise.all([tell('app_mention', said, {}, to), tell('message', said, {}, to)])
  return said.thread_ts ?? said.ts
}

const reply = (thread_ts: string, text: string, user = 'UADA') =>
  tell('message', { user, text, ts: newTs(), thread_ts })

const shown = (thread: string) => slack.inThread(thread).map(({ texts }) => texts.at(-1))

const shows = (thread: string, ...texts: unknown[]) =>
  eventually(() => expect(shown(thread)).toEqual(texts), 20_000)

/** The message with buttons in a thread. */
async function asked(thread: string): Promise<Posted> {
  const found = () => slack.inThread(thread).findLast(({ buttons }) => buttons.length > 0)
  await eventually(() => expect(found()).toBeDefined(), 20_000)
  return found() as Posted
}

const whispers = () =>
  slack.calls.flatMap(({ method, fields }) =>
    method === 'chat.postEphemeral' ? [[fields.user, fields.markdown_text ?? fields.text]] : [],
  )

const button = ({ buttons }: Posted, label: string) => {
  const found = buttons.find(({ text }) => text.text === label)
  if (found === undefined) throw new Error(`no button ${label}`)
  return found
}

describe('the example slack', () => {
  it('type-checks by itself, and so does what the documentation shows', async () => {
    const example = examples.of('slack')
    await writeFile(join(example.folder, 'shown.ts'), snippetOf('framework-slack-bot.ts'))
    await example.script('check')
  })

  it('answers the check of its address', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'of-slack', token: 't' })
    const answer = await send(urlOf(bot), body, JSON_TYPE)
    expect([answer.status, await answer.json()]).toEqual([200, { challenge: 'of-slack' }])
  })

  it.each([
    ['a wrong secret', { secret: 'wrong' }],
    ['an old time', { at: Math.floor(Date.now() / 1000) - 3600 }],
    ['a time to come', { at: Math.floor(Date.now() / 1000) + 3600 }],
    ['no signature', { headers: { 'x-slack-signature': '' } }],
    ['a signature of something else', { headers: { 'x-slack-signature': `v0=${'0'.repeat(64)}` } }],
  ])('refuses requests with %s', async (_, sent) => {
    const said = { user: 'UADA', text: `<@${BOT}> forged`, ts: newTs() }
    const answer = await send(urlOf(bot), eventOf('app_mention', said), JSON_TYPE, sent)
    expect(answer.status).toBe(401)
    await shows(await mention('after that'), 'You said: after that')
    expect(slack.inThread(said.ts)).toEqual([])
  })

  it('offers nothing else to anybody', async () => {
    const status = async (path: string, init?: RequestInit) => (await fetch(urlOf(bot) + path, init)).status
    const run = { method: 'POST', headers: { 'content-type': JSON_TYPE }, body: '{"input":"hi"}' }
    expect(await status('/api/agents/desk/run', run)).toBe(401)
    const guessed = { ...run.headers, authorization: 'Bearer undefined:slack:T1:UADA' }
    expect(await status('/api/agents/desk/run', { ...run, headers: guessed })).toBe(401)
    expect([await status('/discord', run), await status('/slack')]).toEqual([404, 405])
    const large = { ...run, body: 'x'.repeat(1_048_577) }
    expect(await status('/slack', large)).toBe(413)
  })

  it('streams an answer by edits, not too many', async () => {
    const thread = await mention('count 40')
    await eventually(() => {
      const [message] = slack.inThread(thread)
      expect(message?.texts.at(-1)).toMatch(/40 Done\.$/)
    }, 30_000)
    const [message] = slack.inThread(thread) as [Posted]
    expect(message.texts.length).toBeGreaterThan(3)
    // Each is longer than the one before.
    const counted = message.texts.slice(1)
    for (const [index, text] of counted.entries())
      expect(text.startsWith(counted[index - 1] ?? '')).toBe(true)
    // The bot waits after each edit, on any machine.
    const gaps = message.at.slice(1).map((at, index) => at - (message.at[index] ?? 0))
    for (const gap of gaps) expect(gap).toBeGreaterThan(1000)
  })

  it('remembers a thread, and each person in it apart', async () => {
    const thread = await mention('one')
    await shows(thread, 'You said: one')
    await reply(thread, 'two')
    await shows(thread, 'You said: one', 'You said: one, two')
    await reply(thread, 'three', 'UBOB')
    await shows(thread, 'You said: one', 'You said: one, two', 'You said: three')
    await shows(await mention('elsewhere'), 'You said: elsewhere')
  })

  it('starts one run for a message that is sent again', async () => {
    const said = { user: 'UADA', text: `<@${BOT}> again`, ts: newTs() }
    const again = (reason: string, number: number) => ({
      headers: { 'x-slack-retry-num': String(number), 'x-slack-retry-reason': reason },
    })
    await tell('app_mention', said)
    await tell('app_mention', said, again('http_timeout', 1))
    await shows(said.ts, 'You said: again')
    await tell('message', said, again('http_error', 2))
    await tell('app_mention', said, again('http_timeout', 3))
    await reply(said.ts, 'next')
    await shows(said.ts, 'You said: again', 'You said: again, next')
  })

  it.each([
    ['Approve', 'UADA', 'Refunded A1.'],
    ['Deny', 'UADA', 'Not refunded.'],
    ['Approve', APPROVER, 'Refunded A1.'],
  ])('asks for an approval: `%s` by %s', async (label, user, end) => {
    const thread = await mention('refund A1')
    const message = await asked(thread)
    const title = 'May I call `refund` with `{"order":"A1"}`?'
    expect(message.texts).toEqual([title])
    expect((await press(urlOf(bot), message, button(message, label), user)).status).toBe(200)
    await shows(thread, '_I have to ask:_', `${title}\n*${label}* by <@${user}>`, end)
    expect(message.buttons).toEqual([])
  })

  it('lets nobody else decide, and takes no forged button', async () => {
    const thread = await mention('refund B2')
    const message = await asked(thread)
    const approve = button(message, 'Approve')
    await press(urlOf(bot), message, approve, 'UBOB')
    await eventually(() =>
      expect(whispers()).toContainEqual([
        'UBOB',
        'Only the person who asked, or an approver, may decide this.',
      ]),
    )
    const forged = [
      { ...approve, value: crypto.randomUUID() },
      { ...approve, value: '{"run":"x","decision":"approve"}' },
      { ...approve, value: 'x'.repeat(5000) },
      { ...approve, value: '__proto__' },
      { ...approve, action_id: 'choice-9' },
      { ...approve, action_id: 'approve' },
    ]
    for (const [index, given] of forged.entries()) await press(urlOf(bot), message, given, `UMAL${index}`)
    // A button of another channel.
    await press(urlOf(bot), { ...message, channel: 'C2' }, approve, 'UMAL6')
    const refused = [0, 1, 2, 3, 4, 5, 6].map(n => [`UMAL${n}`, 'This button is not valid any more.'])
    await eventually(() => expect(whispers().filter(([user]) => user?.startsWith('UMAL'))).toEqual(refused))
    expect(message.buttons).toHaveLength(2)
    // The one who asked decides, and it is decided once.
    await press(urlOf(bot), message, approve, 'UADA')
    await shows(thread, '_I have to ask:_', expect.stringContaining('*Approve* by <@UADA>'), 'Refunded B2.')
    await press(urlOf(bot), message, button({ ...message, buttons: [{ ...approve }] }, 'Approve'), 'UADA')
    await press(urlOf(bot), message, { ...approve, action_id: 'choice-1' }, 'UADA')
    await eventually(() => expect(whispers()).toContainEqual(['UADA', 'This is decided already.']))
    expect(shown(thread)).toHaveLength(3)
  })

  it('asks questions, by buttons and by a reply', async () => {
    const thread = await mention('shirt')
    const message = await asked(thread)
    expect(message.buttons.map(({ text }) => text.text)).toEqual(['S', 'M', 'L'])
    await press(urlOf(bot), message, button(message, 'M'), 'UBOB')
    await press(urlOf(bot), message, button(message, 'L'), 'UADA')
    const question = 'Which name is on it?\nReply in this thread.'
    const before = ['_I have to ask:_', 'Which size?\n*L* by <@UADA>', '_I have to ask:_', question]
    await shows(thread, ...before)
    // What somebody else says is no answer.
    await reply(thread, 'mine', 'UBOB')
    await shows(thread, ...before, 'You said: mine')
    const named = { user: 'UADA', text: `<@${BOT}> Ada`, ts: newTs(), thread_ts: thread }
    await Promise.all([tell('app_mention', named), tell('message', named)])
    await shows(thread, ...before, 'You said: mine', 'A shirt in L for Ada.')
    await reply(thread, 'thanks')
    await shows(thread, ...before, 'You said: mine', 'A shirt in L for Ada.', 'You said: shirt, thanks')
  })

  it('takes files, and gives files back', async () => {
    const bytes = randomBytes(200_000)
    slack.files.set('/files-pri/T1-F1/cat.png', bytes)
    const fileOf = (name: string, size: number) => ({
      ...{ id: 'F1', name, mimetype: 'image/png', size },
      url_private: `https://files.slack.com/files-pri/T1-F1/${name}`,
    })
    const files = [fileOf('cat.png', bytes.length), fileOf('huge.png', 99_000_000), fileOf('gone.png', 1)]
    const said = { user: 'UADA', text: `<@${BOT}> look`, ts: newTs(), files, subtype: 'file_share' }
    await tell('message', said)
    const thread = said.ts
    const text = 'I have your file (image/png), and give it back. You said: look'
    await shows(thread, 'huge.png is too large for me.', 'I could not read gone.png.', text)
    await eventually(() => expect(slack.uploads.size).toBe(1))
    const [uploaded] = slack.uploads.values()
    expect(uploaded?.includes(bytes)).toBe(true)
    const completed = slack.calls.find(({ method }) => method === 'files.completeUploadExternal')
    expect(completed?.fields).toMatchObject({ channel_id: 'C1', thread_ts: thread })
  })

  it('says in plain words what went wrong, and nothing internal', async () => {
    const thread = await mention('fail')
    await shows(
      thread,
      expect.stringMatching(/^Something went wrong\. Please try again\.( \([\da-f-]{36}\))?$/),
    )
  })

  it('goes on where a process was killed in the middle of an answer', async () => {
    const serveOne = () => serve('killed.db')
    const first = await serveOne()
    const second = await serveOne()
    onTestFinished(() => second.stop())
    const thread = await mention('count 60', 'UADA', {}, first)
    await eventually(() => expect(shown(thread).join('')).toMatch(/ 5 /), 20_000)
    await first.kill()
    await eventually(() => expect(shown(thread).join('')).toMatch(/ 59 60 Done\.$/), 40_000)
    expect(slack.inThread(thread)).toHaveLength(1)
    expect(shown(thread)).toEqual([`${Array.from({ length: 60 }, (_, n) => `${n + 1} `).join('')}Done.`])
  })

  it('goes on with buttons of a process that is gone', async () => {
    const first = await serve('buttons.db')
    const thread = await mention('refund C3', 'UADA', {}, first)
    const message = await asked(thread)
    await first.kill()
    const second = await serve('buttons.db')
    onTestFinished(() => second.stop())
    await press(urlOf(second), message, button(message, 'Approve'), 'UADA')
    await shows(thread, '_I have to ask:_', expect.stringContaining('*Approve*'), 'Refunded C3.')
  })

  it('waits when Slack is busy', async () => {
    slack.busy.set('chat.postMessage', 1)
    await shows(await mention('patience'), 'You said: patience')
    expect(slack.busy.get('chat.postMessage')).toBe(0)
  })

  it('calls no channel, whatever it says', async () => {
    const thread = await mention('&lt;!channel&gt; hello')
    await shows(thread, 'You said: <\u200b!channel> hello')
  })

  it('splits a long answer', async () => {
    const text = 'long '.repeat(1300).trim()
    const thread = await mention(text)
    await eventually(() => expect(shown(thread).join('')).toBe(`You said: ${text}`), 20_000)
    expect(slack.inThread(thread).length).toBeGreaterThan(2)
  })

  it('answers direct messages, and takes decisions there', async () => {
    const direct = (text: string) =>
      tell('message', { user: 'UADA', text, ts: newTs(), channel: 'D1', channel_type: 'im' })
    const all = () => slack.posted.filter(({ channel }) => channel === 'D1')
    const texts = () => all().map(message => message.texts.at(-1))
    await direct('hello')
    await eventually(() => expect(texts()).toEqual(['You said: hello']))
    await direct('refund D4')
    await eventually(() => expect(all().at(-1)?.buttons).toHaveLength(2))
    const message = all().at(-1) as Posted
    await press(urlOf(bot), message, button(message, 'Approve'), 'UADA')
    await eventually(() => expect(texts().slice(3)).toEqual(['Refunded D4.']))
    await direct('bye')
    await eventually(() => expect(texts().at(-1)).toBe('You said: hello, refund D4, bye'))
    expect(all().map(({ thread_ts }) => thread_ts)).toEqual(all().map(() => undefined))
  })

  it('has Slack send a message again that was not taken', async () => {
    const { webhookOf } = await module('webhook.ts')
    const seen: [string | null, unknown][] = []
    const work = [() => Promise.reject(new Error('away')), async () => {}, () => new Promise(() => {})]
    const webhook = webhookOf({
      webhooks: {
        async slack(
          request: Request,
          options: { waitUntil(task: Promise<unknown>): void; deduplicate: boolean },
        ) {
          seen.push([request.headers.get('x-slack-retry-num'), options.deduplicate])
          options.waitUntil(work.shift()?.() ?? Promise.resolve())
          return new Response('ok')
        },
      },
    })
    const headers = { 'content-length': '2', 'x-slack-retry-num': '1' }
    const ask = async (): Promise<number> =>
      (await webhook(new Request('http://127.0.0.1/slack', { method: 'POST', body: '{}', headers }))).status
    // The last one takes longer than Slack waits.
    expect([await ask(), await ask(), await ask()]).toEqual([503, 200, 200])
    expect(seen).toEqual([
      [null, false],
      [null, false],
      [null, false],
    ])
  })

  it('cuts texts where what grows changes the last piece alone', async () => {
    const { piecesOf }: { piecesOf(text: string): string[] } = await module('edits.ts')
    const text = fc
      .array(fc.constantFrom('x'.repeat(999), '\n', '😀', '\ud800', 'word '), { maxLength: 40 })
      .map(all => all.join(''))
    fc.assert(
      fc.property(text, text, (text, more) => {
        const pieces = piecesOf(text)
        expect(pieces.join('')).toBe(text)
        expect(pieces.every(piece => piece.length <= 3000)).toBe(true)
        expect(piecesOf(text + more).slice(0, pieces.length - 1)).toEqual(pieces.slice(0, -1))
        for (const piece of pieces.slice(0, -1))
          expect(/😀/.test(text) && /[\ud83d]$/.test(piece)).toBe(false)
      }),
    )
  })

  it('asks for the scopes and events that it needs, at one address', async () => {
    const { oauth_config, settings } = JSON.parse(
      await readFile(join(examples.of('slack').folder, 'manifest.json'), 'utf8'),
    )
    /** The scope of each method and event: https://docs.slack.dev/reference/methods and …/events */
    const scopes: Readonly<Record<string, string | undefined>> = {
      'auth.test': undefined,
      'chat.postEphemeral': 'chat:write',
      'chat.postMessage': 'chat:write',
      'chat.update': 'chat:write',
      'files.completeUploadExternal': 'files:write',
      'files.getUploadURLExternal': 'files:write',
      'users.info': 'users:read',
      'a file of a person': 'files:read',
      app_mention: 'app_mentions:read',
      'message.channels': 'channels:history',
      'message.groups': 'groups:history',
      'message.im': 'im:history',
    }
    const called = slack.calls.map(({ method }) => method)
    const used = new Set([...called, ...settings.event_subscriptions.bot_events, 'a file of a person'])
    expect([...used].filter(each => !Object.hasOwn(scopes, each))).toEqual([])
    const needed = new Set(Object.values(scopes).filter(scope => scope !== undefined))
    expect(new Set(oauth_config.scopes.bot)).toEqual(needed)
    const urls = [settings.event_subscriptions.request_url, settings.interactivity.request_url]
    expect(urls.map(url => new URL(url).pathname)).toEqual(['/slack', '/slack'])
  })

  it('has not told its token or its secrets', () => {
    expect(bot.log()).not.toMatch(/xoxb-token|signing-secret-of-the-test/)
  })
})
