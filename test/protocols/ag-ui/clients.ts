/** Stock clients of AG-UI: one of 0.x, and one of 1.0. */
import { createRequire } from 'node:module'
import { type BaseEvent, HttpAgent, type Interrupt, type RunAgentParameters } from '@ag-ui/client'

/** What the tests use of either client. */
export interface AgUiClient {
  readonly threadId: string
  readonly messages: readonly ToldMessage[]
  readonly state: unknown
  /** Of 1.0. */
  pendingInterrupts?: Interrupt[]
  addMessage(message: object): void
  setMessages(messages: object[]): void
  runAgent(
    parameters?: RunAgentParameters,
    subscriber?: { onEvent(told: { readonly event: BaseEvent }): void },
  ): Promise<{ readonly result: unknown; readonly newMessages: readonly unknown[] }>
  abortRun(): void
}

/** A message as a client has it. */
export interface ToldMessage {
  readonly id: string
  readonly role: string
  readonly content?: unknown
  readonly name?: string
  readonly toolCallId?: string
  readonly subagentRunId?: string
  readonly toolCalls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

export interface ClientOptions {
  readonly url: string
  readonly headers?: Record<string, string>
  readonly threadId?: string
  readonly initialState?: object
}

// As a module it cannot apply patches in Node.
const { HttpAgent: HttpAgent0 }: typeof import('ag-ui-client-0') = createRequire(import.meta.url)(
  'ag-ui-client-0',
)

/** Makes a client of one version. */
export type Make = (options: ClientOptions) => AgUiClient

/** The versions by their names. */
export const CLIENTS: Readonly<Record<'1.0.0' | '0.0.52', Make>> = {
  '1.0.0': options => new HttpAgent(options) as unknown as AgUiClient,
  '0.0.52': options => new HttpAgent0(options) as unknown as AgUiClient,
}
