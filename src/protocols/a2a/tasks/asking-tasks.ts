/**
 * The requests of tasks, for the HTTP routes that list and answer them. An answer becomes a message of the task.
 *
 * @module
 */

import type { HistoryMessage } from '../../../agents/contract.ts'
import { MAX_TEXT, toKeptInput } from '../../../runs/sessions/turn-messages.ts'
import type { AskingTasks } from '../../../runs/waiting/approvals.ts'
import type { Approver, Asking } from '../../../runs/waiting/asking.ts'
import type { Part, Task } from '../model.ts'
import { toRunInput } from '../parts.ts'
import { messageOf } from './answers.ts'
import type { TaskHost } from './task-host.ts'
import { taskNotFound } from './task-record.ts'

/** Most messages of a task's transcript. Older ones are left out. */
const MAX_MESSAGES = 100

/** Makes the access to them. `mayUse` decides whether a caller may use a tenant, as for a request over A2A. */
export function createAskingTasks(
  host: TaskHost,
  mayUse: (identity: Approver['identity'], tenant: string | undefined) => Promise<boolean>,
): AskingTasks {
  const tenantOf = async (id: string) => {
    const [task] = await host.find(id)
    return task?.id === id ? { tenant: task.tenant } : undefined
  }
  const ownedBy = async ({ run: { id, owner } }: Asking) => {
    const found = await tenantOf(id)
    if (found === undefined) throw taskNotFound()
    return { owner, ...found }
  }
  return {
    async asking(id, { identity }) {
      const found = await tenantOf(id)
      if (found === undefined || !(await mayUse(identity, found.tenant))) return undefined
      return host.asking(id, found.tenant)
    },
    async answer(asking, { answers, ...given }) {
      const taskId = asking.run.id
      const message = messageOf(answers)
      await host.deliver({
        ...{ taskId, message, target: undefined, mayWait: false },
        ...(await ownedBy(asking)),
        ...given,
      })
    },
    async messages(asking) {
      const { task } = await host.get(asking.run.id, await ownedBy(asking))
      return transcriptOf(task)
    },
  }
}

/** The transcript of a task. What the task asks now comes last. */
function transcriptOf({ history = [], artifacts = [], status: { message: asked } }: Task): HistoryMessage[] {
  const before = history.filter(({ messageId }) => messageId !== asked?.messageId)
  const outputs = artifacts.map(({ parts }) => ({ role: 'agent' as const, parts }))
  return [...before, ...outputs, ...(asked ? [asked] : [])].flatMap(messageIn).slice(-MAX_MESSAGES)
}

/** The message without its data parts, which contain requests and answers. Empty if the message has no other parts. */
function messageIn({
  role,
  parts,
}: {
  readonly role: 'user' | 'agent'
  readonly parts: readonly Part[]
}): HistoryMessage[] {
  const words = parts.filter(({ data }) => data === undefined)
  const content = toKeptInput(toRunInput({ messageId: '', role, parts: words }))
  if (content.length === 0) return []
  if (role === 'user') return [{ role, content }]
  return [{ role: 'assistant', content: typeof content === 'string' ? content.slice(-MAX_TEXT) : content }]
}
