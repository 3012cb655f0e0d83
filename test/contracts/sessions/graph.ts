/**
 * A graph in so far as the adapter and its checkpointer use one: it repeats all that its thread has. `ask …` asks, and `big …` keeps as
 * many characters. `waits` waits until its run is stopped.
 */
import type { Saver } from '../../../src/adapters/frameworks/langgraph/langgraph-saver.ts'

interface Message {
  readonly role?: string
  readonly content?: string
}

interface Values {
  readonly messages: readonly Message[]
  readonly big?: string
}

interface Config {
  readonly configurable: { readonly thread_id: string; readonly checkpoint_id?: string }
}

/** Ids that grow. */
let made = 0
const nextId = () => `${String(Date.now()).padStart(16, '0')}-${String(++made).padStart(9, '0')}`

export class Graph {
  readonly lg_is_pregel = true
  readonly name = 'graph'
  checkpointer: Saver | undefined
  readonly channels = { messages: { operator: (_: unknown, [json]: readonly object[]) => [json] } }

  withConfig(): Graph {
    return new Graph()
  }

  async getState(config: Config): Promise<object> {
    const tuple = await this.checkpointer?.getTuple(config)
    const { checkpoint, pendingWrites = [] } = tuple ?? {}
    const interrupts = pendingWrites.flatMap(([, channel, value]) =>
      channel === '__interrupt__' ? value : [],
    )
    const tasks = interrupts.length > 0 ? [{ id: 'task', name: 'ask', interrupts }] : []
    const next = tasks.map(({ name }) => name)
    return { values: checkpoint?.channel_values ?? {}, next, tasks, config: tuple?.config ?? config }
  }

  async *getStateHistory(config: Config, options: object): AsyncGenerator<object> {
    for await (const tuple of this.checkpointer?.list(config, options) ?? [])
      yield { values: tuple.checkpoint.channel_values, config: tuple.config, next: [], tasks: [] }
  }

  async updateState(config: Config, values: Partial<Values>, asNode?: string): Promise<object> {
    if (asNode === 'nobody') throw Object.assign(new Error('No such node'), { name: 'InvalidUpdateError' })
    const tuple = await this.checkpointer?.getTuple(config)
    const before = (tuple?.checkpoint.channel_values as Values | undefined) ?? { messages: [] }
    const messages = [...before.messages, ...(values.messages ?? [])]
    return this.#put(tuple?.config ?? config, { ...before, messages })
  }

  async *stream(
    input: { readonly messages?: readonly Message[]; readonly resume?: unknown },
    { configurable, signal }: Config & { readonly signal?: AbortSignal },
  ): AsyncGenerator<readonly [string, object]> {
    const saver = this.checkpointer
    const config = { configurable: { ...configurable, checkpoint_ns: '' } }
    const tuple = await saver?.getTuple(config)
    const before = (tuple?.checkpoint.channel_values as Values | undefined) ?? { messages: [] }
    const messages = [...before.messages, ...(input.messages ?? [])]
    const text = messages.at(-1)?.content ?? ''
    const [, length] = /^big (\d+)/.exec(text) ?? []
    const values = {
      ...{ messages, ...(before.big !== undefined && { big: before.big }) },
      ...(length !== undefined && { big: '"ö'.repeat(Number(length) / 2) }),
    }
    const at = await this.#put(tuple?.config ?? config, values)
    if (text === 'waits') await new Promise(resolve => signal?.addEventListener('abort', resolve))
    if (text.startsWith('ask') && input.resume === undefined) {
      const asked = [{ id: `${configurable.thread_id}-${messages.length}`, value: 'ok?' }]
      await saver?.putWrites(at, [['__interrupt__', asked]], 'task')
      yield ['updates', { __interrupt__: asked }]
      return
    }
    const known = messages.map(({ content }) => content).join(', ')
    const answer = { role: 'ai', content: `${known}${values.big ? ` and ${values.big.length}` : ''}` }
    if (input.resume !== undefined) Object.assign(answer, { content: JSON.stringify(input.resume) })
    await saver?.putWrites(at, [['messages', [answer]]], 'task')
    await this.#put(at, { ...values, messages: [...messages, { ...answer, content: 'told' }] })
    yield ['updates', { answers: { messages: [answer] } }]
  }

  async #put(config: object, values: object): Promise<object> {
    const names = Object.keys(values)
    const id = nextId()
    const checkpoint = {
      ...{ v: 4, id, ts: new Date().toISOString(), channel_values: values, versions_seen: {} },
      channel_versions: Object.fromEntries(names.map(name => [name, id])),
    }
    return (await this.checkpointer?.put(config, checkpoint, { source: 'loop', step: 0 })) ?? config
  }
}
