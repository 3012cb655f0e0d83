/** Who makes the traffic. */

import type { Kind } from './orders.ts'
import type { Receivers } from './receivers.ts'
import { socketVisit } from './sockets.ts'
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

/** The clients, each with its acts. */
export const clientsOf = (receivers: Receivers): readonly Client[] => [
  ['json', [json]],
  ['json', [json]],
  ['streams', [wholeStream, leftStream]],
  ['streams', [wholeStream, leftStream]],
  ['followed', [cutStream]],
  ['followed', [cutStream]],
  ['sockets', [socketVisit]],
  ['sockets', [socketVisit]],
  ['tasks', [sentTask, cancelledTask, streamedTask]],
  ['tasks', [sentTask, cancelledTask, streamedTask]],
  ['tasks', [pushedTask(receivers)]],
  ['uploads', [upload]],
  ['scrapes', [scrape]],
]
