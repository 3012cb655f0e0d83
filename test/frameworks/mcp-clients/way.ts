/** What every client of MCP can do, in its own words. */

/** What a person is asked. */
export interface Form {
  readonly message: string
  readonly requestedSchema?: unknown
}

/** What a person says. */
export interface Said {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string>
}

export type Say = (form: Form) => Said

export interface Place {
  /** The address of the endpoint. */
  readonly url: string
  /** What the client sends as its bearer token. */
  readonly token: string
  /** Answers what is asked. Without it the client shows no forms. */
  readonly say?: Say | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds after which the client gives up. */
  readonly timeout?: number
  /** Hears of progress, which begins the time anew. */
  readonly onProgress?: (progress: number, message: string | undefined) => void
}

/** The result of a tool, as the client gives it. */
export interface Result {
  readonly content: readonly Block[]
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

export interface Block {
  readonly type: string
  readonly text?: string | undefined
  readonly data?: string | undefined
  readonly mimeType?: string | undefined
}

export interface Spec {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly annotations?: unknown
}

/** A client that is connected. */
export interface Connected {
  /** The revision that it has agreed upon with the service. */
  readonly revision: string | undefined
  /** The instructions of the service. */
  readonly instructions: string | undefined
  tools(): Promise<readonly Spec[]>
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Result>
  close(): Promise<void>
}

export type Connect = (place: Place) => Promise<Connected>

/** A client that is given its token by an authorization server. */
export interface SigningIn {
  /** Connects. Gives the address to which a person is sent for permission. */
  ask(url: string): Promise<URL>
  /** Brings what the authorization server has given the person, and connects. */
  finish(url: string, code: string): Promise<Connected>
}

/** A client that takes tasks. */
export interface Tasks {
  /** Calls a tool, and waits for its end. `onStatus` hears how its task stands. */
  call(name: string, args: Record<string, unknown>, onStatus?: OnStatus): Promise<Ended>
  /** Calls a tool, and cancels its task as soon as `onStatus` hears of it. */
  cancelled(name: string, args: Record<string, unknown>, isStarted: () => Promise<void>): Promise<Ended>
  /** Calls a tool, and forgets it. Gives what another session needs to go on with its task. */
  leave(name: string, args: Record<string, unknown>): Promise<object>
  goOn(reference: object): Promise<Ended>
  close(): Promise<void>
}

export type OnStatus = (status: string) => unknown

/** How a call ended. */
export interface Ended {
  readonly kind: 'immediate' | 'task'
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly result?: Result | undefined
  readonly error?: string | undefined
}

/** A part of a resource. */
export interface Content {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  readonly blob?: string | undefined
}

/** A client that is connected, and what it can read. */
export interface Reading {
  /** The addresses of all resources. */
  list(): Promise<readonly string[]>
  read(uri: string): Promise<readonly Content[]>
  /** The first message of a prompt. */
  prompt?(name: string, args: Readonly<Record<string, string>>): Promise<unknown>
  /** Completes an argument of a prompt. */
  complete?(name: string, argument: string, value: string): Promise<readonly string[]>
  /** Subscribes. Calls back whenever the client is told that the resource has changed. */
  subscribe?(uri: string, onChanged: () => void): Promise<void>
  close(): Promise<void>
}
