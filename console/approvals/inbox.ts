/** A live view of the requests that wait for a person. */
import type { InputRequest } from '../../src/agents/contract.ts'
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import type { InboxEvent } from '../../src/features/approvals/watch.ts'
import { firstLine } from '../text.ts'

/** Waiting requests by their ids. */
export type Inbox = ReadonlyMap<string, WaitingRequest>

/** The inbox after an event. */
export function inboxAfter(before: Inbox, event: InboxEvent): Inbox {
  if (event.type === 'all') return new Map(event.approvals.map(each => [each.request.id, each]))
  const after = new Map(before)
  if (event.type === 'added') after.set(event.approval.request.id, event.approval)
  else after.delete(event.id)
  return after
}

/** All requests that were shown, in their old order, followed by new ones, so that nothing moves under the pointer. */
export function inStableOrder(
  shown: readonly WaitingRequest[],
  inboxes: readonly Inbox[],
): readonly WaitingRequest[] {
  const now = new Map(inboxes.flatMap(inbox => [...inbox]))
  const old = new Set(shown.map(({ request }) => request.id))
  const fresh = [...now.values()].filter(({ request }) => !old.has(request.id))
  return [...shown.map(each => now.get(each.request.id) ?? each), ...fresh]
}

/** Requests of one agent for one tool, or its questions. */
export interface Group {
  readonly name: string
  /** Absent for questions. */
  readonly tool?: string | undefined
  readonly waiting: readonly WaitingRequest[]
}

/** The requests by agent and tool. Groups are in the order of their first requests, so that nothing moves. */
export function groupsOf(waiting: readonly WaitingRequest[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const each of waiting) {
    const [name, tool] = [each.run.name, toolOf(each.request)]
    const key = JSON.stringify([name, tool])
    groups.set(key, { name, tool, waiting: [...(groups.get(key)?.waiting ?? []), each] })
  }
  return [...groups.values()]
}

function toolOf({ kind, toolName }: InputRequest): string | undefined {
  return kind === 'question' ? undefined : toolName
}

/** Whose requests are listed: of all agents or of one, for all tools or for one. */
export interface InboxFilter {
  readonly agent?: string
  readonly tool?: string
}

/** Whether a request is listed. */
export function isListed({ request, run }: WaitingRequest, { agent, tool }: InboxFilter): boolean {
  return (agent === undefined || run.name === agent) && (tool === undefined || toolOf(request) === tool)
}

/** Most characters of a line about a request. */
const MAX_LINE = 120

/** What is asked, in a line: the first values of the arguments, or the message. */
export function lineOf({ request: { args, message, toolName }, run }: WaitingRequest): string {
  return valuesOf(args) || firstLine(message ?? '').slice(0, MAX_LINE) || (toolName ?? run.name)
}

function valuesOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return ''
  const values = Object.values(args).filter(each => typeof each === 'string' || typeof each === 'number')
  return firstLine(values.slice(0, 3).join(', ')).slice(0, MAX_LINE)
}

/** What an agent wants, in words. */
export function wishOf({ request: { kind, toolName }, run }: WaitingRequest): string {
  return kind === 'question' ? `${run.name} asks` : `${run.name} wants ${toolName}`
}
