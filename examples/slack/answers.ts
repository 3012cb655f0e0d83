/** Messages become runs, and runs become answers. A process that is killed leaves its answers to another one. */
import type { Author, Chat, Message, Thread } from 'chat'
import type { ChatState } from 'servable/chat-state'
import type { Client, RunInput } from 'servable/client'
import { decisions } from './decisions.ts'
import { readFiles } from './files.ts'
import { Telling } from './telling.ts'
import { orThrow, wordsOf } from './words.ts'

/** Milliseconds for which answers and buttons are kept: as long as a run waits for a person. */
export const KEPT_MS: number = 7 * 86_400_000

/** Milliseconds after which another process takes an answer over from one that is gone. */
const LOCK_MS = 6000

/** The list of the newest answers. Among these, processes look for what others have left. */
const ANSWERS = 'answers'
const MAX_ANSWERS = 200

/** Most attempts at an answer that cannot be written. */
const MAX_TRIES = 5

/** The answer to a message: what a run says, or several that go on with each other. Its id is that of the first run. */
export interface Reply {
  readonly thread: string
  /** Whose the run is. */
  readonly owner: string
  /** The run that is told now. */
  readonly run: string
  /** The ids of the messages with its text. */
  readonly messages: readonly string[]
  /** The requests, files and runs that were told to their end. */
  readonly told: readonly string[]
  readonly tries: number
  readonly isDone: boolean
}

export interface Parts {
  readonly bot: Chat
  readonly state: ChatState
  /** The name of the agent that answers. */
  readonly agent: string
  /** Returns a client that calls the service as somebody. */
  readonly clientOf: (owner: string) => Client
}

/** What else may happen to answers. */
export interface Replies {
  /** Has an answer told anew, since its run may go on. Call `follow` afterwards. */
  open(id: string): Promise<void>
  /** Tells an answer to its end, unless another process does. */
  follow(id: string): void
}

/** Whose things are those of a person: their platform, workspace and id there. What somebody writes has no part in it. */
export function ownerOf(platform: string, { userId }: Pick<Author, 'userId'>, raw: unknown): string {
  const { user_team, team, team_id, user } = (raw ?? {}) as Readonly<Record<string, unknown>>
  const ofUser = (user as { readonly team_id?: unknown } | undefined)?.team_id
  const ofTeam = typeof team === 'object' ? (team as { readonly id?: unknown } | null)?.id : team
  const workspace = [user_team, ofUser, ofTeam, team_id].find(given => typeof given === 'string')
  return [platform, workspace, userId].filter(Boolean).join(':')
}

/** The text without the bot's name at its beginning, as the platform writes it there. */
async function withoutMention({ adapter }: Thread, text: string): Promise<string> {
  const { botUserId, userName } = adapter
  const shown = botUserId === undefined ? null : await adapter.getUser?.(botUserId)
  const name = [shown?.userName, userName, botUserId].find(each => each && text.startsWith(`@${each}`))
  return name === undefined ? text : text.slice(name.length + 1).trim()
}

/** Answers mentions, direct messages and replies in threads. Returns what stops the work, which other processes then take over. */
export function answerMessages(parts: Parts): () => void {
  const { bot, state, agent, clientOf } = parts
  const stopping = new AbortController()
  const following = new Set<string>()
  /** Answers that need no further look. */
  const done = new Set<string>()
  const keyOf = (id: string) => `answer:${id}`
  const save = (id: string, reply: Reply) => state.set(keyOf(id), reply, KEPT_MS)
  const list = (id: string) => state.appendToList(ANSWERS, id, { maxLength: MAX_ANSWERS, ttlMs: KEPT_MS })

  const replies: Replies = {
    follow(id) {
      if (stopping.signal.aborted || following.has(id)) return
      following.add(id)
      tell(id)
        .catch(error => console.error('an answer was not told:', error))
        .finally(() => following.delete(id))
    },
    async open(id) {
      const reply = await state.get<Reply>(keyOf(id))
      if (reply === null) return
      done.delete(id)
      await save(id, { ...reply, isDone: false, tries: 0 })
      await list(id)
    },
  }
  const { ask, answerByReply } = decisions(parts, replies)

  async function onMessage(thread: Thread, message: Message): Promise<void> {
    const { author } = message
    if (author.isBot || author.isMe) return
    const owner = ownerOf(thread.adapter.name, author, message.raw)
    await thread.subscribe()
    const text = await withoutMention(thread, message.text.trim())
    if (await answerByReply(thread, owner, message, text)) return
    const { files, refused } = await readFiles(message.attachments)
    for (const each of refused) await thread.post(each)
    if (files.length > 0)
      await start(thread, owner, message, [{ type: 'text', text: text || 'See this' }, ...files])
    else if (text !== '') await start(thread, owner, message, text)
  }

  async function start(thread: Thread, owner: string, message: Message, input: RunInput): Promise<void> {
    try {
      const { id } = await clientOf(owner).runs.start({ kind: 'agent', name: agent }, input, {
        sessionId: thread.id,
        // The same message is the same run, however often it is sent.
        idempotencyKey: `${thread.id}/${message.id}`.slice(0, 255),
      })
      const begun: Reply = {
        ...{ thread: thread.id, owner, run: id, messages: [], told: [] },
        ...{ tries: 0, isDone: false },
      }
      if (!(await state.setIfNotExists(keyOf(id), begun, KEPT_MS))) return
      await list(id)
      replies.follow(id)
    } catch (error) {
      await thread.post(wordsOf(orThrow(error)))
    }
  }

  /** Holds the lock of an answer while it is told. */
  async function tell(id: string): Promise<void> {
    const lock = await state.acquireLock(keyOf(id), LOCK_MS)
    if (lock === null) return
    const lost = new AbortController()
    const signal = AbortSignal.any([lost.signal, stopping.signal])
    const beat = setInterval(async () => {
      if (!(await state.extendLock(lock, LOCK_MS).catch(() => true))) lost.abort()
    }, LOCK_MS / 3)
    try {
      const reply = await state.get<Reply>(keyOf(id))
      if (reply === null || reply.isDone) return void done.add(id)
      const client = clientOf(reply.owner)
      const telling = new Telling({ reply, client, thread: bot.thread(reply.thread), signal }, changed =>
        save(id, changed),
      )
      await telling
        .toEnd(request => ask(id, telling.reply, request))
        .catch(async error => {
          if (signal.aborted) return
          const tries = reply.tries + 1
          await telling.change({ tries, isDone: tries >= MAX_TRIES })
          throw error
        })
    } finally {
      clearInterval(beat)
      await state.releaseLock(lock)
    }
  }

  bot.onNewMention(onMessage)
  bot.onSubscribedMessage(onMessage)

  /** Looks for answers that nobody tells any more. */
  async function look(): Promise<void> {
    const ids = new Set(await state.getList<string>(ANSWERS))
    for (const id of done) if (!ids.has(id)) done.delete(id)
    for (const id of ids) if (!done.has(id)) replies.follow(id)
  }
  const looking = setInterval(() => {
    look().catch(error => console.error('the answers could not be read:', error))
  }, LOCK_MS / 3)
  return () => {
    clearInterval(looking)
    stopping.abort()
  }
}
