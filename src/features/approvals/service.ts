/**
 * Decides who may answer the requests of runs, and until when.
 *
 * @module
 */

import type { Answer, HistoryMessage, InputRequest } from '../../agents/contract.ts'
import type { SessionStorage } from '../../agents/memory.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { tenantOf } from '../../base/owner.ts'
import { within } from '../../base/wake.ts'
import type { CoreSettings } from '../../core/options.ts'
import type { Calls, CallTransactions } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { RunHost } from '../../runs/stored/host.ts'
import type { AnsweredRequest } from '../../runs/stored/record.ts'
import type { Approvals, AskingTasks, ExpiringTasks, GivenToTask } from '../../runs/waiting/approvals.ts'
import type { Approver, Asking, AskingRun, DecidedRun } from '../../runs/waiting/asking.ts'
import { type AnsweredRun, dropWaiting, type Waiting as Kept, waitingIn } from '../../runs/waiting/waiting.ts'
import type { Eviction, Reader, Store, Transaction } from '../../stores/store.ts'
import { checkTime, denialsOf, denied, dueIn, EXPIRED, expiryOf, failRun, started } from './expiry.ts'
import {
  askingOf,
  INBOX,
  INBOX_TRANSACTIONS,
  type InboxQuery,
  type InboxTransactions,
  momentsOf,
  putAsking,
  runOf,
  type WaitingRequest,
  waitingOf,
} from './inbox.ts'
import { saidBefore } from './said.ts'

/** The name of the plugin and of its object service. */
export const NAME = 'approvals'

/** An approval that somebody wants to decide. */
export interface AskedApproval {
  readonly request: InputRequest
  readonly run: Omit<AskingRun, 'isTask'>
}

/** Returns whether this person may decide. The approver has no identity if the transport knows none. */
export type Authorize = (approval: AskedApproval, approver: Approver) => boolean | Promise<boolean>

/** How approvals are decided. */
export interface ApprovalsSettings {
  readonly authorize: Authorize | undefined
  readonly expiresMs: number
  readonly onExpiry: 'refuse' | 'continue'
}

/** Milliseconds that `authorize` may take. */
const AUTHORIZE_MS = 10_000

/** Lists, authorizes and expires approvals. */
export class ApprovalService implements Approvals {
  readonly expiresMs: number
  tasks: AskingTasks | undefined
  /** Set once the handler is made. Undefined if no sessions are stored. */
  sessions: Pick<SessionStorage, 'turns'> | undefined
  readonly #settings: ApprovalsSettings
  readonly #core: Pick<CoreSettings, 'log' | 'state' | 'roles'>
  readonly #calls: Calls<InboxTransactions>
  /** Starts a continued run. Set once the handler is made. */
  goOn: (next: NonNullable<AnsweredRun['next']>) => Promise<unknown> = async () => {}

  constructor(settings: ApprovalsSettings, core: CoreSettings, callTransactions: CallTransactions) {
    this.#settings = settings
    this.#core = core
    this.#calls = callTransactions(NAME, INBOX_TRANSACTIONS)
    this.expiresMs = settings.expiresMs
  }

