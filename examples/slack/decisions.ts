/** What a run asks becomes buttons, or a question that the next reply answers. */
import { type ActionEvent, Actions, Button, Card, CardText, type Message, type Thread } from 'chat'
import type { Answer, InputRequest } from 'servable/client'
import { KEPT_MS, ownerOf, type Parts, type Replies, type Reply } from './answers.ts'
import { calm, orThrow, wordsOf } from './words.ts'

/** Most buttons of a question. With more choices, it is answered by a reply. */
const MAX_CHOICES = 5

/** Most characters of what a card shows. */
const MAX_SHOWN = 1000

/** What was asked. The buttons have its id alone, so nobody can change what they stand for. */
interface Asked {
  /** The answer that waits. */
  readonly reply: string
  readonly run: string
  readonly thread: string
  readonly request: InputRequest
  readonly choices: readonly Choice[]
}

/** A button, and the answer that it gives. */
interface Choice {
  readonly label: string
  readonly style?: 'primary' | 'danger'
  readonly answer: Answer
}

const askedKey = (id: string) => `asked:${id}`
/** The question of a thread that the next reply of a person answers. */
const questionKey = (thread: string, owner: string) => `question:${owner} ${thread}`

export function decisions({ bot, state, clientOf }: Parts, { open, follow }: Replies) {
  /** Posts what a run asks. */
  async function ask(
    id: string,
    { run, thread: threadId, owner }: Reply,
    request: InputRequest,
  ): Promise<void> {
    const thread = bot.thread(threadId)
    const asked: Asked = { reply: id, run, thread: threadId, request, choices: choicesOf(request) }
    const token = crypto.randomUUID()
    await state.set(askedKey(token), asked, KEPT_MS)
    if (asked.choices.length === 0) {
      await state.set(questionKey(threadId, owner), token, KEPT_MS)
      await thread.post(`${titleOf(request)}\nReply in this thread.`)
      return
    }
    const buttons = asked.choices.map(({ label, style }, index) =>
      Button({ id: `choice-${index}`, label, value: token, ...(style && { style }) }),
    )
    await thread.post(Card({ children: [CardText(titleOf(request)), Actions(buttons)] }))
  }

  /** Gives an answer as a person. The service decides whether that person may. Throws `ServableClientError`. */
  async function give(person: string, { reply, run, request }: Asked, answer: Answer): Promise<void> {
    // Opened first: if this process is killed after the answer, another one tells how the run goes on.
    await open(reply)
    try {
      const digest = 'digest' in request ? { digest: request.digest } : {}
      await clientOf(person).runs.answer(run, [{ ...answer, ...digest } as Answer])
    } finally {
      follow(reply)
    }
  }

  /** Whether a reply was the answer to a question, and not a new message. */
  async function answerByReply(
    thread: Thread,
    owner: string,
    message: Message,
    text: string,
  ): Promise<boolean> {
    const key = questionKey(thread.id, owner)
    // Slack sends a reply with a mention twice. The second one is no new message.
    const used = `used:${message.id} ${thread.id}`
    if (await state.get(used)) return true
    const token = await state.get<string>(key)
    const asked = await state.get<Asked>(askedKey(token ?? 'none'))
    if (asked === null) return false
    try {
      await give(owner, asked, { id: asked.request.id, value: givenIn(asked.request, text) })
    } catch (error) {
      const { code } = orThrow(error)
      await thread.post(wordsOf(error))
      if (code === 'invalid_body') return true
    }
    await state.set(used, true, KEPT_MS)
    // Another question of the same run may have come meanwhile.
    if ((await state.get(key)) === token) await state.delete(key)
    return true
  }

  bot.onAction(async (event: ActionEvent) => {
    const { thread, threadId, adapter, user, value = '' } = event
    const whisper = (text: string) => thread?.postEphemeral(user, text, { fallbackToDM: false })
    const asked = /^[\da-f-]{36}$/.test(value) ? await state.get<Asked>(askedKey(value)) : null
    const choice = asked?.choices[Number(/^choice-(\d)$/.exec(event.actionId)?.[1])]
    const channel = asked && adapter.channelIdFromThreadId(asked.thread)
    if (!asked || !choice || channel !== adapter.channelIdFromThreadId(threadId)) {
      await whisper('This button is not valid any more.')
      return
    }
    try {
      await give(ownerOf(adapter.name, user, event.raw), asked, choice.answer)
    } catch (error) {
      await whisper(wordsOf(orThrow(error)))
      return
    }
    const said = `${titleOf(asked.request)}\n*${choice.label}* by ${thread?.mentionUser(user.userId) ?? user.fullName}`
    await adapter.editMessage(threadId, event.messageId, said)
  })

  return { ask, answerByReply }
}

/** The buttons of a request. None: a reply answers it. */
function choicesOf(request: InputRequest): Choice[] {
  const { id } = request
  if (request.kind === 'approval')
    return [
      { label: 'Approve', style: 'primary', answer: { id, decision: 'approve' } },
      { label: 'Deny', style: 'danger', answer: { id, decision: 'deny', reason: 'Denied by a person' } },
    ]
  const { enum: values, type } = schemaOf(request)
  const offered = Array.isArray(values) ? values : type === 'boolean' ? [true, false] : []
  if (offered.length > MAX_CHOICES) return []
  return offered.map(value => ({
    label: typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value).slice(0, 75),
    answer: { id, value },
  }))
}

function schemaOf(request: InputRequest): { readonly enum?: unknown; readonly type?: unknown } {
  return request.kind === 'question' ? ((request.schema ?? {}) as object) : {}
}

/** The value of a reply, as the schema wants it. The service checks it. */
function givenIn(request: InputRequest, text: string): unknown {
  const { type = 'string' } = schemaOf(request)
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function titleOf(request: InputRequest): string {
  if (request.kind === 'question') return calm(request.message ?? 'I have a question.').slice(0, MAX_SHOWN)
  return `May I call \`${request.toolName}\` with \`${calm(JSON.stringify(request.args ?? {})).slice(0, MAX_SHOWN)}\`?`
}
