/**
 * The types of a client's request, and of the parts that answer it.
 *
 * @module
 */

import type { Kind } from '../../agents/contract.ts'
import type { Core } from '../../core/built-in.ts'
import type { Caller } from '../../core/caller.ts'
import type { RequestState, Route } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import type { MadeFile, OpenedFile } from '../../runs/files.ts'
import type { RunRecord } from '../../runs/stored/record.ts'
import type { Target } from '../../runs/target.ts'
import type { Offer, Offered } from './offer.ts'
import type { Fields, Id } from './rpc.ts'
import type { HandleSeal } from './seal.ts'
import type { ActiveCalls } from './sessions.ts'

/** A request of a client. */
export interface McpRequest {
  readonly id: Id
  readonly params: Fields
  readonly request: Request
  readonly state: RequestState
  /** The capabilities of the client. Undefined in revisions whose requests do not contain them. */
  readonly capabilities: Fields | undefined
  readonly core: Core
  /** Puts a result into its envelope. */
  readonly answer: (result: object) => object
}

/** What calls need. */
export interface CallContext {
  readonly core: Core
  readonly offer: Offer
  readonly seal: HandleSeal
  readonly tasks: McpTasks | undefined
  readonly sessions: ActiveCalls
  /** Resources and prompts. */
  readonly offers: readonly McpPart[]
}

/** Answers a method. */
export type Method = (rpc: McpRequest, parts: CallContext) => Promise<object> | object

/** An icon, as clients show it. */
export interface McpIcon {
  readonly src: string
  readonly mimeType?: string | undefined
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[] | undefined
}

/** How clients show a thing. */
export interface Named {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly icons?: readonly McpIcon[] | undefined
}

/** Files that agents made in the caller's stored runs: in artifacts and in messages. */
export interface AskedFiles {
  /** The newest ones: at most 500. A caller without an identity has an empty list. */
  list(): Promise<readonly MadeFile[]>
  /** A file of a run, by its `place`. Undefined if there is none, or it is somebody else's. */
  open(runId: string, place: string): Promise<OpenedFile | undefined>
  /** The file of an address that a part of a run has as its `data`. Undefined for any other address. */
  placeOf(address: string): Promise<Pick<MadeFile, 'runId' | 'place'> | undefined>
}

/** Who asks. */
export interface Asked {
  /** The caller. Undefined if nobody is identified. */
  readonly identity: Identity | undefined
  /** The caller's own runs and sessions. */
  readonly caller: Caller
  /** Files that agents made for the caller. Without the plugin `files()` there are none. */
  readonly files: AskedFiles
  /** Finds what is served, for the sessions of the caller. Undefined if there is none of the name. */
  readonly find: (kind: Kind, name: string) => Target | undefined
  /** Fires when the client has left. */
  readonly signal: AbortSignal
}

/** Returns values that begin with a text, or fit it. `arguments` are those that the client has already. */
export type Completes = (
  value: string,
  asked: Asked & { readonly arguments: Readonly<Record<string, string>> },
) => readonly string[] | Promise<readonly string[]>

/** Resources or prompts for the plugin. */
export interface McpPart {
  readonly capabilities: Fields
  /** Whether it completes anything. */
  readonly completes: boolean
  /** Methods of all revisions. */
  readonly methods: Readonly<Record<string, Method>>
  /** The completion for a reference. Undefined if the reference is to something else. */
  complete(rpc: McpRequest, ref: Fields, parts: CallContext): Promise<object | undefined>
  readonly watched: Watched
  /** A block of a result, with the address of its file as a resource. */
  linked?(rpc: McpRequest, block: Fields): Promise<object>
}

/** What listeners are told of. */
export interface Watched {
  /** Lists, by the name under which a client asks for their changes. */
  readonly lists: Readonly<
    Record<string, (rpc: McpRequest, parts: CallContext) => readonly object[] | Promise<readonly object[]>>
  >
  /** Another value when a resource has changed. Undefined if there is no such resource. */
  version?(rpc: McpRequest, uri: string): unknown
}

/** Tasks for the plugin. */
export interface McpTasks {
  readonly afterMs: number
  readonly extensions: Fields
  readonly methods: Readonly<Record<string, Method>>
  /** Whether a call may become a task. Throws if it must become one and cannot. */
  takes(rpc: McpRequest, tool: Offered, core: Core): boolean
  /** The result of a call that has become a task. */
  created(
    record: RunRecord,
    kept: { readonly core: Pick<Core, 'runs'>; readonly owner: string | null },
  ): object
}

/** Checks who may call. */
export interface Guard {
  /** Throws `unauthorized` and `forbidden`. */
  check(request: Request, state: RequestState): Promise<void>
  /** Adds the `WWW-Authenticate` header, with the address of the resource's metadata, to an answer with status 401. */
  challenge(answer: Response): Response
  readonly routes: readonly Route[]
  readonly decidesItself: boolean
}

/** Authentication for the plugin. */
export interface McpAuth {
  guard(path: string, core: Pick<Core, 'publicUrl'>): Guard
}