  get #isHosted(): boolean {
    return this.#core.state.kind === 'hosted'
  }

  mayBeOther({ identity }: Approver): boolean {
    return this.#settings.authorize !== undefined || identity?.roles !== undefined
  }

  async admit(...[asking, answers, approver, missing]: Parameters<Approvals['admit']>): Promise<boolean> {
    const isOwn = isOwner(asking, approver)
    if (isOwn && this.#settings.authorize === undefined) return false
    if (!isOwn && approver.identity === undefined) throw missing()
    const ids = new Set(answers.map(({ id }) => id))
    const answered = asking.requests.filter(({ id }) => ids.has(id))
    const approvals = answered.filter(isApproval)
    const known = await this.known(asking, approvals, approver)
    const mayAll = known.length === approvals.length && (isOwn || approvals.length === answered.length)
    if (isOwn && mayAll) return false
    const others = () => asking.requests.filter(request => !ids.has(request.id))
    const mayAny = isOwn || known.length > 0 || (await this.known(asking, others(), approver)).length > 0
    if (!mayAny) throw missing()
    if (mayAll) return true
    throw new ServableError('forbidden', 'You may not give these answers')
  }

  async known(
    asking: Asking,
    requests: readonly InputRequest[],
    approver: Approver,
  ): Promise<InputRequest[]> {
    const approvals = requests.filter(isApproval)
    const allowed = await Promise.all(approvals.map(request => this.#mayDecide(asking, request, approver)))
    return approvals.filter((_, index) => allowed[index])
  }

  async #mayDecide({ run }: Asking, request: InputRequest, approver: Approver): Promise<boolean> {
    const { authorize } = this.#settings
    if (this.#core.roles?.may(approver.identity, 'answer', run.owner)) return true
    const { tenant } = approver.identity ?? {}
    const isElsewhere = tenant !== undefined && tenant !== tenantOf(run.owner)
    if (authorize === undefined || isElsewhere) return false
    const { id, kind, name, owner, userId, sessionId } = run
    const { identity, ip, requestId } = approver
    const about = { request, run: { id, kind, name, owner, userId, sessionId } }
    try {
      const answer = async () => authorize(about, { identity, ip, requestId })
      return (await within(AUTHORIZE_MS, '`approvals.authorize`', answer)) === true
    } catch (error) {
      this.#logError(error, requestId)
      return false
    }
  }

  asking(tx: Reader, id: string): Asking | undefined {
    const waiting = waitingIn(tx, id)
    return waiting && askingOf(id, waiting)
  }

  note(tx: Transaction, id: string, waiting: Kept, eviction: Eviction): Kept {
    // Read once, since the clock of a store advances.
    const { now } = tx
    const expiresAt = expiryOf(waiting, now, this.expiresMs)
    const noted = { ...waiting, at: waiting.at ?? now, expiresAt }
    if (!this.#isHosted) putAsking(tx, askingOf(id, noted), eviction)
    return noted
  }

  check(waiting: Kept, now: number): void {
    checkTime(waiting, now)
  }

  async decide(
    ...[host, { id, answers }, approver, goOn]: Parameters<Approvals['decide']>
  ): Promise<DecidedRun | undefined> {
    const asking = this.mayBeOther(approver) ? await host.asking(id) : undefined
    if (asking === undefined || !(await this.admit(asking, answers, approver, missingRun))) return undefined
    const { kind, name, owner } = asking.run
    const next = crypto.randomUUID()
    const outcome = await host.answer(id, owner, answers, next, { isOther: true })
    if (outcome.next !== undefined) await goOn(outcome.next)
    const { continuedBy, resumable, requests = [] } = outcome.record
    const left = await this.known(asking, requests, approver)
    return {
      ...{ id, kind, name, goesOn: continuedBy !== undefined },
      ...(left.length > 0 && { requests: left }),
      ...(resumable && { resumable }),
    }
  }

  async answerTask(id: string, given: GivenToTask, asker: Approver): Promise<DecidedRun | undefined> {
    const { answers, by } = given
    const asking = await this.tasks?.asking(id, asker)
    if (asking === undefined) return undefined
    const isOther = await this.admit(asking, answers, asker, missingRun)
    // Callers with a restricted permit answer only for themselves.
    if (isOther && by.only !== undefined) throw missingRun()
    await this.tasks?.answer(
      asking,
      isOther ? { ...given, options: {}, by: { isOther, who: by.who } } : given,
    )
    return this.decided(asking, answers, await this.tasks?.asking(id, asker), asker)
  }

  async decided(
    { run: { id, kind, name }, requests, open }: Asking,
    answers: readonly Answer[],
    after: Asking | undefined,
    approver: Approver,
  ): Promise<DecidedRun> {
    const given = new Set(answers.map(answer => answer.id))
    const left = open.filter(each => !given.has(each))
    const others = requests.filter(request => left.includes(request.id))
    const shown = after === undefined ? [] : await this.#shown(after, others, approver)
    const waitsForKey = left.length === 0 && after?.open.length === 0
    return {
      ...{ id, kind, name, goesOn: left.length === 0 && !waitsForKey },
      ...(shown.length > 0 && { requests: shown }),
      ...(waitsForKey && { resumable: true }),
    }
  }

  /**
   * The requests of a run or task, with the messages before them and the answers that were given. The owner gets all of them;
   * others get those that they may decide. Throws `run_not_found`.
   */
  async read(host: RunHost, id: string, approver: Approver): Promise<ApprovalDetail> {
    const ofRun = await host.asking(id)
    const asking = ofRun ?? (await this.tasks?.asking(id, approver))
    if (asking === undefined) throw missingRun()
    const isOwn = isOwner(asking, approver)
    const seen = await this.#shown(asking, asking.requests, approver)
    if (!isOwn && seen.length === 0) throw missingRun()
    const { run, createdAt, expiresAt, open } = asking
    const requests = seen.filter(request => open.includes(request.id))
    // What a task has answered is in its own history.
    const { answered = [], continuedBy = undefined } = ofRun ? await host.get(id, run.owner) : {}
    const seenIds = new Set(seen.map(request => request.id))
    return {
      run: runOf(run, isOwn),
      requests,
      ...momentsOf({ createdAt, expiresAt }),
      answered: answered.filter(each => seenIds.has(each.id)),
      ...(isOwn && continuedBy !== undefined && { continuedBy }),
      deciders: this.#deciders(),
      messages:
        isOwn || (requests.length > 0 && this.#mayHear(run, approver))
          ? await this.#said(host, asking, ofRun !== undefined)
          : [],
    }
  }

  /** Whether somebody else may know what was said. Who decides by a role reads what the role may read. */
  #mayHear({ owner }: AskingRun, { identity }: Approver): boolean {
    const { roles } = this.#core
    return !roles?.may(identity, 'answer', owner) || roles.may(identity, 'read_input', owner)
  }

  async #said(host: RunHost, asking: Asking, isRun: boolean): Promise<readonly HistoryMessage[]> {
    if (isRun) return saidBefore(host, this.sessions, asking.run)
    return (await this.tasks?.messages(asking)) ?? []
  }

  #deciders(): readonly Decider[] {
    return [
      this.#settings.authorize === undefined ? 'owner' : 'authorized',
      ...(this.#core.roles === undefined ? [] : (['role'] as const)),
    ]
  }

  /** The requests that somebody may see: the owner all, others those that they may decide. */
  async #shown(
    asking: Asking,
    requests: readonly InputRequest[],
    approver: Approver,
  ): Promise<readonly InputRequest[]> {
    return isOwner(asking, approver) ? requests : this.known(asking, requests, approver)
  }

  async enlist(asking: Asking): Promise<void> {
    await this.#calls.put(INBOX, asking)
  }

  /** A page of requests: the caller's own, or those of others that the caller may decide. */
  async page(
    { whose, ...query }: Omit<InboxQuery, 'owner'> & { readonly whose: 'mine' | 'others' },
    approver: Approver & { readonly identity: { readonly id: string } },
  ): Promise<{ approvals: WaitingRequest[]; nextCursor: string | null }> {
    const isOwn = whose === 'mine'
    const owner = isOwn ? approver.identity.id : undefined
    const { values, next = null } = await this.#calls.list(INBOX, { ...query, owner })
    const found = await Promise.all(
      values.map(async asking => {
        const { requests, expiresAt = Number.POSITIVE_INFINITY } = asking
        const asked = requests.filter(({ kind }) => kind === query.kind)
        // It is expired, and will be ended soon.
        if (expiresAt <= Date.now() && query.kind === 'approval') return []
        if (isOwn) return waitingOf(asking, asked, true)
        if (asking.run.owner === approver.identity.id) return []
        return waitingOf(asking, await this.known(asking, asked, approver), false)
      }),
    )
    return { approvals: found.flat(), nextCursor: next }
  }

  async expireRuns(
    host: RunHost,
    { store, keepMs, notices }: Parameters<Approvals['expireRuns']>[1],
  ): Promise<void> {
    await this.#expire(store, false, {
      refuse: (tx, id) => failRun(tx, id, { keepMs, notices, approvals: this }),
      onRefused: () => notices?.send(),
      goOn: async (id, waiting) => {
        const { identity: owner = null } = waiting.options
        const by = { isOther: true, change: denied }
        const { next } = await host.answer(id, owner, denialsOf(waiting), crypto.randomUUID(), by)
        if (next === undefined) return
        await this.goOn(next)
        await host.answer(id, owner, [], next.id, { isOther: true, change: started })
      },
    })
  }

  async expireTasks({ store, refuse, onRefused, answer }: ExpiringTasks): Promise<void> {
    await this.#expire(store, true, {
      refuse: (tx, id) => refuse(tx, id, EXPIRED),
      onRefused,
      goOn: (id, waiting) => answer(id, denialsOf(waiting), waiting),
    })
  }

  /** Each is checked again in its own transaction, so that only one of several processes ends it. */
  async #expire(
    store: Store,
    isTask: boolean,
    {
      refuse,
      onRefused,
      goOn,
    }: Pick<ExpiringTasks, 'onRefused'> & {
      refuse(tx: Transaction, id: string): void
      goOn(id: string, waiting: Kept): Promise<void>
    },
  ): Promise<void> {
    try {
      const due = await store.read(tx => dueIn(tx, isTask, this.#isHosted))
      if (due.length === 0) return
      if (this.#settings.onExpiry === 'refuse') {
        const refused = await store.write(tx => {
          const ids = dueIn(tx, isTask, this.#isHosted)
          for (const id of ids) refuse(tx, id)
          return ids
        })
        refused.forEach(onRefused)
        return
      }
      for (const id of due) await this.#goOn(store, id, goOn)
    } catch (error) {
      // The next check tries again.
      this.#logError(error)
    }
  }

  /** A run that cannot continue does not prevent others from continuing. Its requests are deleted with it. */
  async #goOn(store: Store, id: string, goOn: (id: string, waiting: Kept) => Promise<void>): Promise<void> {
    try {
      const waiting = await store.read(tx => waitingIn(tx, id))
      if (waiting !== undefined) await goOn(id, waiting)
    } catch (error) {
      const isGone = isServableError(error) && /^(run|task)_not_found$/.test(error.code)
      if (isGone) await store.write(tx => dropWaiting(tx, id))
      else this.#logError(error)
    }
  }

  #logError(error: unknown, requestId?: string): void {
    logThrown(
      this.#core.log,
      { event: 'approvals.failed', ...(requestId !== undefined && { requestId }) },
      error,
    )
  }
}

