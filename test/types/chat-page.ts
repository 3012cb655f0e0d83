/** Types of `servable/ai-sdk-ui/page` with each version of `ai`: compiled, and never run. */
import type { UIMessage } from 'ai'
import * as v from 'valibot'
import { Agent, createHandler, type Handler, textOf } from '../../src/core-entry.ts'
import {
  type ChatData,
  type ChatMessage,
  type ChatMetadata,
  messagesOf,
} from '../../src/protocols/ai-sdk-ui/page.ts'

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const output = v.object({ celsius: v.number() })
const measure = new Agent({ name: 'measure', output, run: () => ({ structured: { celsius: 7 } }) })
const echo = new Agent({ name: 'echo', run: input => textOf(input) })
const handler = createHandler({ agents: { measure, echo }, workflows: { digest: { run: echo.run } } })

type Measured = ChatMessage<typeof handler, 'measure'>

/** What a page finds in a message. */
export function read({ metadata, parts }: Measured): void {
  same<typeof metadata, ChatMetadata | undefined>(true)
  for (const part of parts) {
    if (part.type === 'data-structured') same<typeof part.data, { celsius: number }>(true)
    if (part.type === 'data-step') same<typeof part.data, ChatData['step']>(true)
    if (part.type === 'data-artifact') same<typeof part.data.artifactId, string>(true)
    // @ts-expect-error: there is no such part
    if (part.type === 'data-weather') continue
    if (part.type === 'text') same<typeof part.text, string>(true)
    if (part.type === 'file') same<typeof part.url, string>(true)
  }
}

// Without a schema the structured output is any object; so it is of all that is not known.
same<ChatMessage<typeof handler, 'echo'>, UIMessage<ChatMetadata, ChatData>>(true)
same<ChatMessage<typeof handler, 'digest', 'workflow'>, UIMessage<ChatMetadata, ChatData>>(true)
same<ChatMessage<typeof handler>, ChatMessage>(true)
same<ChatMessage<Handler, 'anything', 'team'>, ChatMessage>(true)
// @ts-expect-error: no agent has this name
export type Nobody = ChatMessage<typeof handler, 'nobody'>
// @ts-expect-error: it is no workflow
export type NoWorkflow = ChatMessage<typeof handler, 'echo', 'workflow'>

// What a session has kept is a message of any chat, also of one whose page has tools.
export const kept: Measured[] = messagesOf([])
type Tools = { readonly pick: { input: { from: string[] }; output: string } }
export const withTools: ChatMessage<typeof handler, 'measure', 'agent', Tools>[] = messagesOf([])
/** They are messages of any page. */
export const anyMessages: UIMessage[] = messagesOf([])
