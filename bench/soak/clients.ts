/** Who makes the traffic. */

import { agUi, asked, chat, completions, mcp, mcpTask, responses, restTask, talk } from './encoders.ts'
import { forbiddenRun, key, maskedRun, maskedStream, spend } from './operation.ts'
import type { Kind } from './orders.ts'
import type { Receivers } from './receivers.ts'
import { socketVisit } from './sockets.ts'
import { type Again, lastingRun, queuedRuns, ticks } from './stored.ts'
import {
  type Act,
  cancelledTask,
  cutStream,
  json,
  leftStream,
  pushedTask,
  scrape,
  sentTask,
  streamedTask,
  upload,
  wholeStream,
} from './traffic.ts'

/** What a client's runs count as, if they do, and its acts. */
export type Client = readonly [who: Kind | 'scrapes' | 'hostile' | 'kept', acts: readonly Act[]]

/** The clients, each with its acts. Those of stored runs ask `again`. */
export const clientsOf = (receivers: Receivers, again: Again): readonly Client[] => [
  ['json', [json, talk(asked)]],
  ['json', [json]],
  ['streams', [wholeStream, leftStream]],
  ['streams', [wholeStream, leftStream]],
  ['followed', [cutStream]],
  ['followed', [cutStream]],
  ['sockets', [socketVisit]],
  ['sockets', [socketVisit]],
  ['tasks', [sentTask, cancelledTask, streamedTask]],
  ['tasks', [sentTask, cancelledTask, streamedTask, talk(restTask)]],
  ['tasks', [pushedTask(receivers)]],
  ['uploads', [upload]],
  ['chats', [talk(chat)]],
  ['agui', [talk(agUi)]],
  ['openai', [talk(completions), talk(responses)]],
  ['mcp', [talk(mcp), talk(mcpTask)]],
  ['queued', [queuedRuns(again)]],
  ['queued', [queuedRuns(again)]],
  ['guarded', [maskedRun, maskedStream, forbiddenRun]],
  ['keyed', [key]],
  ['spends', [spend]],
  ['kept', [lastingRun(again)]],
  ['scrapes', [scrape]],
]

/** Looks at a schedule. Only a state that outlives the process has one. */
export const watcherOf = (again: Again): Client => ['kept', [ticks(again)]]