function missingRun(): ServableError {
  return new ServableError('run_not_found', 'There is no such run')
}

function isApproval({ kind }: InputRequest): boolean {
  return kind === 'approval'
}

/** A run without an owner belongs to everyone who knows its id. */
function isOwner({ run }: Asking, { identity }: Approver): boolean {
  return run.owner === null || run.owner === identity?.id
}

/** Who may decide: the owner, whoever has a role that may answer, and whomever `authorize` lets. */
export type Decider = 'owner' | 'role' | 'authorized'

/** The requests of a run or task, with the messages before them. */
export interface ApprovalDetail extends Omit<WaitingRequest, 'request'> {
  /** The open requests that the reader may decide. */
  readonly requests: readonly InputRequest[]
  /** The answered requests that the reader might have decided, with who answered each. */
  readonly answered: readonly AnsweredRequest[]
  /** The run that goes on with the answers, if the run is the reader's own. */
  readonly continuedBy?: string | undefined
  /** Who may decide its approvals. */
  readonly deciders: readonly Decider[]
  /**
   * The user's and the agent's messages, oldest first, at most 100: earlier turns of the session, and the run's own. Large files
   * appear by name only. Empty for others than the owner once they have nothing to decide.
   */
  readonly messages: readonly HistoryMessage[]
}
