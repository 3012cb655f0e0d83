/** Tells an answer in its thread: text by edits, then what is asked, then files. It goes on where another process has stopped. */
import type { Thread } from 'chat'
import type { Client, InputRequest, RunEvent } from 'servable/client'
import type { Reply } from './answers.ts'
import { Edits } from './edits.ts'
import { postFiles } from './files.ts'
import { calm, wordsOf } from './words.ts'

/** An answer, and what it is told with. */
export interface TellingParts {
  readonly reply: Reply
  readonly client: Client
  readonly thread: Thread
  /** Fires when this process may no longer write. */
  readonly signal: AbortSignal
}

/** Posts what a run asks. */
type Ask = (request: InputRequest) => Promise<void>

export class Telling {
  reply: Reply
  readonly #parts: TellingParts
  readonly #save: (reply: Reply) => Promise<void>

  constructor(parts: TellingParts, save: (reply: Reply) => Promise<void>) {
    this.reply = parts.reply
    this.#parts = parts
    this.#save = save
  }

  async change(more: Partial<Reply>): Promise<void> {
    this.#parts.signal.throwIfAborted()
    this.reply = { ...this.reply, ...more }
    await this.#save(this.reply)
  }

  /** Tells the run and those that go on with it, until one is over or waits for somebody. */
  async toEnd(ask: Ask): Promise<void> {
    const { client, signal } = this.#parts
    for (;;) {
      const { run } = this.reply
      await this.#once(run, () => this.#run(run, ask))
      const { continuedBy } = await client.runs.get(run, { signal })
      if (continuedBy === undefined) break
      await this.change({ run: continuedBy, messages: [] })
    }
    await this.change({ isDone: true })
  }

  /** Does what is not done already. */
  async #once(what: string, act: () => Promise<unknown>): Promise<void> {
    if (this.reply.told.includes(what)) return
    await act()
    await this.change({ told: [...this.reply.told, what] })
  }

  /** Writes a message of the run, anew or over the one that is there. */
  async #write(index: number, text: string): Promise<void> {
    const markdown = calm(text)
    const { thread, signal } = this.#parts
    signal.throwIfAborted()
    const message = this.reply.messages[index]
    if (message !== undefined) await thread.adapter.editMessage(thread.id, message, { markdown })
    else {
      const { id } = await thread.post({ markdown })
      await this.change({ messages: [...this.reply.messages, id] })
    }
  }

  async #run(run: string, ask: Ask): Promise<void> {
    const { client, thread, signal } = this.#parts
    if (this.reply.messages.length === 0) await this.#write(0, '_Thinking …_')
    const edits = new Edits((index, text) => this.#write(index, text))
    const { text, end } = await this.#read(run, edits)
    const requests = end?.type === 'finish' ? (end.requests ?? []) : []
    await edits.end(text || (requests.length > 0 ? '_I have to ask:_' : '_Done._'))
    for (const request of requests) await this.#once(request.id, () => ask(request))
    if (end?.type !== 'finish') return
    const { artifacts = [] } = await client.runs.result(run, { signal })
    for (const artifact of artifacts)
      await this.#once(`${run} ${artifact.artifactId}`, () => postFiles(thread, client, artifact))
  }

  /** Shows the text of a run as it comes. Resolves with all of it, and with the last event. */
  async #read(
    run: string,
    edits: Edits,
  ): Promise<{ readonly text: string; readonly end: RunEvent | undefined }> {
    const { client, signal } = this.#parts
    let text = ''
    let end: RunEvent | undefined
    for await (const event of client.runs.stream(run, { signal })) {
      end = event
      // After a crash the text comes again.
      if (event.type === 'resumed') text = ''
      if (event.type !== 'text') continue
      text += event.text
      if (text.trim() !== '') edits.show(text)
    }
    if (end?.type === 'error') text += `${text && '\n\n'}${wordsOf(end)}`
    return { text: text.trim() === '' ? '' : text, end }
  }
}
